"""Which faults of another release make an object start in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...engine.volcano.session.faults import faults_of
from ..compare.causes import Cause, smallest
from .changed_sessions import ORIGINAL, Variant
from .ignored import Ignored


class TimeOver(Exception):
    """There is no time for another session."""


class FaultSearch:
    """Finds the faults without which a release would not help.

    Releases mostly share faults: those that were found are tried first.
    """

    def __init__(
        self,
        helps: Callable[[Variant], bool],
        go_on: Callable[[], bool],
        ignored_in: Callable[[str], Sequence[Ignored]] = lambda _: (),
    ) -> None:
        self._helps, self._go_on, self._ignored_in = helps, go_on, ignored_in
        self._found: list[Cause] = []
        self._starts_without: dict[Ignored, bool] = {}

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
        said = dict.fromkeys(faults[name].fault for name in cause)
        return tuple(said) or tuple(self._ignored(variant.release))

    def _ignored(self, release: str) -> Iterator[str]:
        """Yield the fields that a release ignores, if the object starts in its own without one."""
        for one in self._ignored_in(release):
            if one not in self._starts_without:
                if not self._go_on():
                    raise TimeOver
                self._starts_without[one] = self._helps(Variant(ORIGINAL, (one.without,)))
            if self._starts_without[one]:
                yield one.fault
