"""The version is that of the recorded cluster, as far as its nodes tell."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from serving import Running
from web_pages import pages_of

import plinian


def version_with(folder: Path, kubelets: list[str], *files: Path) -> dict[str, str]:
    """Return the answer to ``/version`` for a cluster with some nodes. :param files: further."""
    with plinian.open(folder / "log.db", create=True) as log:
        for at, kubelet in enumerate(kubelets, start=1):
            metadata = {"name": f"n{at}", "uid": f"u{at}", "resourceVersion": str(at)}
            status = {"nodeInfo": {"kubeletVersion": kubelet}} if kubelet else {}
            node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
            (folder / f"{at}.json").write_text(json.dumps(node))
            log.ingest([folder / f"{at}.json"])
        if files:
            log.ingest(files)
    with pages_of(folder / "log.db") as client:
        return version(client)


def version(client: httpx.Client) -> dict[str, str]:
    """Return the answer to ``/version``."""
    found: dict[str, str] = client.get("/version").json()
    assert client.get("/version/").json() == found
    return found


@pytest.mark.parametrize(
    ("kubelets", "wanted"),
    [
        (["v1.29.3-gke.1093", "v1.30.4+k3s1", "v1.9.11"], "v1.30.4+plinian-"),
        (["kwok-v0.7.0", "v1.28.0"], "v1.28.0+plinian-"),
    ],
)
def test_the_newest_kubelet_tells_it(tmp_path: Path, kubelets: list[str], wanted: str) -> None:
    found = version_with(tmp_path, kubelets)
    assert found["gitVersion"].startswith(wanted)
    assert f"v{found['major']}.{found['minor']}." in found["gitVersion"]


def test_without_such_a_node_it_is_what_is_served_and_says_so(
    server: Running, tmp_path: Path
) -> None:
    kubelets = ["kwok-v0.7.0", "", "1.29.0", "v1.29", "v1.29.0.1"]
    for found in (version(server.client), version_with(tmp_path, kubelets)):
        assert found["gitVersion"].startswith("v1.35.0+plinian-")
        assert found["gitVersion"].endswith(".not-recorded")


def test_the_image_of_the_api_servers_pod_tells_it_best(tmp_path: Path) -> None:
    images = ["registry.k8s.io/kube-apiserver:v1.31.4@sha256:00", "registry.k8s.io/pause:v9.9.9"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "kube-apiserver-m1",
            "namespace": "kube-system",
            "uid": "u",
            "resourceVersion": "99",
        },
        "spec": {"containers": [{"name": "c", "image": image} for image in images]},
    }
    (tmp_path / "pod.json").write_text(json.dumps(pod))
    found = version_with(tmp_path, ["v1.30.4"], tmp_path / "pod.json")
    assert found["gitVersion"].startswith("v1.31.4+plinian-")
    assert not found["gitVersion"].endswith("not-recorded")
