"""Says what a document without a format seems to be, and what to do."""

from __future__ import annotations

import re
from typing import Final

from .lists.excerpts import excerpt_in
from .printed import WHOLE, printed_for_people
from .reading.klog import HEADER
from .reading.wrappings import CLOUD_YAML, JOURNAL_FIELDS

_MANIFEST = re.compile(rb'(?m)^[{\s-]*"?(?:apiVersion|kind)"?\s*:')
_SEE = "plinian ingest --help says what can be read"
_OTHERS: Final = (
    (
        re.compile(rb"==== START logs for container "),
        "it is the log of a pod that is neither Volcano's scheduler nor its controllers",
        _SEE,
    ),
    (
        re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} "),
        "it is the log of a component other than Volcano's scheduler and controllers",
        _SEE,
    ),
    (
        re.compile(rb"(?:panic|fatal error): (?:[^g]|g(?!oroutine \d))*\Z"),
        "it is a panic without its stack, and only the stack says which program it was",
        "copy the lines that follow it, too: those with goroutine, functions and files",
    ),
    (
        re.compile(rb"(?:panic|fatal error): |goroutine \d+ \["),
        "it is a panic of a program that is no component of Volcano: its stack names none",
        _SEE,
    ),
    (
        re.compile(rb"# (?:HELP|TYPE) [a-zA-Z_:]+ "),
        "it is a page of metrics: totals, no events",
        _SEE,
    ),
    (
        re.compile(rb"\s*(?:null|\[\s*\]|\{\s*\}|\[\s*null\s*\])\s*\Z"),
        "it is JSON without any object",
        "look whether the command that wrote it found any",
    ),
    (
        re.compile(rb'\{[^{}]*"kind"\s*:\s*"Status"'),
        "it is an error that the API server answered with",
        "read its message, and send the request again",
    ),
)
_CLOUD_AUDIT = re.compile(rb'"(?:@type|type_url)"\s*:\s*"type.googleapis.com/google.cloud.audit\.')
_ENTRIES = (
    "its records are audit entries of Google Cloud (protoPayload): they do not have the form of "
    "kube-apiserver's audit log, and not all writes"
)
_RESPONSES = (
    'take the objects out of them: jq -c \'(if type == "array" then .[] else . end).protoPayload '
    '| select(.methodName | test("delete") | not) | .response '
    '| select(.metadata.resourceVersion?) | del(."@type")\' FILE > objects.json'
)

_IN_YAML = (
    "it is records of Cloud Logging in YAML",
    "write them as JSON: gcloud logging read ... --format=json",
)
_OF_JOURNAL = "it is a journal with a field a line", "write it as JSON: journalctl ... -o json"
_IN_IT = "lines of a log are in it, but what is around them is not known"
_LEFT = "leave only the lines: sed -E 's/^.*([IWEF][0-9]{4} [0-9:.]{15} )/\\1/' FILE > plain.log"


def why_unknown(head: bytes) -> tuple[str, str]:
    """Return for a document without a format: what it seems to be, and what to do."""
    if not head:
        return "it is empty", "look whether the command that wrote it failed"
    excerpt = excerpt_in(head)
    if excerpt:
        return f"its objects are excerpts ({excerpt})", WHOLE
    if printed := printed_for_people(head):
        return printed
    if records := _records_in(head):
        return records
    if b"\0" in head:
        return "it is binary", _SEE
    # The first that matches counts: later patterns match more.
    for pattern, why, now in _OTHERS:
        if pattern.match(head):
            return why, now
    if _MANIFEST.match(head) and b"kind" in head:
        return (
            "its objects have no resourceVersion: a manifest, not what a cluster stored",
            "fetch the objects from the cluster: kubectl get ... -o json",
        )
    return (_IN_IT, _LEFT) if HEADER.search(head) else ("no format recognises it", _SEE)


def _records_in(head: bytes) -> tuple[str, str] | None:
    """Return what records of logs a document has that are not read as they are."""
    if _CLOUD_AUDIT.search(head):
        return _ENTRIES, _RESPONSES
    if CLOUD_YAML.search(head):
        return _IN_YAML
    return _OF_JOURNAL if JOURNAL_FIELDS.search(head) else None
