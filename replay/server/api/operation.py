"""What a question of the API is: its name, its parameters, and how it is answered."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...facade.log import Log
from ...logs.given_confs import given_conf
from ...logs.scheduler_release import release_at
from ...moments.moment import Moment
from ...questions.defaults import DEFAULT_RELEASE
from ..answer_limits import AnswerLimit
from .pages import ListPageSize
from .parameters import Parameter, ParameterType
from .words import ASSUME, PAGES, STRICT

CONF_NAME = "volcano-scheduler.conf"
"""The name of a configuration that comes with a request."""

CONF_NAMES = MappingProxyType({"conf": CONF_NAME, "try_conf": f"try-{CONF_NAME}"})
"""The files that the command names in place of texts, by parameter."""

GIVEN_NAMES = MappingProxyType({**CONF_NAMES, "manifest": "manifest.yaml"})
"""The files that the command names in place of all texts of requests, by parameter."""

_OPTION = re.compile(r"(?<!-)--[a-z]+(?:-[a-z]+)*")

_SHARED = frozenset({"limit", "cursor", "budget"})
"""Parameters that the server reads itself."""


class OperationRequest(NamedTuple):
    """A question: everything that is needed to answer it.

    :param moment: what it is about; None if it is not about a log. :param values: what the request
        gives, by the names of the parameters. :param release: the server's; None if none is named.
    """

    operation: Operation
    log: Log
    moment: Moment | None
    values: Mapping[str, Any]
    page: ListPageSize
    limit: AnswerLimit
    release: str | None = None

    def keywords(self) -> dict[str, Any]:
        """Return the values by their names in the Python API."""
        keywords = dict(self._keywords())
        operation = self.operation
        if self.release is not None and operation.has_release and operation.takes_release:
            keywords.setdefault("release", self.release)
        return keywords

    def _keywords(self) -> Iterator[tuple[str, Any]]:
        for parameter in self.operation.parameters:
            # The point is resolved already, as the log was known at the first page.
            if parameter.name == self.operation.point:
                if parameter.name in self.values or not self.operation.is_whole:
                    yield parameter.keyword, self.moment
            elif parameter.name == "budget" and parameter.option is not None:
                yield parameter.keyword, self.values.get(parameter.name, parameter.default)
            elif parameter.name in self.values and parameter.name not in _SHARED:
                value = self.values[parameter.name]
                source = CONF_NAMES.get(parameter.name)
                yield parameter.keyword, value if source is None else given_conf(value, source)


Ask = Callable[[OperationRequest], Any]
"""Returns the answer: a result of the Python API, or a :class:`.pages.Part` of a list."""


def in_words_of(parameters: Iterable[Parameter], text: str) -> str:
    """Return a text with parameters in place of the options of the command."""
    names = {parameter.flag: parameter.name for parameter in parameters if parameter.flag}
    return _OPTION.sub(lambda option: names.get(option[0], option[0]), text)


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """A question that the API answers.

    :param guide: when an agent asks it, what it asks instead, and what of the answer to read.
    :param method: what answers it in the Python API. :param command: the words of the command that
        answers it in the terminal.
    :param takes: its parameters, without those that all questions have, or all that run sessions.
    :param path: the URL's, below ``/plinian/v1``; by default the name.
    :param point: the parameter whose moment the answer is about; empty if it needs no log.
    :param default: the point if the request gives none; empty is that of the server.
    :param is_whole: without a point, the answer is about the whole log.
    :param long: it may take more than half a second. :param runs_sessions: it does so, and takes
        assumptions. :param reads_all: what is found by reading the whole log; empty if nothing is.
    :param is_tool: agents are offered it. :param takes_release: without a release, it is of that of
        the server.
    :param is_list: the answer is a list. :param names_inputs: its sentences may name inputs.
    """

    name: str
    about: str
    guide: str = ""
    method: str
    command: tuple[str, ...]
    ask: Ask
    takes: tuple[Parameter, ...] = ()
    path: str = ""
    point: str = "at"
    default: str = ""
    is_whole: bool = False
    long: bool = False
    runs_sessions: bool = False
    is_tool: bool = True
    takes_release: bool = True
    is_list: bool = False
    names_inputs: bool = False
    reads_all: str = ""

    @property
    def url(self) -> str:
        """Return its path below ``/plinian/v1``, with parameters in braces."""
        return self.path or self.name

    @property
    def body(self) -> Parameter | None:
        """Return the parameter that the body of a request may have, which then is a POST."""
        return next((parameter for parameter in self.takes if parameter.in_body), None)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters."""
        return (*self.takes, *((ASSUME, STRICT) if self.runs_sessions else ()), *PAGES)

    @property
    def believes(self) -> bool:
        """Return whether it needs the scheduler's cache at its moment."""
        return self.runs_sessions and not self.reads_all

    @property
    def is_long(self) -> bool:
        """Return whether it may take more than half a second."""
        return self.long or self.runs_sessions

    @property
    def has_release(self) -> bool:
        """Return whether it is about one release, which a request need not name."""
        return any(
            parameter.name == "release" and not parameter.required and not parameter.many
            for parameter in self.parameters
        )

    def in_own_words(self, text: str) -> str:
        """Return what an error says with parameters in place of the options of the command.

        :param text: one that names a whole command stays as it is.
        """
        # Its options are those of the command, and not parameters.
        return text if "plinian " in text else in_words_of(self.parameters, text)

    def command_line(self, asked: OperationRequest) -> str:
        """Return the command that answers a question in the terminal; empty if there is none."""
        if not self.command:
            return ""
        names: list[str] = []
        options: list[str] = []
        for parameter in self.parameters:
            if parameter.option is None:
                continue
            words = _told(self, asked, parameter)
            if parameter.absent and not words:
                options.append(parameter.absent)
            for value in words:
                if not parameter.flag:
                    names.append(str(value))
                else:
                    options += (
                        [parameter.flag]
                        if value is True
                        else [parameter.flag, f"{parameter.prefix}{value}"]
                    )
        return shlex.join(["plinian", *self.command, *names, *options])


def _told(operation: Operation, asked: OperationRequest, parameter: Parameter) -> list[Any]:
    """Return the values of a parameter as the command names them."""
    value = asked.values.get(parameter.name)
    if parameter.name == "budget" and not _has_use_of_budget(operation, asked):
        return []
    if parameter.name == operation.point and asked.moment is not None:
        return [asked.moment.label] if parameter.keyword in asked.keywords() else []
    if parameter.name in GIVEN_NAMES:
        return [] if value is None else [GIVEN_NAMES[parameter.name]]
    if parameter.name == "release" and value is None and _needs_release(operation, asked):
        value = asked.release or _release_of(asked)
    if value is None or value is False:
        # A budget of the server may be smaller than the command's default.
        return (
            [parameter.default]
            if parameter.name == "budget" and parameter.default is not None
            else []
        )
    if parameter.kind is ParameterType.FLAG:
        return [True]
    return list(value) if parameter.many else [value]


def _has_use_of_budget(operation: Operation, asked: OperationRequest) -> bool:
    """Return whether a command takes a budget: one that may try changes does only if it tries."""
    tried = "what_would_help"
    may_try = any(parameter.name == tried for parameter in operation.parameters)
    return not may_try or bool(asked.values.get(tried))


def _release_of(asked: OperationRequest) -> str:
    """Return the release of an answer for which none is named."""
    release = None if asked.moment is None else release_at(asked.log, asked.moment)
    return release or DEFAULT_RELEASE


def _needs_release(operation: Operation, asked: OperationRequest) -> bool:
    """Return whether a command must name the release that a request left out."""
    another = asked.release is not None or "try_release" in asked.values
    return another and operation.has_release
