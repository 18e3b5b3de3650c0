"""A kubeconfig: which file it is, what is wrong with it, and who asks by it.

The package ``kubernetes`` reads it again for its use. What it says of a file with faults is about
its own code, and where a plugin gives no credentials, it logs that and goes on without them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ...engine.errors import UsageError

_VARIABLE = "KUBECONFIG"
_USUAL = "~/.kube/config"
_ANOTHER = "name another file with --kubeconfig, or in KUBECONFIG"
_GIVEN = ("exec", "auth-provider", "token", "tokenFile", "username")
"""Fields of a user that give credentials, beside certificates."""


class AskingUser(NamedTuple):
    """Who asks. :param fields: what the kubeconfig has of the user; empty for no credentials.

    :param place: the files, as they are named. :param context: of the kubeconfig.
    """

    place: str
    context: str
    name: str
    fields: Mapping[str, Any]


def is_in_cluster() -> bool:
    """Return whether this runs in a pod and no kubeconfig is there, as kubectl decides it."""
    there = any(path.is_file() for path in _paths(_place(None)[0]))
    return not there and "KUBERNETES_SERVICE_HOST" in os.environ


def asking_user(kubeconfig: str | None, context: str | None) -> AskingUser:
    """Return who asks, by the context that is named or the current one.

    :raises UsageError: there is no such file or context, or it has faults.
    """
    place, hint = _place(kubeconfig)
    paths = _paths(place)
    there = [path for path in paths if path.exists()]
    if not there:
        what = "there is no such file" if paths else "no file is named"
        raise UsageError(what, where=place, now=hint)
    contexts: dict[str, Mapping[str, Any]] = {}
    users: dict[str, Mapping[str, Any]] = {}
    current = ""
    for path in there:
        document = _document(path)
        # Of two with a name, the first is meant.
        contexts = _named(document, "contexts", path) | contexts
        users = _named(document, "users", path) | users
        current = current or str(document.get("current-context") or "")
    chosen = _chosen(context or current, contexts, place)
    user = str((contexts[chosen].get("context") or {}).get("user") or "")
    if user and user not in users:
        raise UsageError(
            f"the context {chosen!r} names the user {user!r}, which is not there",
            where=place,
            now=f"add it to users, or name another context with --context: {_listed(contexts)}",
        )
    fields = users.get(user, {}).get("user") or {}
    return AskingUser(place, chosen, user, fields)


def _place(kubeconfig: str | None) -> tuple[str, str]:
    """Return where the kubeconfig is, and what to do if it is not there."""
    if kubeconfig is not None:
        return kubeconfig, "check the path that --kubeconfig names"
    if named := os.environ.get(_VARIABLE):
        return named, f"{_VARIABLE} names it: correct that, or name a file with --kubeconfig"
    return _USUAL, f"name a kubeconfig with --kubeconfig, or set {_VARIABLE}"


def _paths(place: str) -> list[Path]:
    return [Path(path).expanduser() for path in place.split(os.pathsep) if path]


def _document(path: Path) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 -- slow to load

    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except OSError as fault:
        said = f"it cannot be read: {fault.strerror}"
        raise UsageError(said, where=str(path), now=_ANOTHER) from fault
    except UnicodeDecodeError as fault:
        said = "it is no kubeconfig: it is not text in UTF-8"
        raise UsageError(said, where=str(path), now=_ANOTHER) from fault
    except yaml.MarkedYAMLError as fault:
        line = f":{fault.problem_mark.line + 1}" if fault.problem_mark else ""
        raise UsageError(
            f"it is no YAML: {fault.problem or fault.context}",
            where=f"{path}{line}",
            now="correct the line, or name another file with --kubeconfig",
        ) from fault
    except yaml.YAMLError as fault:
        said = f"it is no YAML: {getattr(fault, 'reason', '') or 'it cannot be read'}"
        raise UsageError(said, where=str(path), now=_ANOTHER) from fault
    if not isinstance(document, dict):
        found = "it is empty" if document is None else f"it is {_form(document)}, and no mapping"
        raise UsageError(f"it is no kubeconfig: {found}", where=str(path), now=_ANOTHER)
    return document


def _form(document: object) -> str:
    return "a list" if isinstance(document, list) else "a single value"


def _named(document: Mapping[str, Any], field: str, path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the items of a list by their names."""
    items = document.get(field) or []
    if not isinstance(items, list) or not all(
        isinstance(item, dict)
        and "name" in item
        and isinstance(item.get(field.removesuffix("s")) or {}, dict)
        for item in items
    ):
        raise UsageError(
            f"it is no kubeconfig: {field} must be a list of items with a name and a "
            f"{field.removesuffix('s')}",
            where=str(path),
            now=_ANOTHER,
        )
    return {str(item["name"]): item for item in reversed(items)}


def _listed(contexts: Mapping[str, object]) -> str:
    return ", ".join(sorted(contexts))


def _chosen(name: str, contexts: Mapping[str, object], place: str) -> str:
    """Return the name of the context if it is there."""
    if not contexts:
        raise UsageError("it is no kubeconfig: it has no contexts", where=place, now=_ANOTHER)
    now = f"name one with --context: {_listed(contexts)}"
    if not name:
        raise UsageError("it has no current-context", where=place, now=now)
    if name not in contexts:
        raise UsageError(f"there is no context {name!r}", where=place, now=now)
    return name


@contextmanager
def library_errors() -> Iterator[Sequence[str]]:
    """Yield what the package ``kubernetes`` logs in the body; none of it is shown anywhere.

    It logs to the root, which would get a handler that writes to the terminal if it had none.
    """
    said: list[str] = []
    here = threading.get_ident()

    def is_of_others(record: logging.LogRecord) -> bool:
        if record.thread != here:
            return True
        said.append(record.getMessage())
        return False

    root, none = logging.getLogger(), logging.NullHandler()
    root.addHandler(none)
    root.addFilter(is_of_others)
    try:
        yield said
    finally:
        root.removeFilter(is_of_others)
        root.removeHandler(none)


def without_credentials(user: AskingUser, said: Sequence[str], *, has_some: bool) -> UsageError:
    """Return why a user has no credentials. :param said: what the package logged.

    :param has_some: whether it gave credentials nevertheless.
    """
    called = user.fields.get("exec") or {}
    program = str(called.get("command", "")) if isinstance(called, dict) else ""
    why = " ".join(said[-1].removeprefix("exec: ").split()) if said else ""
    now = "try kubectl with this context"
    if why.startswith("[Errno 2]") and repr(program) in why:
        what = f"the program {program!r}, which gives the credentials, is not there"
        hint = " ".join(str(called.get("installHint") or "").split())
        now = hint or f"install {program}, or correct its path in exec.command"
    elif program and (why or not has_some):
        what = f"the program {program!r} gave no credentials: {why or 'its answer has none'}"
        now = "run it yourself, and try kubectl with this context"
    else:
        field = next((field for field in _GIVEN if field in user.fields), "")
        what = f"no credentials came of {field}" + (f": {why}" if why else "")
    return UsageError(what, where=f"{user.place}, user {user.name}", now=now)


def needs_credentials(user: AskingUser) -> bool:
    """Return whether a user is to show credentials beside certificates that are files."""
    return any(field in user.fields for field in _GIVEN)
