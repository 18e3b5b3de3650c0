"""Watch streams: lines of an API watch, or the documents that kubectl prints of one.

A stream begins with its initial list: ADDED for each object, in the order of names. An API watch
ends it with a bookmark that has the revision of the list. After a reconnection the stream repeats
the list; its revisions are then not new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

import msgspec

from ...events import Event
from ..lists.excerpts import excerpt_in
from ..reading.formats import Context
from ..reading.json_text import DECODE_FAULTS, MAX_DOCUMENT, json_documents
from ..reading.numbered_lines import numbered_lines
from .fast_path import UsualLines
from .watch_reader import WatchReader

_TYPES = rb'"(?:ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)"'
_BEGIN = re.compile(
    rb'\s*\{\s*(?:"type"\s*:\s*' + _TYPES + rb'|"object"\s*:\s*\{.*?"type"\s*:\s*' + _TYPES + rb")",
    re.DOTALL,
)
_SPAN = msgspec.json.Decoder(msgspec.Raw).decode


class WatchStream:
    """Watch events, one per line or as documents one after the other.

    The first run of ADDED becomes ``<noun>.observed``, later ones ``created``. A stream that is
    cut off is read up to there, with a note.
    """

    name = "watch-stream"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise a JSON object with a watch event's type, and an object."""
        return _BEGIN.match(head) is not None and b'"object"' in head and not excerpt_in(head)

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield versions in the order of the stream; ``list.observed`` where a list is complete."""
        reader = WatchReader(context)
        first, before = stream.readline(MAX_DOCUMENT), 0
        while first.isspace():
            first, before = stream.readline(MAX_DOCUMENT), before + 1
        # The first line shows whether each has a whole object, or documents have several lines. A
        # client that asked for a watch knows that it gets lines.
        if context.asked is None and (not first.rstrip().endswith(b"}") or not _is_whole(first)):
            head = b"\n" * before + first
            for line, text in json_documents(stream, context, head=head, cut_is_normal=True):
                yield from reader.read(line, bytes(text), may_be_cut=False)
            reader.end()
            return
        usual = UsualLines(context, reader.place)
        for line, text in chain(
            [(before + 1, first)] if first else [],
            numbered_lines(stream, context, after=before + 1),
        ):
            event = usual.read(text, line)
            if event is not None:
                yield event
            else:
                yield from reader.read(line, text, may_be_cut=text[-1:] != b"\n")
        reader.end()


def _is_whole(text: bytes) -> bool:
    try:
        _SPAN(text)
    except DECODE_FAULTS:
        return False
    return True


FORMAT = WatchStream()
