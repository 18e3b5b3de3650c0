"""Runs a command in a container, as ``kubectl exec`` does: a websocket by the official client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from .cluster_access import ClusterAccess, Unreachable
from .plain_faults import own_words


class ExecContainer(NamedTuple):
    """Where a command runs."""

    namespace: str
    pod: str
    name: str


class PodCommands(Protocol):
    """Runs commands in containers."""

    def run(self, container: ExecContainer, command: Sequence[str], seconds: float) -> bytes:
        """Return what a command prints.

        :param seconds: the longest that it may take.
        :raises Unreachable: it cannot be run, fails, or takes too long; its words are in the error.
        """


class ClusterCommands:
    """Commands by an API server; the user needs ``create`` on ``pods/exec``."""

    def __init__(self, access: ClusterAccess) -> None:
        self._access = access

    def run(self, container: ExecContainer, command: Sequence[str], seconds: float) -> bytes:
        """Return what a command prints."""
        namespace, pod, name = container
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec"
        asked = [("container", name), ("stdout", "true"), ("stderr", "true")]
        asked += [("command", word) for word in command]
        try:
            printed, said, code = self._ended(path, asked, seconds)
        except Exception as fault:  # Whatever the client or its socket raises.
            raise Unreachable(own_words(fault), where=path) from fault
        if code is None:
            raise Unreachable(f"the command took longer than {seconds:g}s", where=path)
        if code:
            words = said.decode(errors="replace").strip()
            raise Unreachable(words or f"the command ended with {code}", where=path)
        return printed

    def _ended(
        self, path: str, asked: Sequence[tuple[str, str]], seconds: float
    ) -> tuple[bytes, bytes, int | None]:
        """Return what a command printed and said, and its code; None if it takes too long."""
        from kubernetes.stream import ws_client  # noqa: PLC0415 -- of the extra

        call: Any = ws_client.websocket_call
        settings, headers = self._access.for_websocket()
        url = self._access.server + path
        kept = {"_preload_content": False, "binary": True}
        client = call(settings, "GET", url, query_params=list(asked), headers=headers, **kept)
        try:
            client.run_forever(timeout=seconds)
            code = None if client.is_open() else client.returncode
            said = [client.read_stdout(timeout=0), client.read_stderr(timeout=0)]
        finally:
            client.close()
        printed, errors = (bytes(each or b"") for each in said)
        return printed, errors, code
