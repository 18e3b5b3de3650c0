"""What Volcano's admission webhook for queues refuses, by release.

The webhook is a separate program, which Volcano's chart installs. It reads no configuration of the
scheduler.

Source: pkg/webhooks/admission/queues/validate/validate_queue.go.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ...engine.volcano.releases import final_release, landed

MOST_LEVELS = 5
"""The most levels below the root, unless the webhook is started with ``--max-queue-depth``."""

_PARENT_EXISTS, _AMOUNTS = landed("v1.11.0"), landed("v1.13.0")
_TREE, _BY_NAME = landed("v1.14.0"), landed("v1.14.2")


class OwnAmounts(Enum):
    """How a queue's guarantee, deserved and capability are compared."""

    UNCHECKED = "not at all"
    WHOLE = "all resources at once; one that is not written is 0"
    WHOLE_FOR_GUARANTEE = "likewise; a guarantee needs deserved"
    BY_NAME = "resource by resource; a capability that is not written is no limit"


class ParentAmounts(Enum):
    """How a queue is compared with the queues around it."""

    UNCHECKED = "not at all"
    PARENT = "with its parent; its capability replaces what it does not write"
    ANCESTORS = "capability with the nearest ancestor that has one; sums with the parent's own"


class Webhook(NamedTuple):
    """What the webhook of a release checks.

    :param parent_exists: the parent must be there when the queue is created.
    :param not_own_parent: a queue may not be its own parent. :param levels: 0 is no limit.
    """

    own: OwnAmounts
    parent: ParentAmounts
    parent_exists: bool
    not_own_parent: bool
    levels: int


def webhook_of(release: str) -> Webhook:
    """Return what the webhook of a release checks; the release must be known."""
    at = final_release(release)
    tree, by_name = _TREE.reached(at), _BY_NAME.reached(at)
    own, parent = OwnAmounts.UNCHECKED, ParentAmounts.UNCHECKED
    if by_name:
        own, parent = OwnAmounts.BY_NAME, ParentAmounts.ANCESTORS
    elif tree:
        own, parent = OwnAmounts.WHOLE_FOR_GUARANTEE, ParentAmounts.PARENT
    elif _AMOUNTS.reached(at):
        own = OwnAmounts.WHOLE
    return Webhook(own, parent, _PARENT_EXISTS.reached(at), tree, MOST_LEVELS if by_name else 0)
