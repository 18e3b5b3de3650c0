"""Where a log is: a path or a URL, parsed once."""

from __future__ import annotations

from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from ..errors import UsageError

DEFAULT_SCHEMA = "plinian"

_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one log.

    :param path: the file of an SQLite log, else empty.
    :param conninfo: what libpq needs for a Postgres log, else empty.
    :param schema: the Postgres schema that holds the log, else empty.
    :param shown: the place as messages print it: without a password.
    """

    database: Literal["sqlite", "postgres"]
    path: str = ""
    conninfo: str = ""
    schema: str = ""
    shown: str

    @property
    def quoted_schema(self) -> str:
        """The schema as an SQL identifier."""
        return '"' + self.schema.replace('"', '""') + '"'


def parse_location(place: str) -> Location:
    """Parse a path, ``sqlite:///path`` or ``postgresql://user@host/database?schema=name``.

    :raises UsageError: a URL of another database, or an empty place.
    """
    if not place:
        raise UsageError("no log is named", now="give --log FILE or --log URL, or set PLINIAN_LOG")
    scheme, separator, rest = place.partition("://")
    if not separator:
        return Location(database="sqlite", path=place, shown=place)
    if scheme == "sqlite":
        if not rest.startswith("/") or len(rest) == 1:
            raise UsageError(
                "an SQLite URL needs three slashes and a path",
                where=place,
                now="write sqlite:///relative/path.db or sqlite:////absolute/path.db",
            )
        path = unquote(rest[1:])
        return Location(database="sqlite", path=path, shown=path)
    if scheme not in _POSTGRES:
        raise UsageError(
            f"{scheme!r} is not a database that Plinian knows",
            where=f"{scheme}://{rest.rpartition('@')[2]}",  # Before it may be a password.
            now="give a path, sqlite:///path.db, or postgresql://user@host/database?schema=name",
        )
    return _postgres(place)


def _postgres(place: str) -> Location:
    try:
        parts = urlsplit(place)
    except ValueError as fault:
        raise UsageError(
            f"this is not a URL: {fault}",
            where=place.rpartition("@")[2],  # The part before it may have a password.
            now="write postgresql://user@host:port/database?schema=name",
        ) from None
    options = parse_qsl(parts.query, keep_blank_values=True)
    schema = dict(options).get("schema", "") or DEFAULT_SCHEMA
    query = urlencode([(key, value) for key, value in options if key != "schema"], quote_via=quote)
    return Location(
        database="postgres",
        # An empty authority (postgresql:///name) would lose its slashes in urlunsplit.
        conninfo=f"postgresql://{parts.netloc}{parts.path}" + (f"?{query}" if query else ""),
        schema=schema,
        shown=_without_password(place),
    )


def _without_password(place: str) -> str:
    parts = urlsplit(place)
    user, at, host = parts.netloc.rpartition("@")
    netloc = f"{user.partition(':')[0]}{at}{host}"
    shown = urlunsplit(("postgresql", netloc, parts.path, parts.query, ""))
    return shown if netloc else f"postgresql://{parts.path}?{parts.query}".rstrip("?")
