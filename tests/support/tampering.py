"""SQL on a log's tables, as somebody who owns the database can run it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from plinian.engine.log.location import parse_location

Tamper = Callable[..., list[Any]]
WRITTEN_ONCE = ("event", "payload_block", "batch")


@contextmanager
def tampering(place: str) -> Iterator[Tamper]:
    """Give a function that runs a statement with its values, the triggers being gone."""
    location = parse_location(place)
    if location.database == "sqlite":
        file = sqlite3.connect(location.path, isolation_level=None)
        for table in WRITTEN_ONCE:
            for verb in ("update", "delete"):
                file.execute(f"DROP TRIGGER IF EXISTS {table}_refuse_{verb}")
        yield lambda sql, *values: file.execute(sql, values).fetchall()
        file.close()
        return
    with psycopg.connect(location.conninfo, autocommit=True) as server:
        server.execute(f"SET search_path TO {location.quoted_schema}")
        for table in WRITTEN_ONCE:
            server.execute(f"DROP TRIGGER IF EXISTS {table}_refuse_change ON {table}")

        def run(sql: str, *values: object) -> list[Any]:
            done = server.execute(sql.replace("?", "%s"), values)
            return done.fetchall() if done.description else []

        yield run
