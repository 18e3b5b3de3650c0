"""Cards that pods share: what nodes report, what pods ask for, and what the plugin is told."""

from __future__ import annotations

from random import Random
from typing import Any

Document = dict[str, Any]

MEMORY, NUMBER, VIRTUAL = "memory", "number", "virtual"
SWITCHES = {
    MEMORY: "deviceshare.GPUSharingEnable",
    NUMBER: "deviceshare.GPUNumberEnable",
    VIRTUAL: "deviceshare.VGPUEnable",
}
PREFIX = "volcano.sh/"
INDEX, UNHEALTHY = PREFIX + "gpu-index", PREFIX + "gpu-unhealthy-ids"
REGISTER, HANDSHAKE = PREFIX + "node-vgpu-register", PREFIX + "node-vgpu-handshake"
ANSWERS, GONE = "Requesting_2125.01.01 00:00:00", "Deleted_2025.01.01 00:00:00"
TYPES = ("NVIDIA-A100", "NVIDIA-V100")
CARD_MEMORY, PARTS, VIRTUAL_MEMORY = 10, 10, 16000


class Cards:
    """The kind of sharing in one scenario; a scheduler allows one at a time."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.kind = chance.choice((MEMORY, NUMBER, VIRTUAL, VIRTUAL))
        self._on: dict[str, int] = {}

    def _one(self, *values: Any) -> Any:
        return self._chance.choice(values)

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def arguments(self) -> dict[str, str]:
        """Return the plugin's arguments."""
        made = {SWITCHES[self.kind]: "true"}
        if self.kind == VIRTUAL and self._often(0.7):
            made["deviceshare.SchedulePolicy"] = self._one("binpack", "spread")
            made["deviceshare.ScheduleWeight"] = self._one("1", "10", "100")
        return made

    def on_node(self, name: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return what a node reports of its cards: amounts and annotations."""
        cards = self._one(1, 2, 4)
        self._on[name] = cards
        if self.kind != VIRTUAL:
            amounts = {"gpu-number": cards, "gpu-memory": cards * CARD_MEMORY}
            notes = {UNHEALTHY: str(cards - 1)} if self._often(0.05) else {}
        else:
            parts = {"number": PARTS, "memory": VIRTUAL_MEMORY, "cores": 100}
            amounts = {f"vgpu-{part}": cards * amount for part, amount in parts.items()}
            notes = {REGISTER: self._registered(name), HANDSHAKE: ANSWERS}
            if self._often(0.05):
                notes[HANDSHAKE] = GONE
        return {PREFIX + key: str(amount) for key, amount in amounts.items()}, notes

    def _registered(self, name: str) -> str:
        kind = self._one(*TYPES)
        return "".join(
            f"{self._uuid(name, card)},{PARTS},{VIRTUAL_MEMORY},{kind},true,hami-core:"
            for card in range(self._on[name])
        )

    def _uuid(self, name: str, card: int) -> str:
        return f"GPU-{name}-{card}"

    def change(self, node: Document) -> None:
        """Let a node lose a card, get it back, or stop to answer for its cards."""
        name, notes = node["metadata"]["name"], node["metadata"].setdefault("annotations", {})
        if name not in self._on:
            return
        if self.kind == VIRTUAL:
            notes[HANDSHAKE] = self._one(ANSWERS, GONE)
        elif not notes.pop(UNHEALTHY, None):
            notes[UNHEALTHY] = "0"

    def request(self) -> dict[str, str]:
        """Return what a container asks for."""
        if self.kind == MEMORY:
            return {PREFIX + "gpu-memory": self._one("2", "4", "5", "6", "8", "10")}
        if self.kind == NUMBER:
            return {PREFIX + "gpu-number": self._one("1", "1", "2")}
        made = {PREFIX + "vgpu-number": self._one("1", "1", "2")}
        if self._often(0.7):
            made[PREFIX + "vgpu-memory"] = self._one("2000", "4000", "8000", "12000")
        elif self._often(0.4):
            made[PREFIX + "vgpu-memory-percentage"] = self._one("25", "50", "100")
        if self._often(0.4):
            made[PREFIX + "vgpu-cores"] = self._one("10", "30", "60", "100")
        return made

    def wishes(self) -> dict[str, str]:
        """Return annotations of a role's pods that say which cards they accept."""
        made: dict[str, str] = {}
        if self.kind == VIRTUAL and self._often(0.1):
            made[f"nvidia.com/{self._one('', 'no')}use-gputype"] = self._one("A100", "V100,H100")
        if self.kind == VIRTUAL and self._often(0.1):
            made[PREFIX + "vgpu-podgroup-policy"] = "spread"
        return made

    def held(self, spec: Document) -> dict[str, str]:
        """Return annotations of a pod that runs: which cards it has, if its node has any."""
        node = spec["nodeName"]
        asked = [
            limits
            for container in spec["containers"]
            if (limits := container.get("resources", {}).get("limits"))
        ]
        if node not in self._on or not asked:
            return {}
        card = self._chance.randrange(self._on[node])
        if self.kind != VIRTUAL:
            return {INDEX: str(card), PREFIX + "predicate-time": "1"}
        memory = asked[0].get(PREFIX + "vgpu-memory", str(VIRTUAL_MEMORY))
        cores = asked[0].get(PREFIX + "vgpu-cores", "0")
        ids = f"{self._uuid(node, card)},NVIDIA,{memory},{cores}:"
        return {
            PREFIX + "vgpu-ids-new": ids,
            PREFIX + "devices-to-allocate": ids,
            PREFIX + "vgpu-node": node,
            PREFIX + "vgpu-time": "1735689600",
            PREFIX + "bind-time": "1735689600",
            PREFIX + "bind-phase": "success",
        }
