"""What queues are entitled to at a moment: the accounts of the session that then runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.errors import ObjectNotFound
from ...engine.session.framework.vote_details import OpenedAccount, QueueDivision, TreeFault
from ...engine.session.plugins.shared.queue_details import DIVISION, opened
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_tables import in_tree
from ...engine.volcano.session.history import resolve
from ..answers.amounts import amounts_of, joined
from ..answers.answering_session import POD, PODGROUP, QUEUE, Run, run_of
from ..answers.assumed_confs import ignored_of_queues
from ..answers.job_reasons import panics
from ..answers.queue_words import invalid_tree
from ..belief.belief import belief_at
from ..coverage.coverage import SCHEDULING, NotListed, unknown_at
from ..logs.earlier_moments import time_at
from ..logs.log import Log
from ..logs.logged_confs import ConfText, has_no_conf, runs_built_in
from ..moments.moment import Moment
from ..moments.times import time_text
from ..sessions.session_answer import scene_at
from .entitled_amounts import entitlement_of, part_sentence, resources_of
from .entitlements import Entitlement, Shares, SharesAsked
from .reclaim_rules import reclaiming_of, rules_of

DECIDING = ("proportion", "capacity")
"""The plugins that decide what queues deserve and may use."""

FULLY = 32
"""Of how many queues it is asked what they could reclaim, those first that come first by name."""


class SharesTask(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at.

    :param queue: only this one; empty is all. :param conf: a configuration instead of the log's.
    :param assumed: what the caller assumed, as sentences.
    """

    moment: Moment
    release: str
    queue: str = ""
    conf: ConfText | None = None
    assumed: tuple[str, ...] = ()


def shares_at(log: Log, task: SharesTask) -> Shares:
    """Return what queues are entitled to at a moment, by the session that then runs.

    :raises ObjectNotFound: there is no such queue at that moment.
    """
    run = _session(log, task)
    plugins = deciding_plugins(run)
    fault = _without_shares(run, plugins)
    queues = [] if fault else _entitlements(run, plugins)
    asked_for = [entry for entry in queues if task.queue in {"", entry.queue}]
    resources = resources_of(run, queues)
    division = run.detail(QueueDivision, DIVISION, DECIDING[0])
    reclaiming = [] if fault else reclaiming_of(run)
    unsure = _unsure(run)
    return Shares(
        asked=_asked(log, task, run),
        sentence=fault or part_sentence(asked_for, resources, unsure=unsure, queue=task.queue),
        plugins=tuple(plugins),
        decided=() if fault else tuple(_decided(run, plugins)),
        queues=tuple(asked_for),
        resources=resources,
        remaining=() if division is None else tuple(map(amounts_of, division.remaining)),
        rules=() if fault else tuple(rules_of(run, plugins)),
        reclaiming=tuple(reclaiming),
        reclaiming_unasked=0 if fault or task.queue else max(len(run.cache.queues) - FULLY, 0),
        unsure=unsure,
        not_known=tuple(unknown_at(log, task.moment, SCHEDULING)),
    )


def _session(log: Log, task: SharesTask) -> Run:
    """Run the session of a moment, and follow all queues.

    :raises ObjectNotFound: the queue that is asked about does not exist.
    """
    behaviours = resolve(task.release)
    cache = belief_at(log.store, task.moment, behaviours, recent=log.recent_beliefs)
    if task.queue and task.queue not in cache.queues:
        known = ", ".join(sorted(cache.queues)) or "none"
        raise ObjectNotFound(
            f"no queue {task.queue!r} at {task.moment.label}", now=f"queues: {known}"
        )
    names = sorted(cache.queues)
    fully = {*names[:FULLY], task.queue} - {""}
    scene, unlisted = scene_at(log, task.moment, task.conf), NotListed(log, task.moment)
    # Entitlements are those of this session: no answer here runs the next ones.
    return run_of(scene, behaviours, cache, names, unlisted, fully=fully, goes_on=False)


def _asked(log: Log, task: SharesTask, run: Run) -> SharesAsked:
    now, assumed = time_at(log, task.moment), list(task.assumed)
    if task.conf is None and has_no_conf(log, task.moment):
        assumed.append(runs_built_in(task.release))
    return SharesAsked(
        at=task.moment.label,
        time="" if now is None else time_text(now),
        release=run.answer.release,
        conf=run.answer.conf,
        queue=task.queue,
        assumed=tuple(assumed),
    )


def deciding_plugins(run: Run) -> list[str]:
    """Return the plugins of the configuration that decide on shares, in its order."""
    named = dict.fromkeys(option.name for tier in run.conf.tiers for option in tier)
    return [name for name in named if name in DECIDING]


def _without_shares(run: Run, plugins: Sequence[str]) -> str:
    """Return why queues have no shares in this session; empty if they have."""
    crash = panics(run)
    if not plugins:
        ignored = ignored_of_queues(run)
        text = "queues have no shares: the configuration has neither proportion nor capacity"
        return f"{text}, so it ignores that queues have {ignored}" if ignored else text
    fault = run.detail(TreeFault, "tree", "root")
    if fault is not None:
        return f"queues have no shares: {invalid_tree(run, fault).because}"
    # Before the panic: accounts that were opened until then still say what queues may have.
    if any(run.detail(QueueDivision, DIVISION, name) for name in plugins):
        return ""
    if any(_accounts(run, plugins)):
        return ""
    if crash is not None:
        return f"queues have no shares, as {crash.because}"
    no = "no queue has a job, so" if not run.cache.jobs else "queues have no shares:"
    return f"{no} the session opens no account of a queue (plugin {joined(plugins)})"


def _accounts(run: Run, plugins: Sequence[str]) -> Iterator[OpenedAccount]:
    for name in sorted(run.cache.queues):
        for plugin in plugins:
            account = run.detail(OpenedAccount, opened(plugin), name)
            if account is not None:
                yield account


def _entitlements(run: Run, plugins: Sequence[str]) -> list[Entitlement]:
    """Return the queues, parents before children; each once for each plugin that decides."""
    accounts: dict[str, list[OpenedAccount | None]] = {}
    for account in _accounts(run, plugins):
        accounts.setdefault(account.queue, []).append(account)
    # A queue without an account has no place in the tree of the plugin: it stands at the top.
    parents = dict.fromkeys(run.cache.queues, "")
    parents |= {account.queue: account.parent for account in _accounts(run, plugins)}
    return [
        entitlement_of(run, name, account, depth)
        for depth, name in in_tree(parents)
        for account in accounts.get(name, [None])
    ]


def _unsure(run: Run) -> str:
    """Return that there may be more than the log knows; empty if it knows all that is counted."""
    lists: Sequence[tuple[Pair, str]] = (
        (POD, "pods"),
        (PODGROUP, "podgroups"),
        (QUEUE, "queues"),
    )
    lacking = [plural for pair, plural in lists if run.not_listed(pair)]
    if not lacking:
        return ""
    return f"the log holds no list of {joined(lacking)}: queues may hold and request more"


def _decided(run: Run, plugins: Sequence[str]) -> Iterator[str]:
    """Yield how each plugin decides on shares, as sentences."""
    how = resolve(run.answer.release)
    for plugin in plugins:
        if plugin == "proportion":
            yield (
                "plugin proportion divides what all nodes have among the queues with jobs, by "
                "weight, up to what they request"
            )
            continue
        tree = any(account.parent for account in _accounts(run, [plugin]))
        where = "as a tree" if tree else "of which it ignores the parents"
        capped = ", and no more than its jobs request" if how.deserved_capped_by_request else ""
        yield (
            f"plugin capacity takes what a queue deserves from its spec{capped}; it sees queues "
            f"{where}"
        )
    if len(plugins) > 1:
        yield "both are configured: what either refuses is refused"
