"""The moment that is served where a path names none: it stands still, follows the log, or plays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from .....engine.errors import UsageError
from .....engine.kubernetes.units import format_time
from ....coverage.coverage import beginning_of
from ....logs.log import Log
from ....moments.log_clock import last_revision, when_is
from ....moments.moment import Moment
from .follower import WatchFollower

POLL_SECONDS = 0.5
"""How often the log is looked at for more, while somebody watches."""

TICK_SECONDS = 0.1
"""How often the moment moves while it is played."""

_FASTEST = 100_000.0


class MomentCourse:
    """Moves the moment that is served.

    :param point: where it begins. :param follower: follows every move.
    :param resolve: returns the moment of a point; it does not wait for watches.
    """

    def __init__(
        self, point: str, follower: WatchFollower, resolve: Callable[[str], Awaitable[Moment]]
    ) -> None:
        self._point, self._follower, self._resolve = point, follower, resolve
        self._lock = asyncio.Lock()
        self._moment: Moment | None = None
        self._held = False
        self._speed, self._since, self._from = 0.0, 0.0, 0
        self._usual_speed = 1.0
        self._task: asyncio.Task[None] | None = None

    async def now(self) -> Moment:
        """Return the moment that is served."""
        async with self._lock:
            if self._held and self._moment is not None:
                return self._moment
            moment = await self._resolve(self._point)
            if self._moment is None or moment.known != self._moment.known:
                await self._follower.advance(moment)
                self._moment = moment
            return self._moment

    def serves(self, point: str) -> bool:
        """Return whether a point is what is served: then its watches follow the log, too."""
        return point == self._point and not self._held

    async def position(self) -> dict[str, Any]:
        """Return where the course is, for JSON; the speed of a paused one is what it would be."""
        moment = await self.now()
        revision, when = await self._follower.ask(
            lambda log: (last_revision(log.store, moment) or 0, when_is(log.store, moment))
        )
        return {
            "at": moment.label,
            "revision": revision,
            "time": _time(when.estimate),
            "earliest": _time(when.earliest),
            "latest": _time(when.latest),
            "speed": self._speed or self._usual_speed,
            "playing": bool(self._speed),
        }

    async def play(self, speed: float | None = None) -> None:
        """Play on from where the course is.

        :param speed: how many times faster than it happened.
        :raises UsageError: the speed is not positive, or the log holds no times.
        """
        _check_speed(self._usual_speed if speed is None else speed)
        moment = await self.now()
        when = await self._follower.ask(lambda log: when_is(log.store, moment))
        if when.estimate is None:
            raise UsageError("the log holds no times to play by", now="use plinian play step")
        self._usual_speed = speed or self._usual_speed
        self._held = True
        self._start_clock(when.estimate)
        self.awake()

    async def begin(self, speed: float) -> None:
        """Play from the beginning of what is known, if no moment was asked for."""
        if self._point == "end":
            await self.to(await self._follower.ask(_first))
        await self.play(speed)

    async def pause(self) -> None:
        """Stand still."""
        await self.now()
        self._held, self._speed = True, 0.0

    async def set_speed(self, speed: float) -> None:
        """Play faster or slower; a paused course stays paused, and plays so later.

        :raises UsageError: the speed is not positive.
        """
        _check_speed(speed)
        if self._speed:
            await self.play(speed)
        else:
            self._usual_speed = speed

    async def step(self) -> None:
        """Go on by one revision, and stand still.

        :raises UsageError: the log ends here.
        """
        await self.pause()
        moment = await self.now()
        following = await self._follower.ask(lambda log: _next(log, moment))
        if following is None:
            raise UsageError("the log ends here", now="go back with plinian play to POINT")
        await self._move(following)

    async def to(self, point: str) -> None:
        """Go to a point of the log, earlier or later; it plays on if it played.

        :raises PointUnknown: the log has no such point.
        """
        moment = await self._follower.ask(lambda log: log.moment(point))
        self._held = True
        await self._move(moment)
        if self._speed:
            when = await self._follower.ask(lambda log: when_is(log.store, moment))
            self._start_clock(when.estimate or 0)

    async def close(self) -> None:
        """Move no more."""
        if self._task is not None:
            self._task.cancel()

    def _start_clock(self, time: int) -> None:
        self._speed = self._usual_speed
        self._since, self._from = asyncio.get_running_loop().time(), time

    def awake(self) -> None:
        """Move from now on while it plays, and look for news while somebody watches."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._live())

    async def _live(self) -> None:
        """Move while it plays, and look for news while somebody watches."""
        while self._speed or self._follower.has_watchers:
            if self._speed:
                await asyncio.sleep(TICK_SECONDS)
                await self._tick()
            else:
                await asyncio.sleep(POLL_SECONDS)
                await self.now()

    async def _tick(self) -> None:
        if not self._speed:
            return
        passed = asyncio.get_running_loop().time() - self._since
        time = self._from + int(passed * self._speed * 1_000_000)
        speed = self._speed
        moment, ends = await self._follower.ask(lambda log: _at_time(log, time))
        # Else it was paused meanwhile, or plays at another speed from another time.
        if speed == self._speed:
            await self._move(moment)
        # From the end of the log on, the course follows what is appended.
        if ends:
            self._speed, self._held, self._point = 0.0, False, "end"

    async def _move(self, moment: Moment) -> None:
        """Serve another moment: watches see what happens until then, or end if it is earlier."""
        async with self._lock:
            before = self._moment
            if before is not None and _is_before(moment, before):
                await self._follower.rewind(moment)
            else:
                await self._follower.advance(moment)
            self._moment = moment


def _time(micros: int | None) -> str | None:
    return None if micros is None else format_time(micros)


def _check_speed(speed: float) -> None:
    if not 0 < speed <= _FASTEST:
        raise UsageError(f"{speed:g} is no speed", now="write a number such as 10x or 0.5x")


def _is_before(moment: Moment, before: Moment) -> bool:
    """Return whether a moment is earlier than another, or of another branch."""
    if moment.branch != before.branch or moment.known < before.known:
        return True
    # Without a revision it is the end of what is known, which is after every revision.
    if moment.revision is None or before.revision is None:
        return moment.revision is not None
    if moment.revision == before.revision and moment.time is not None and before.time is not None:
        return moment.time < before.time
    return moment.revision < before.revision


def _first(log: Log) -> str:
    """Return the point from which on most is known."""
    end = log.moment("end")
    begin = beginning_of(log, end).revision
    if begin is None:
        extent = log.store.extent(known=end.known, cluster=end.cluster, branch=end.branch)
        begin = extent.first_revision
    return "end" if begin is None else f"rv:{begin}"


def _next(log: Log, moment: Moment) -> Moment | None:
    if moment.revision is None:
        return None
    following = log.clock(moment).next_revision(moment.revision)
    return None if following is None else log.moment(f"rv:{following}")


def _at_time(log: Log, time: int) -> tuple[Moment, bool]:
    """Return the moment at a time, and whether the log ends there."""
    last = log.clock().last()
    if last is None or time >= last:
        return log.moment("end"), True
    return log.moment(format_time(time)), False
