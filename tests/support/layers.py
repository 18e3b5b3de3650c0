"""The layers of the code: which folder may import which, as data for a law.

``ORDER`` lists every folder of the package. A folder imports only folders that stand above it in
the list, so there is no circle between folders. ``MAY_IMPORT`` lists the edges between the large
parts. Both also hold for imports that only type checkers read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import laws

ROOMS_OF_THE_LOG = (
    *("replay.objects", "replay.moments", "replay.recorded", "replay.belief"),
    *("replay.truth", "replay.coverage", "replay.histories", "replay.logs"),
)
"""What can be known of a log; nothing of it runs a session."""

ORDER = (
    *("engine", "engine.events"),
    *("engine.kubernetes", "engine.kubernetes.objects", "engine.kubernetes.go"),
    *("engine.kubernetes.expressions", "engine.model"),
    *("engine.volcano.releases", "engine.volcano.session", "engine.volcano.cache"),
    *("engine.volcano.controllers", "engine.volcano", "engine.volcano.proofs"),
    *("engine.cache", "engine.cache.drift"),
    *("engine.controllers", "engine.controllers.job"),
    *("engine.ingest.reading", "engine.ingest.objects", "engine.ingest.audit"),
    *("engine.ingest.components", "engine.ingest.lists", "engine.ingest.scenario"),
    *("engine.ingest.watch", "engine.ingest"),
    *("engine.log", "engine.state"),
    *("engine.session.topology", "engine.session.reasons", "engine.session.jobs"),
    *("engine.session.framework", "engine.session.nodes", "engine.session.kube"),
    *("engine.session.plugins.shared", "engine.session.plugins.capacity"),
    *("engine.session.plugins.deviceshare", "engine.session.plugins.nodeorder"),
    *("engine.session.plugins.numaaware", "engine.session.plugins.predicates"),
    *("engine.session.plugins.task_topology", "engine.session.plugins.tdm"),
    *("engine.session.plugins.drf", "engine.session.plugins.network_topology_aware"),
    "engine.session.plugins",
    *("engine.session.actions", "engine.session", "engine.invariants", "engine.machine"),
    *("migrations", "migrations.versions"),
    *(
        "replay.tabular",
        "replay",
        *ROOMS_OF_THE_LOG,
        "replay.ingest",
        "replay.capture",
        "replay.sessions",
        "replay.simulate",
    ),
    *("replay.compare", "replay.fidelity", "replay.lint", "replay.invariants"),
    *(
        "replay.explore",
        "replay.answers",
        "replay.pod_path",
        "replay.overview",
        "replay.shares",
        "replay.what_if",
        "replay.forecast",
    ),
    "replay.would_start",
    *("replay.render", "replay.review", "replay.series", "replay.plot"),
    *(
        "replay.pages",
        "replay.report",
        "replay.pack",
        "replay.questions",
        "replay.facade",
        "replay.server",
        "replay.server.web",
    ),
    *("replay.server.kubernetes.wire", "replay.server.kubernetes.tables"),
    *("replay.server.kubernetes.read", "replay.server.kubernetes.watch"),
    *("replay.server.kubernetes.write", "replay.server.kubernetes", "replay.server.api"),
    *("replay.server.mcp", "replay.cli", ""),
)
"""All folders, lowest first; ``""`` is the package ``plinian`` itself."""

MAY_IMPORT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "engine.events": ("engine",),
        "engine.kubernetes": ("engine",),
        "engine.model": ("engine.kubernetes",),
        "engine.volcano": ("engine", "engine.kubernetes"),
        "engine.ingest": ("engine", "engine.events", "engine.kubernetes"),
        "engine.log": ("engine", "engine.events"),
        "engine.state": ("engine", "engine.events", "engine.kubernetes"),
        "engine.cache": (
            *("engine", "engine.events"),
            *("engine.kubernetes", "engine.model"),
            *("engine.volcano.releases", "engine.volcano.session", "engine.volcano.cache"),
            *("engine.volcano.controllers", "engine.volcano", "engine.volcano.proofs"),
        ),
        "engine.session": (
            "engine.events",
            *("engine.kubernetes", "engine.model", "engine.volcano", "engine.cache"),
        ),
        "engine.invariants": (
            *("engine", "engine.events", "engine.kubernetes", "engine.model", "engine.volcano"),
            *("engine.cache", "engine.session"),
        ),
        "engine.controllers": ("engine", "engine.kubernetes", "engine.model", "engine.volcano"),
        "engine.machine": (
            *("engine", "engine.kubernetes", "engine.model", "engine.volcano"),
            *("engine.controllers", "engine.cache", "engine.session", "engine.invariants"),
        ),
        "migrations": ("engine.log",),
        **dict.fromkeys(
            ROOMS_OF_THE_LOG,
            (
                *("engine", "engine.events", "engine.log", "engine.state", "engine.kubernetes"),
                *("engine.volcano", "engine.cache", "engine.session"),
                *("replay.tabular", *ROOMS_OF_THE_LOG),
            ),
        ),
        "replay.tabular": ("engine", "engine.kubernetes"),
        "replay.ingest": (
            *("engine", "engine.events", "engine.log", "engine.ingest", "engine.kubernetes"),
            *ROOMS_OF_THE_LOG,
        ),
        "replay.capture": (
            *("engine", "engine.events", "engine.log", "engine.ingest", "engine.kubernetes"),
            *("replay.ingest", "replay.truth"),
        ),
    }
)
"""The large parts, and what each may import besides itself; a part that is not here obeys the
order of folders alone."""

ASSEMBLED = ("plinian.replay.server.app", "plinian.replay.server.running")
"""Modules that put together what lies in the folders of their own folder."""

FRAMEWORK, PLUGINS, ACTIONS = (
    f"plinian.engine.session.{part}" for part in ("framework", "plugins", "actions")
)


def folder_of(module: str, folders: Iterable[str] = ORDER) -> str:
    """Return the folder that a module lies in, by the longest name that fits."""
    inside = module.removeprefix("plinian").removeprefix(".")
    return max(
        (name for name in folders if name and laws.within(inside, name)), key=len, default=""
    )


def layers(source: laws.Source) -> Iterator[laws.Finding]:
    """Let a folder import only what is below it, and a part only what it may."""
    own, part = folder_of(source.module), folder_of(source.module, MAY_IMPORT)
    for line, name, _ in laws.imported(source):
        if not laws.within(name, "plinian"):
            continue
        other = folder_of(name)
        inside = source.module in ASSEMBLED and laws.within(other, own)
        if ORDER.index(other) > ORDER.index(own) and not inside:
            yield laws.Finding(source.path, line, f"{own} imports {other}, which is above it")
        elif part and not laws.within(other, part) and not _allowed(other, MAY_IMPORT[part]):
            yield laws.Finding(source.path, line, f"{part} may not import {other}")


def plugins_apart(source: laws.Source) -> Iterator[laws.Finding]:
    """Let a plugin import no other plugin: what several use stands in ``plugins.shared``.

    A plugin is a module or a folder of ``plugins``; ``plugins/__init__.py`` lists all of them.
    """
    own = _plugin(source.module)
    for line, name, _ in laws.imported(source):
        other = _plugin(name)
        if own and other and other not in {own, "shared"}:
            yield laws.Finding(source.path, line, f"plugin {own} imports plugin {other}")


def _plugin(module: str) -> str:
    """Return the plugin that a module belongs to; empty if to none."""
    if not laws.within(module, PLUGINS):
        return ""
    return module.removeprefix(PLUGINS).removeprefix(".").partition(".")[0]


def framework_apart(source: laws.Source) -> Iterator[laws.Finding]:
    """Let the framework import no plugin and no action, wherever these stand in the order."""
    if not laws.within(source.module, FRAMEWORK):
        return
    for line, name, _ in laws.imported(source):
        if laws.within(name, PLUGINS) or laws.within(name, ACTIONS):
            yield laws.Finding(source.path, line, f"the framework imports {name}")


def _allowed(folder: str, parts: tuple[str, ...]) -> bool:
    """Say whether a part is listed: it stands for all its folders, ``engine`` for its modules."""
    return any(folder == part or (part != "engine" and laws.within(folder, part)) for part in parts)
