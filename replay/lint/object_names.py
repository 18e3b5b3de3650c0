"""Names of objects and of namespaces, as an API server accepts them.

Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go; pkg/util/validation IsDNS1123Label,
IsDNS1123Subdomain, NameIsDNSSubdomain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAMESPACE = re.compile(_LABEL, re.ASCII)
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_BEGIN = re.compile(rf"{_NAME.pattern}[-.]*", re.ASCII)
"""An API server adds letters and digits."""

_LONGEST_NAME, _LONGEST_NAMESPACE = 253, 63
_SHOWN = 60
_LETTERS = "write lower-case letters, digits, - and ."


def name_faults(metadata: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the field, the fault, and what to do, of a name that no API server accepts.

    One that is no text is another rule.
    """
    if not isinstance(metadata, dict):
        return
    name, namespace = metadata.get("name"), metadata.get("namespace")
    begin = None if name else metadata.get("generateName")
    if isinstance(name, str) and name:
        yield from _faults("name", name, _NAME, _LONGEST_NAME)
    if isinstance(begin, str) and begin:
        yield from _faults("generateName", begin, _BEGIN, _LONGEST_NAME)
    if isinstance(namespace, str) and namespace:
        yield from _faults("namespace", namespace, _NAMESPACE, _LONGEST_NAMESPACE)


def is_object_name(name: str) -> bool:
    """Return whether an API server accepts a name."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def _faults(
    field: str, name: str, form: re.Pattern[str], longest: int
) -> Iterator[tuple[str, str, str]]:
    shown = name[:_SHOWN] + "…" * (len(name) > _SHOWN)
    if len(name) > longest:
        fault = f"the {field} {shown!r} has {len(name)} characters"
        yield field, f"{fault}: no API server accepts it", f"write {longest} at most"
    elif form.fullmatch(name) is None:
        now = "write lower-case letters, digits and -" if form is _NAMESPACE else _LETTERS
        yield field, f"no API server accepts the {field} {shown!r}", now
