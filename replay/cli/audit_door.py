"""Where ``plinian record`` takes the batches of an audit webhook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .shell import note

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from ..capture.audit_inbox import AuditInbox
    from ..capture.audit_losses import AuditLosses
    from ..capture.outbox import Room
    from ..capture.recorded_cluster import RecordOptions
    from ..server.recorder_site import Beside
    from ..server.settings import ServerSettings

_SPOOL = ".audit-spool"


class AuditDoor:
    """Listens for batches, which the inbox of the epoch that is recorded now takes.

    :param spool: the folder of batches that are not in the log yet.
    """

    def __init__(self, settings: ServerSettings, spool: Path) -> None:
        self._settings, self._spool = settings, spool
        self._inbox: AuditInbox | None = None

    def inbox(
        self, room: Room, chosen: RecordOptions, losses: AuditLosses, now: Callable[[], int]
    ) -> AuditInbox:
        """Return the inbox of an epoch; from now on it takes the batches."""
        from ..capture.audit_inbox import AuditInbox
        from ..capture.outbox import Outbox

        self._inbox = AuditInbox(
            Outbox(room),
            room,
            self._spool,
            cluster=chosen.cluster,
            now=now,
            redact=chosen.redact,
            losses=losses,
        )
        return self._inbox

    def opened(self, logger: FilteringBoundLogger) -> Beside:
        """Take the port, and answer in a thread.

        :raises AddressUnavailable: the port is in use, or the address is not this machine's.
        """
        from ..server.audit_webhook import audit_application
        from ..server.recorder_site import Beside
        from ..server.running import Listening

        beside = Beside(
            Listening(
                self._settings,
                lambda bound: audit_application(self._accept, bound.token),
                ready=lambda bound: note(f"plinian: an audit webhook may send to {bound.origin}/"),
                logger=logger,
            )
        )
        beside.start()
        return beside

    def _accept(self, body: bytes) -> None:
        assert self._inbox is not None, "the port is taken after the first inbox is made"
        self._inbox.accept(body)


class AskedWebhook(NamedTuple):
    """Where batches come in, as options say it. :param at: ``ADDRESS:PORT``."""

    at: str | None
    token_file: Path | None
    certificate: Path | None
    key: Path | None


def audit_door(asked: AskedWebhook, place: str, branch: str) -> AuditDoor | None:
    """Return where batches come in; None if none are wanted.

    :raises UsageError: there is no token or no certificate, or a file cannot be used.
    """
    from ...engine.errors import UsageError
    from ...engine.log.location import parse_location
    from ..server.access_token import token_in
    from ..server.settings import ServerSettings
    from ..server.tls import tls_of

    if asked.at is None:
        return None
    address, colon, port = asked.at.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"{asked.at!r} is no address with a port", now="as in --audit-webhook 0.0.0.0:9443"
        )
    tls = tls_of(asked.certificate, asked.key, None)
    if asked.token_file is None or tls is None:
        raise UsageError(
            "an audit log must not be sent in the open, or by anybody",
            now="give --audit-token-file, --audit-cert and --audit-key",
        )
    settings = ServerSettings(
        place=place,
        branch=branch,
        address=address.strip("[]") or "0.0.0.0",  # noqa: S104 -- the user left the address out
        port=int(port),
        token=token_in(asked.token_file),
        tls=tls,
    )
    # Of a log in Postgres, it is in the folder where the recorder runs.
    spool = Path(f"{parse_location(place).path or 'plinian'}{_SPOOL}")
    return AuditDoor(settings, spool)
