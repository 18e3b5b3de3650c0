"""From a request to the bytes of its answer, in a thread that reads the log."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from ....engine.errors import LogError, PlinianError
from ....engine.kubernetes.units import SECOND_US, parse_duration
from ...facade.log import Log
from ..answer_limits import AnswerLimit, TookTooLong
from ..plain_json import ascii_json
from ..readers import Readers
from ..settings import ServerSettings
from ..withheld import Withheld, confs_of
from .answer import Answer, answered, moment_of, request_of
from .operation import Operation, OperationRequest
from .pages import MOST_BYTES, check_size
from .words import MOST_BUDGET


class Reply:
    """How questions are answered.

    :param limit: how many members a list has if a request does not say. :param most: the largest
        answer, in bytes.
    """

    def __init__(
        self,
        settings: ServerSettings,
        readers: Readers,
        *,
        limit: int | None = None,
        most: int = MOST_BYTES,
    ) -> None:
        self._settings, self._readers = settings, readers
        self._limit, self._most = limit, most

    async def to(self, operation: Operation, texts: Mapping[str, list[str]]) -> bytes:
        """Return the answer to a question as JSON.

        :raises PlinianError: there is none; its texts name no path of this machine.
        """
        values, page = request_of(operation, texts, limit=self._limit)
        budget = str(values.get("budget", f"{MOST_BUDGET}s"))
        limit = AnswerLimit(parse_duration(budget) / SECOND_US)

        def question(log: Log) -> bytes:
            try:
                at, release = self._settings.at, self._settings.release
                moment = moment_of(operation, log, values, page, at)
                asked = OperationRequest(operation, log, moment, values, page, limit, release)
                answer = _answer(asked)
            # The handler of errors withholds its text from clients, so paths may stay in it.
            except LogError:
                raise
            except PlinianError as fault:
                _clean(fault, log)
                fault.what, fault.now = map(operation.in_own_words, (fault.what, fault.now))
                raise
            text = ascii_json(msgspec.to_builtins(answer))
            check_size(text, self._most)
            return text

        return await self._readers.ask(question, long=operation.is_long, limit=limit)


def _answer(asked: OperationRequest) -> Answer:
    """Return the answer to a question; if it takes too long, the error names the command."""
    try:
        return answered(asked)
    except TookTooLong as fault:
        command = asked.operation.command_line(asked)
        if command:
            fault.now = f"narrow the question, or ask in a terminal, which waits: {command}"
        raise


def _clean(fault: PlinianError, log: Log) -> None:
    """Replace the paths in the texts of an error."""
    # The log may be what failed: then only its place is replaced.
    names: list[str] = []
    with suppress(PlinianError):
        names = list(confs_of(log, log.moment()))
    Withheld(names, log.place).fault(fault)
