"""Writes to an API server without a pause: pods and services that come, change and go."""

from __future__ import annotations

import random
import threading
from contextlib import suppress

import httpx

_POD = {
    "schedulerName": "volcano",
    "terminationGracePeriodSeconds": 0,
    "containers": [{"name": "c", "image": "i"}],
}
_PATCH = {"Content-Type": "application/merge-patch+json"}
_FAULTS = (httpx.HTTPError,)


class ApiLoad(threading.Thread):
    """Writes until it is stopped; requests that fail are not repeated.

    :param client: with the address and the rights. :param rate: writes a second, at most.
    """

    def __init__(self, client: httpx.Client, seed: int, *, rate: float = 40) -> None:
        super().__init__(daemon=True)
        self._client, self._random, self._rate = client, random.Random(seed), rate
        self._seed = seed
        self._alive: list[str] = []
        self._made = 0
        self._end = threading.Event()
        self.written = 0

    def stop(self) -> None:
        """End soon, and wait for it."""
        self._end.set()
        self.join(120)

    def run(self) -> None:
        """Write."""
        with suppress(*_FAULTS):
            self._client.post("/api/v1/namespaces", json={"metadata": {"name": "default"}})
        while not self._end.wait(1 / self._rate):
            with suppress(*_FAULTS):
                self.written += self._write().is_success

    def _write(self) -> httpx.Response:
        ask, pods = self._client.request, "/api/v1/namespaces/default/pods"
        choice = self._random.random()
        if choice < 0.1:
            self._made += 1
            name = f"s-{self._seed}-{self._made}"
            told = {"metadata": {"name": name}, "spec": {"clusterIP": "None"}}
            return ask("POST", "/api/v1/namespaces/default/services", json=told)
        if choice < 0.4 or not self._alive:
            # Names come back: an object may be another one than that of its name before.
            self._made += 1
            name = f"p-{self._seed}-{self._made % 60}"
            self._alive.append(name)
            return ask("POST", pods, json={"metadata": {"name": name}, "spec": _POD})
        name = self._random.choice(self._alive)
        if choice < 0.75:
            told = {"metadata": {"annotations": {"n": str(self._random.random())}}}
            return ask("PATCH", f"{pods}/{name}", json=told, headers=_PATCH)
        self._alive.remove(name)
        return ask("DELETE", f"{pods}/{name}", params={"gracePeriodSeconds": "0"})
