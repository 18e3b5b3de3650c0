"""Dumps of the scheduler's cache (SIGUSR1): what the scheduler *believed*, never truth.

A dump is JSON values one after the other, without names; their number shows which is which. Names
of fields are Go's, amounts are in Volcano's units.

Source: pkg/scheduler/cache/dumper.go at v1.9.0, v1.12.0 and v1.14.0, the tags where it changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, BinaryIO

import msgspec

from ...errors import EventMalformed, InputTruncated
from ...events import Event, Reference, canonical_json
from ...events.payloads import CacheDumped
from ...kubernetes.units import SECOND_US
from ...nesting import TOO_DEEP, levels
from ..reading.formats import Context
from ..reading.numbered_lines import json_documents
from ..reading.sizes import hold_values

MAX_VALUE = 64 * 2**20
"""Bytes of one value; 100 nodes with 1,300 pods take 8 MB."""

_MOST_VALUES = 32
"""JSON values in one file; the known layouts have six at most."""

_OLD = ("nodes",)
_HYPERNODES = ("hypernodes-by-tier", "real-nodes", "hypernodes", "jobs")

LAYOUTS: Mapping[int, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        1: ("v1.9", _OLD),
        5: ("v1.12", (*_OLD, *_HYPERNODES)),
        6: ("v1.14", (*_OLD, "hypernodes-by-tier", "tier-names", *_HYPERNODES[1:])),
    }
)
"""Number of values to (first release with this layout, parts in order)."""

_NODES = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"Name"\s*:')
_NAME = re.compile(r"snapshot-(\d{9,11})(?!\d)")


class CacheDump:
    """Reads a ``snapshot-<unix seconds>.json``."""

    name = "cache-dump"

    def sniff(self, head: bytes, name: str) -> bool:
        """Recognise a map of NodeInfos; of an empty cache, by the file's name."""
        if _NODES.match(head):
            return b'"MilliCPU"' in head or b'"Allocatable"' in head
        return head.startswith(b"{}\n") and _NAME.search(name) is not None

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield one ``cache.dumped`` per value.

        :raises InputTruncated: the last value is cut off (a full disk, a dump read too early).
        """
        values = list(islice(json_documents(stream, context, limit=MAX_VALUE), _MOST_VALUES + 1))
        if len(values) > _MOST_VALUES or sum(len(text) for _, text in values) > 2 * MAX_VALUE:
            context.reject("more values than a dump has, or larger ones", line=1)
            return
        layout, parts = LAYOUTS.get(len(values), ("unknown", ()))
        if not parts:
            context.notes.append(f"a dump of {len(values)} values has no known layout")
        match = _NAME.search(context.source.rpartition("/")[2])
        observed_at = int(match[1]) * SECOND_US if match else None
        for index, (line, text) in enumerate(values):
            content = _decode(text, line, context)
            if content is None:
                # The parts after it keep their numbers, which say what they are.
                continue
            dumped = CacheDumped(
                part=parts[index] if parts else f"value-{index}",
                index=index,
                layout=layout,
                content=content,
            )
            yield Event(
                kind="cache.dumped",
                reference=Reference(),
                payload=canonical_json(dumped),
                earliest=observed_at,
                latest=observed_at,
                source=context.source,
                line=line,
                cluster=context.cluster,
            )


def _decode(text: bytes, line: int, context: Context) -> dict[str, Any] | None:
    try:
        hold_values(text)
        content = msgspec.json.decode(text, type=dict[str, Any])
        _drop_managed_fields(content)
    except EventMalformed as fault:
        context.reject(fault.what, line=line)
    except msgspec.DecodeError as fault:
        # Only the end of a file lacks the newline that follows each value.
        if not text.endswith(b"\n") and not context.skip_malformed:
            raise InputTruncated(
                f"the last value of the dump is cut off or broken: {fault}",
                where=f"{context.source}:{line}",
                now="take the dump again, or keep the values before it with --skip-malformed",
            ) from fault
        context.reject(str(fault), line=line)
    except UnicodeDecodeError as fault:
        context.reject(f"not UTF-8: {fault}", line=line)
    except RecursionError:
        context.reject(TOO_DEEP, line=line)
    else:
        return content
    return None


def _drop_managed_fields(value: Any) -> None:
    """Remove ``managedFields`` from every object inside; they are most of a dump's bytes.

    :raises NestedTooDeep: there are too many levels.
    """
    for level in levels(value):
        for inner in level:
            if type(inner) is dict:
                inner.pop("managedFields", None)
                inner.pop("ManagedFields", None)


FORMAT = CacheDump()
