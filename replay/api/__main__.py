"""The command line as a program: ``plinian``, and ``python -m plinian``."""

from __future__ import annotations

from .replay.cli.interruption import Interruption


def main() -> None:
    """Run the command line; an interrupt ends it quietly, also while modules are loaded."""
    Interruption().run(_run)


def _run() -> None:
    from .replay.cli.main import main as run  # noqa: PLC0415 -- loading is most of a start

    run()


if __name__ == "__main__":
    main()
