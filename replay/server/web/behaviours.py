"""The page of releases: what each changed, the behaviours of one, and how two differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...compare.releases import ReleaseLine
from ...facade.log import Log
from ...facade.releases import behaviours as behaviours_of
from ...facade.releases import release_diff
from ...facade.releases import releases as release_lines
from ...questions.behaviours import PARTS
from ...render.blocks import CHOSEN, Section, Sentence, Words, here_ref
from ...render.tables import NONE, Table, TextColumn, table_of
from .blocks import BlockPage, paged
from .forms import FormField, choices_of, form
from .look import Look
from .page import NavGroup, page
from .site import releases
from .sorting import sort_heads


@page(
    "behaviours",
    "Behaviours",
    nav="Behaviours",
    group=NavGroup.SCHEDULER,
    key="b",
    takes=("vs_release", "part_of", "subject", "q", "skip", "sort"),
)
def behaviours(log: Log, look: Look) -> BlockPage:  # noqa: ARG001 -- releases are of no log
    """Return the behaviours of the release, or its differences from ``vs_release``.

    :raises UsageError: there is no such release, part or subject.
    """
    release, text = look.release, look.filter
    part, subject, versus = (look.get(name) for name in ("part_of", "subject", "vs_release"))
    every = behaviours_of(release)
    chosen: Mapping[str, Any] = {
        "parts": [part] if part else [],
        "subjects": [subject] if subject else [],
    }
    fitting: Sequence[Any] = (
        release_diff(versus, release, **chosen) if versus else behaviours_of(release, **chosen)
    )
    named = [behaviour for behaviour in fitting if text in behaviour.behaviour]
    listed = _difference_columns(versus, release) if versus else _COLUMNS
    columns = {column.head: column.value for column in listed}
    shown, pager = paged(look, named, "behaviours", name="skip", columns=columns)
    lines = list(reversed(release_lines()))

    def sections() -> Iterator[Section]:
        others = choices_of((name for name in releases() if name != release), "no other release")
        subjects = choices_of(sorted({behaviour.subject for behaviour in every}), "all")
        fields = [
            FormField("Compared with", "vs_release", versus, others),
            FormField("Part", "part_of", part, choices_of(PARTS, "all")),
            FormField("Subject", "subject", subject, subjects),
            FormField("Name has", "q", text, attributes={"size": "12"}),
        ]
        title = "Behaviours that differ" if versus else "Behaviours"
        heads = sort_heads(look, columns, "skip", shown.total)
        table = table_of(listed, shown.rows, title)._replace(headers=heads, look="behaviours")
        rows = [table, pager] if named else [_nothing(versus, release)]
        yield Section([form(look, "Show", fields), *rows], captions=False)
        yield Section([_releases(lines, release)], "Releases, newest first")

    data = {
        "behaviours": () if versus else shown.rows,
        "differences": shown.rows if versus else (),
        "release": release,
        "releases": lines,
        "skip": shown.skip,
        "total": shown.total,
        "vs_release": versus,
    }
    heading = f"{versus} → {release}" if versus else f"Behaviours of {release}"
    return BlockPage(heading, sections, data, when="")


def _nothing(versus: str, release: str) -> Sentence:
    text = "No behaviour fits. "
    if versus:
        text = f"No behaviour that fits differs between {versus} and {release}. "
    return Sentence(Words(text, here_ref("Show all", part_of=None, subject=None, q=None)), "blank")


_COLUMNS: Sequence[TextColumn[Any]] = (
    TextColumn("BEHAVIOUR", lambda behaviour: behaviour.behaviour),
    TextColumn("PART", lambda behaviour: behaviour.part),
    TextColumn("VALUE", lambda behaviour: behaviour.value),
    TextColumn("WHAT IT MEANS", lambda behaviour: behaviour.why),
    TextColumn("SINCE", lambda behaviour: ", ".join(behaviour.since)),
    TextColumn("PROVEN BY", lambda behaviour: behaviour.proof or NONE),
)


def _difference_columns(versus: str, release: str) -> Sequence[TextColumn[Any]]:
    return (
        *_COLUMNS[:2],
        TextColumn(versus, lambda difference: difference.values[0]),
        TextColumn(release, lambda difference: difference.values[-1]),
        TextColumn("WHAT CHANGES", lambda difference: difference.why),
        _COLUMNS[4],
        TextColumn("SOURCE", lambda difference: difference.pull or difference.source),
    )


def _releases(lines: Sequence[ReleaseLine], release: str) -> Table:
    """Return how many behaviours each release changed, and links to what they are."""
    rows = []
    for line, before in zip(lines, [*lines[1:], None], strict=True):
        many = sum(map(len, line.changed.values()))
        look = CHOSEN if line.name == release else ""
        name = here_ref(line.name, look, release=line.name, vs_release=None, skip=None)
        since = ""
        if before is not None and many:
            text = f"what changed since {before.name}"
            since = here_ref(text, release=line.name, vs_release=before.name, skip=None)
        rows.append((name, str(many), since))
    return Table(("RELEASE", "CHANGED FROM THE ONE BEFORE", "COMPARE"), rows, title="Releases")
