"""The page of the path of a pod: every check of it, and each node by each filter."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.assumed_confs import unnamed
from ...facade.log import Log
from ...pod_path.nodes_by_filter import ALL
from ...render.blocks import Ref, Section, Sentence, Words, chip, joined, object_ref
from ...render.path import path_sections
from ..reach import reach_cache
from .blocks import BlockPage
from .look import Look
from .notes import filled_in, sentences
from .page import page


@page("path/{kind}/{key:path}", "Path", long=True, takes=("nodes", "rows", "sort_rows"))
def path(log: Log, look: Look, kind: str, key: str) -> BlockPage:
    """Return the path of a pod; ``nodes`` of the query gives nodes their own rows.

    :raises ObjectNotFound: there is no such pod at that moment.
    :raises UsageError: it is no pod, or a node is named that does not exist.
    """
    moment, name = log.moment(look.at), f"{kind}/{key}"
    reach_cache(log, moment, [look.release])
    shown = look.get("nodes")
    found = log.path(name, at=moment, release=look.named_release, nodes=shown)

    def sections() -> Iterator[Section]:
        first, *others = path_sections(found, each="“each node” above lists each")
        leads = (object_ref(name), Ref("why it waits", f"why/{name}", key="w"))
        chips = (
            chip("equal nodes together", chosen=not shown, nodes=None),
            chip("each node", chosen=shown == ALL, nodes=ALL),
        )
        links = [Sentence(Words(*joined(some, " · ")), "leads") for some in (leads, chips)]
        yield Section([*first.blocks, *links])
        yield from others

    return BlockPage(
        f"Path of {found.asked.kind}/{found.asked.name}",
        sections,
        found,
        assumed=tuple(line for line in found.asked.assumed if line != unnamed(look.release)),
        not_known=(*sentences(found.not_known), *filled_in(log, moment)),
    )
