"""Objects that other tools make objects from: what of them was checked, and how to see the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from .manifest_reading import BUILD, UnruledObject
from .written_items import CHART

_ARGO = "argocd app manifests {name} | plinian lint -"
_FLUX = "helm get manifest {name} | plinian lint -"
_COMMANDS = MappingProxyType(
    {
        ("argoproj.io", "Application"): _ARGO,
        ("argoproj.io", "ApplicationSet"): "argocd app manifests APPLICATION | plinian lint -",
        ("helm.toolkit.fluxcd.io", "HelmRelease"): _FLUX,
        ("helm.cattle.io", "HelmChart"): _FLUX,
        ("helm.cattle.io", "HelmChartConfig"): _FLUX,
        ("kustomize.toolkit.fluxcd.io", "Kustomization"): (
            "flux build kustomization {name} --path DIR | plinian lint -"
        ),
        ("kustomize.config.k8s.io", "Kustomization"): BUILD,
        ("kustomize.config.k8s.io", "Component"): BUILD,
        ("fleet.cattle.io", "GitRepo"): CHART,
        ("argoproj.io", "Workflow"): "render its templates, and give lint what they make",
        ("argoproj.io", "WorkflowTemplate"): "render its templates, and give lint what they make",
        ("argoproj.io", "CronWorkflow"): "render its templates, and give lint what they make",
    }
)
"""How the objects are shown that an object leads to."""


class NotRendered(NamedTuple):
    """An object that a tool makes others from, which were not checked.

    :param namespace: empty if it has none. :param checked: how many objects and configurations
        inside of it were checked. :param now: a command that checks what is made from it.
    """

    kind: str
    namespace: str
    name: str
    file: str
    line: int
    checked: int
    now: str
    inside: str

    def __str__(self) -> str:
        """Return what is not known, and what to do, as one sentence."""
        name = "/".join(part for part in (self.namespace, self.name) if part)
        about = f"{self.kind} {name}".strip()
        if self.checked:
            return f"only {self.inside} in {about} is checked; for what it makes: {self.now}"
        return f"nothing of Volcano's in {about} is checked: {self.now}"


def not_rendered(holders: Iterable[UnruledObject]) -> Iterator[NotRendered]:
    """Yield the objects whose tools make others from them."""
    for manifest, checked in holders:
        command = _COMMANDS.get(manifest.group_kind)
        place = manifest.place
        if command is None or place is None:
            continue
        namespace, _, name = manifest.subject("").name.rpartition("/")
        yield NotRendered(
            manifest.group_kind[1],
            namespace,
            name,
            place.file,
            place.line,
            len(checked.manifests) + len(checked.confs),
            command.format(name=name or "NAME"),
            _counted(len(checked.manifests), len(checked.confs)),
        )


def without_rules(holders: Iterable[UnruledObject]) -> dict[str, int]:
    """Return the kinds that no rule is about, of objects in which nothing is checked, counted."""
    counted = Counter(
        manifest.group_kind[1]
        for manifest, checked in holders
        if not any(checked) and manifest.group_kind not in _COMMANDS
    )
    return dict(sorted(counted.items()))


def _counted(objects: int, confs: int) -> str:
    parts = [
        f"{count} {name}{'' if count == 1 else 's'}"
        for count, name in ((objects, "object"), (confs, "configuration"))
        if count
    ]
    return " and ".join(parts)
