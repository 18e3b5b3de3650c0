"""The size and contents of a log, as lines of ``name  value``."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.log import LogInfo
from .tables import NONE, PLAIN, Style, Table, lines_of


def info_lines(info: LogInfo, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what ``plinian db info`` prints."""
    yield from pair_lines(
        [
            ("log", info.url),
            ("database", info.database),
            ("tables", f"revision {info.schema_revision}"),
            ("made by", f"plinian {info.plinian}"),
            ("events", str(info.events)),
            ("objects", str(info.objects)),
            ("batches", str(info.batches)),
            ("checkpoints", str(info.checkpoints)),
            ("fact blocks", str(info.fact_blocks)),
            ("size", bytes_text(info.bytes_stored)),
            ("clusters", ", ".join(info.clusters) or NONE),
        ]
    )
    yield "\n"
    rows = [
        [branch.name, branch.parent or NONE, f"@{branch.fork}", f"@{branch.last}"]
        for branch in info.branches
    ]
    yield from lines_of(Table(("BRANCH", "PARENT", "FORK", "LAST"), rows), style=style)


def pair_lines(pairs: list[tuple[str, str]], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield names and values in two columns."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        yield f"{style.bold(name.ljust(width))}   {value}\n"


def bytes_text(count: int) -> str:
    """Return a number of bytes as people read it: ``12.3 MiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f}".removesuffix(".0") + f" {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
