"""Which faults of another release make an object start in it."""

from __future__ import annotations

from collections.abc import Callable

from ...engine.volcano.session.faults import faults_of
from ..compare.causes import Cause, smallest
from .run import Variant


class TimeOver(Exception):
    """There is no time for another session."""


class FaultSearch:
    """Finds the faults without which a release would not help.

    Releases mostly share faults: those that were found are tried first.
    """

    def __init__(self, helps: Callable[[Variant], bool], go_on: Callable[[], bool]) -> None:
        self._helps, self._go_on = helps, go_on
        self._found: list[Cause] = []

    def needed(self, variant: Variant) -> tuple[str, ...]:
        """Return the faults of a release that helps, in words, if it does not help without them.

        :raises TimeOver: it could not be found out.
        """
        if variant.release is None:
            return ()
        faults = faults_of(variant.release)

        def goes(names: Cause) -> bool:
            if not self._go_on():
                raise TimeOver
            return not self._helps(variant._replace(mended=names))

        known = (one for one in self._found if faults.keys() >= set(one))
        cause = next((one for one in known if goes(one)), None) or smallest(tuple(faults), goes)
        if cause and cause not in self._found:
            self._found.append(cause)
        return tuple(dict.fromkeys(faults[name].fault for name in cause))
