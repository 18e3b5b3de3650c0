"""All formats, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from .audit import audit_log
from .components import cache_dump
from .components import component_logs as scheduler_log
from .lists import json_objects as object_list
from .lists import yaml_objects as yaml_documents
from .objects import scheduler_conf
from .reading.formats import Format
from .scenario import scenario
from .scenario import scenario_inputs as external_inputs
from .watch import stream as watch_stream

FORMATS: Final[tuple[Format, ...]] = (
    audit_log.FORMAT,
    watch_stream.FORMAT,
    scenario.FORMAT,
    external_inputs.FORMAT,
    cache_dump.FORMAT,
    scheduler_conf.FORMAT,
    object_list.FORMAT,
    yaml_documents.FORMAT,
    scheduler_log.FORMAT,
    scheduler_log.PANIC,
)
"""The more distinctive the beginning of a format, the earlier it is tried."""


def recognise(head: bytes, name: str) -> Format | None:
    """Return the format of a document by its first bytes, None if there is none.

    :param name: the document's file name, a hint only.
    """
    for reader in FORMATS:
        if reader.sniff(head, name):
            return reader
    return None
