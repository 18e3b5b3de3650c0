"""The Deployment controller: one ReplicaSet for each template."""

from __future__ import annotations

from typing import Any

from ..kubernetes.api_server import Document, place_of
from .component import Client
from .workloads import WorkloadController, controller_reference, namespace_of, template_hash

HASH = "pod-template-hash"
"""The label of ReplicaSets and pods that says of which template they are."""

_DEFAULT_SHARE = "25%"
_NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deployment.kubernetes.io/revision",
    }
)


class DeploymentController(WorkloadController):
    """Creates a ReplicaSet for a Deployment's template, and moves its replicas there step by step.

    Nothing is written on the Deployment, and ReplicaSets without replicas are never deleted. When a
    Deployment is scaled during a rollout, only the newest ReplicaSet follows.

    Source: k8s.io/kubernetes/pkg/controller/deployment/deployment_controller.go, sync.go,
    rolling.go, recreate.go.
    """

    own, of = "Deployment", "ReplicaSet"

    def _sync(self, document: Document, client: Client) -> None:
        if "deletionTimestamp" in document["metadata"]:
            return
        sets = self._owned_by(document)
        newest = next(
            (replica_set for replica_set in sets if _has_template_of(replica_set, document)), None
        )
        older = sorted(
            (
                replica_set
                for replica_set in sets
                if replica_set is not newest and _wanted(replica_set)
            ),
            key=lambda replica_set: str(replica_set["metadata"]["creationTimestamp"]),
        )
        recreates = (document["spec"].get("strategy") or {}).get("type") == "Recreate"
        if recreates and not _stopped(
            older, [replica_set for replica_set in sets if replica_set is not newest], client
        ):
            return
        most = _wanted(document) + (0 if recreates else _surge(document))
        room = max(most - sum(map(_wanted, older)), 0)
        if newest is None:
            name = _name_of_set(document)
            client.create(_set_of(document, name, min(_wanted(document), room)))
        elif not self._follow(document, newest, room, client):
            self._shrink(document, newest, older, client)

    def _follow(self, document: Document, newest: Document, room: int, client: Client) -> bool:
        """Give the newest ReplicaSet what replicas there is room for, and the annotations.

        :returns: whether anything was written.
        """
        target = min(_wanted(document), max(_wanted(newest), room))
        given = newest["metadata"].get("annotations") or {}
        annotations = {**given, **_copied(document)}
        if target == _wanted(newest) and annotations == given:
            return False
        spec = {**newest["spec"], "replicas": target}
        metadata = {**newest["metadata"], "annotations": annotations}
        client.update({**newest, "metadata": metadata, "spec": spec})
        return True

    def _shrink(
        self, document: Document, newest: Document, older: list[Document], client: Client
    ) -> None:
        """Take replicas from older ReplicaSets, as far as enough pods stay available.

        Source: k8s.io/kubernetes/pkg/controller/deployment/rolling.go reconcileOldReplicaSets.
        """
        least = _wanted(document) - _unavailable(document)
        total = _wanted(newest) + sum(map(_wanted, older))
        waiting = max(_wanted(newest) - _count(newest, "availableReplicas"), 0)
        left = total - least - waiting
        targets = {place_of(replica_set).key: _wanted(replica_set) for replica_set in older}
        # First pods that are not available anyway (cleanupUnhealthyReplicas).
        for replica_set in older:
            broken = _wanted(replica_set) - _count(replica_set, "availableReplicas")
            taken = min(max(left, 0), max(broken, 0))
            targets[place_of(replica_set).key] -= taken
            left -= taken
        # Then available ones, the oldest set first (scaleDownOldReplicaSetsForRollingUpdate).
        for replica_set in older:
            taken = min(max(left, 0), targets[place_of(replica_set).key])
            targets[place_of(replica_set).key] -= taken
            left -= taken
            _scale(replica_set, targets[place_of(replica_set).key], client)


def _stopped(scaled: list[Document], others: list[Document], client: Client) -> bool:
    """Let ReplicaSets have no replicas; say whether all others than the newest have no pods.

    Pods that are still ending do not count, which they do in Kubernetes.
    """
    for replica_set in scaled:
        _scale(replica_set, 0, client)
    return not scaled and not any(_count(replica_set, "replicas") for replica_set in others)


def _scale(replica_set: Document, replicas: int, client: Client) -> None:
    if replicas != _wanted(replica_set):
        client.update({**replica_set, "spec": {**replica_set["spec"], "replicas": replicas}})


def _wanted(document: Document) -> int:
    return int(document["spec"].get("replicas", 1))


def _count(document: Document, field: str) -> int:
    return int((document.get("status") or {}).get(field) or 0)


def _name_of_set(document: Document) -> str:
    return f"{document['metadata']['name']}-{template_hash(document['spec']['template'])}"


def _has_template_of(replica_set: Document, document: Document) -> bool:
    """Say whether a ReplicaSet has the template of a Deployment, but for the label of the hash.

    Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go FindNewReplicaSet.
    """
    return _without_hash(replica_set["spec"]["template"]) == _without_hash(
        document["spec"]["template"]
    )


def _without_hash(template: Document) -> Document:
    metadata = {**(template.get("metadata") or {})}
    labels = {**(metadata.pop("labels", None) or {})}
    labels.pop(HASH, None)
    return {**template, "metadata": {**metadata, "labels": labels}}


def _set_of(document: Document, name: str, replicas: int) -> Document:
    """Return the ReplicaSet of a Deployment's template.

    Source: k8s.io/kubernetes/pkg/controller/deployment/sync.go getNewReplicaSet.
    """
    template = document["spec"]["template"]
    given = template.get("metadata") or {}
    own = {HASH: template_hash(template)}
    labels = {**(given.get("labels") or {}), **own}
    selector = document["spec"]["selector"]
    metadata: Document = {
        "name": name,
        "namespace": namespace_of(document),
        "labels": labels,
        "annotations": _copied(document),
        "ownerReferences": [controller_reference(document)],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {name: value for name, value in metadata.items() if value},
        "spec": {
            "replicas": replicas,
            "selector": {**selector, "matchLabels": {**selector.get("matchLabels", {}), **own}},
            "template": {**template, "metadata": {**given, "labels": labels}},
        },
    }


def _copied(document: Document) -> dict[str, str]:
    """Return the annotations of a Deployment that its newest ReplicaSet has, too.

    Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go
    SetNewReplicaSetAnnotations.
    """
    given: dict[str, str] = document["metadata"].get("annotations") or {}
    return {name: text for name, text in given.items() if name not in _NOT_COPIED}


def _surge(document: Document) -> int:
    return _resolved(document)[0]


def _unavailable(document: Document) -> int:
    return _resolved(document)[1]


def _resolved(document: Document) -> tuple[int, int]:
    """Return how many pods there may be too many, and too few, during a rollout.

    Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go ResolveFenceposts.
    """
    strategy = (document["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    replicas = _wanted(document)
    surge = _share(strategy.get("maxSurge", _DEFAULT_SHARE), replicas, up=True)
    unavailable = _share(strategy.get("maxUnavailable", _DEFAULT_SHARE), replicas, up=False)
    # Both may round to 0: then nothing could ever move.
    return surge, unavailable or int(not surge)


def _share(given: Any, of: int, *, up: bool) -> int:
    """Return a number, or so many hundredths of another, rounded up or down."""
    if not isinstance(given, str):
        return int(given)
    hundredths = int(given.removesuffix("%")) * of
    return -(-hundredths // 100) if up else hundredths // 100
