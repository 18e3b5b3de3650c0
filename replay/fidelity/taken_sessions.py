"""Which process runs which session: the one that comes to it first."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class TakenSessions(NamedTuple):
    """The sessions that processes have taken; some sessions take a hundred times as long as others.

    :param folder: of these processes: an empty file for each session that one of them has taken.
    """

    folder: str

    def take(self, number: int) -> bool:
        """Take a session; return whether no other process had taken it."""
        with suppress(FileExistsError):
            os.close(os.open(Path(self.folder, str(number)), os.O_CREAT | os.O_EXCL))
            return True
        return False

    def taken(self) -> int:
        """Return how many sessions were taken."""
        return sum(1 for _ in Path(self.folder).iterdir())
