"""Where a log is: a path or a URL, parsed once."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from ..errors import UsageError

DEFAULT_SCHEMA = "plinian"

_SECRET_OPTIONS = frozenset({"password", "sslpassword"})
"""Options of libpq that a URL can have after its question mark, and that nothing prints."""

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
    def name(self) -> str:
        """The name of the file or of the database, without where that is."""
        if self.database == "sqlite":
            return PurePath(self.path).name or self.path
        return unquote(urlsplit(self.shown).path.rpartition("/")[2]) or "log"

    def without_secrets(self, text: str) -> str:
        """Return a text without the passwords of the URL: libpq can quote parts of it."""
        # The longest first: a shorter one may be a part of it.
        for secret in sorted(_secrets(self.conninfo), key=len, reverse=True):
            text = text.replace(secret, "…")
        return text

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
            where=f"{scheme}://{_without_options(rest.rpartition('@')[2])}",  # Before: a password.
            now="give a path, sqlite:///path.db, or postgresql://user@host/database?schema=name",
        )
    return _postgres(place)


def _postgres(place: str) -> Location:
    try:
        parts = urlsplit(place)
    except ValueError as fault:
        raise UsageError(
            f"this is not a URL: {fault}",
            where=_without_options(place.rpartition("@")[2]),  # Before it may be a password.
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


def shown_place(place: str) -> str:
    """Return a path or a URL of a log as everything prints it: without a password.

    :raises UsageError: it is none.
    """
    return parse_location(place).shown


def log_name(place: str) -> str:
    """Return the name of a log for a title: that of its file, or of its database.

    :raises UsageError: it is no path or URL of a log.
    """
    return parse_location(place).name


def _without_password(place: str) -> str:
    parts = urlsplit(place)
    query = _without_options(f"?{parts.query}")[1:]
    stray = "@" in parts.path or ("@" not in parts.netloc and "@" in parts.query)
    if stray or parts.fragment:  # A password has a /, a ? or a # that is not escaped.
        rest = _without_options(place.rpartition("@")[2]) if "@" in place else "…"
        return f"postgresql://…@{rest}"
    user, at, host = parts.netloc.rpartition("@")
    netloc = f"{user.partition(':')[0]}{at}{host}"
    shown = urlunsplit(("postgresql", netloc, parts.path, query, ""))
    return shown if netloc else f"postgresql://{parts.path}?{query}".rstrip("?")


def _without_options(text: str) -> str:
    """Return the end of a URL without the options that are secret."""
    before, mark, query = text.partition("?")
    left = [option for option in query.split("&") if not _is_secret(option)]
    return f"{before}{mark}{'&'.join(left)}"


def _is_secret(option: str) -> bool:
    return unquote(option.partition("=")[0]).strip().lower() in _SECRET_OPTIONS


def _secrets(place: str) -> set[str]:
    """Return the passwords in a URL, as they are written and as they are meant."""
    _, _, rest = place.partition("://")
    before, _, query = rest.partition("?")
    passwords = {before.rpartition("@")[0].partition(":")[2]}
    passwords |= {option.partition("=")[2] for option in query.split("&") if _is_secret(option)}
    return {form for password in passwords for form in (password, unquote(password)) if form}
