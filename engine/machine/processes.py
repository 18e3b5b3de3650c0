"""Processes: components that start together, and end together when one of them panics."""

from __future__ import annotations

from collections.abc import Mapping

from .machine_channels import Channels
from .machine_layout import ComponentPart, MachineLayout
from .transitions import SYNCED, Transitions


class Processes:
    """The processes that the components of a machine belong to.

    A component without a process of its name is one by itself.

    :param parts: the components by name.
    :ivar parts_of: the numbers of the components of each process, by its name.
    :ivar restarts: how often a process was started again, in whatever run.
    """

    def __init__(
        self,
        parts: Mapping[str, ComponentPart],
        layout: MachineLayout,
        transitions: Transitions,
        channels: Channels,
    ) -> None:
        self._layout = layout
        self.transitions = transitions
        self.channels = channels
        self._waits = tuple(part.waits_for_lists for part in parts.values())
        self._starting: dict[int, bool] = {channels.empty: False}
        self.restarts = 0
        names = [part.process or name for name, part in parts.items()]
        self.parts_of = {
            name: tuple(at for at, process in enumerate(names) if process == name) for name in names
        }
        self._of = tuple(names)

    def restart(self, made: list[int], part: int) -> tuple[int, ...]:
        """Start the process of a component again: it knows nothing, and lists everything.

        :param made: the state, which is changed. :return: the components of the process.
        """
        transitions, layout = self.transitions, self._layout
        self.restarts += 1
        parts = self.parts_of[self._of[part]]
        for member in parts:
            made[member + 1] = transitions.new_process(member)
            for kind, notices in transitions.listed(member, made[0]).items():
                all_listed = transitions.synced(kind)
                place = layout.channels[layout.names[member], kind]
                # What waited for the old process is lost: the list has it.
                made[place] = self.channels.number((*notices, all_listed))
        return parts

    def is_starting(self, part: int, channels: tuple[int, ...]) -> bool:
        """Say whether a component still waits for its first lists, and so does nothing itself.

        :param channels: the contents of its channels.
        """
        if not self._waits[part]:
            return False
        known = self._starting
        for channel in channels:
            starting = known.get(channel)
            if starting is None:
                starting = known[channel] = self._is_listing(channel)
            if starting:
                return True
        return False

    def _is_listing(self, queue: int) -> bool:
        notices = self.transitions.notices
        return any(notices[notice][0] == SYNCED for notice in self.channels[queue])
