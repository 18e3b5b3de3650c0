"""Recognises what kubectl prints for people, and says which command gives what can be read."""

from __future__ import annotations

import re

WHOLE = "fetch whole objects: kubectl get ... -o json"

_WANTED = "pods,nodes,podgroups,queues -A -o json --show-managed-fields"

_EVENTS = re.compile(
    rb"(?:NAMESPACE +)?(?:LAST SEEN|FIRST SEEN|LASTSEEN|FIRSTSEEN|TYPE) +[A-Z]+(?: |$)",
    re.MULTILINE,
)
_TABLE = re.compile(rb"(?:NAMESPACE +)?NAME +[A-Z][A-Z()%-]*(?: |$)", re.MULTILINE)
_QUEUES = re.compile(rb"Name +(?:Weight|State|Creation|Status|Job Type|Queue)\b")
"""Tables of vcctl."""

_ROW = re.compile(rb"(?:[a-z0-9][a-z0-9.-]* +){1,2}\d+/\d+ +[A-Z][A-Za-z]+ +\d+ ")
"""A row of a table of pods, without the head of the table."""

_HEAD_OF_TABLE = re.compile(rb"[A-Z][A-Z0-9()%/-]*")
_BORDERS = re.compile(rb"[^\x20-\x7e]+|[|,]")
"""What k9s draws around a table and beside the column that sorts it; commas in what it saves."""

_LINES_SEEN, _LEAST_COLUMNS = 5, 3
_OF_OBJECTS = frozenset({b"READY", b"STATUS", b"AGE", b"PHASE", b"STATE", b"PODS"})

_DESCRIBED = re.compile(rb"Name: +(\S+)[ \t]*\r?\n")
_FIELD = re.compile(
    rb"(?m)^(?:Namespace|Labels|Annotations|Roles|API Version|Status|Events|Priority|Kind):"
    rb"(?: |\r?$)"
)
_NAMESPACE = re.compile(rb"(?m)^Namespace: +(\S+)")
_KIND = re.compile(rb"(?m)^Kind: +([A-Za-z]+)[ \t]*\r?$")
_OF_PODS = re.compile(rb"(?m)^(?:Containers|Init Containers|Node-Selectors|QoS Class):")
_OF_NODES = re.compile(rb"(?m)^(?:Roles|Allocatable|Non-terminated Pods|System Info):")
_ERROR = re.compile(
    rb"(?:Error from server|error: |The connection to the server |Unable to connect)"
)
_NONE_FOUND = re.compile(rb"No resources found|No events found")


def printed_for_people(head: bytes) -> tuple[str, str] | None:
    """Return what text of kubectl a document is, and what to do; None if it is none.

    :param head: its first bytes.
    """
    text = head.lstrip()
    if described := _DESCRIBED.match(text):
        if _FIELD.search(text):
            return "it is the text of kubectl describe, for people", _instead(described[1], text)
    elif _EVENTS.match(text):
        return (
            "it is a table of events for people, as kubectl get events or kubectl events print it",
            "fetch the events as objects: kubectl get events -A -o json",
        )
    elif any(pattern.match(text) for pattern in (_TABLE, _QUEUES, _ROW)) or _is_of_k9s(text):
        return (
            "it is a table for people, as kubectl prints it without -o json, or k9s",
            f"fetch whole objects: kubectl get {_WANTED}",
        )
    elif _NONE_FOUND.match(text):
        return (
            "it says that kubectl found no objects",
            "look whether the kind and the namespace are right (-A is all namespaces)",
        )
    elif _ERROR.match(text):
        return "it is an error of kubectl", "read its message, and run the command again"
    return None


def _is_of_k9s(text: bytes) -> bool:
    """Say whether a text is a table of k9s: copied, or saved with commas."""
    for line in text.split(b"\n", _LINES_SEEN)[:_LINES_SEEN]:
        words = _BORDERS.sub(b" ", line).split()
        if b"NAME" in words and _OF_OBJECTS.intersection(words) and len(words) >= _LEAST_COLUMNS:
            return all(_HEAD_OF_TABLE.fullmatch(word) for word in words)
    return False


def _instead(name: bytes, text: bytes) -> str:
    """Return the command that fetches what a description describes."""
    named = _KIND.search(text)
    kind = named[1].decode().lower() if named else _kind_of(text)
    place = _NAMESPACE.search(text)
    where = f" -n {place[1].decode(errors='replace')}" if place else ""
    command = f"kubectl get {kind} {name.decode(errors='replace')}{where} -o json"
    return f"fetch the whole object: {command}; for all: kubectl get {_WANTED}"


def _kind_of(text: bytes) -> str:
    if _OF_PODS.search(text):
        return "pod"
    return "node" if _OF_NODES.search(text) else "KIND"
