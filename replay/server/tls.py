"""Encrypted connections: the files of a server's certificate, and of those who sign clients'."""

from __future__ import annotations

import ssl
from pathlib import Path

from ...engine.errors import UsageError
from .settings import Tls


def tls_of(certificate: Path | None, key: Path | None, clients: Path | None) -> Tls | None:
    """Return how connections are encrypted, after a look at the files; None if they are not.

    :raises UsageError: a file is missing, cannot be read, or does not fit to another.
    """
    if certificate is None and key is None and clients is None:
        return None
    if certificate is None or key is None:
        raise UsageError(
            "encryption needs a certificate and its key", now="give --tls-cert and --tls-key"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A password would be asked for on the terminal, where a service waits for ever.
        context.load_cert_chain(certificate, key, _no_password)
    except (OSError, ssl.SSLError, ValueError) as fault:
        raise UsageError(
            f"the certificate and the key cannot be used: {_reason(fault)}",
            where=str(certificate),
            now="give files in PEM, the key without a password",
        ) from fault
    try:
        if clients is not None:
            context.load_verify_locations(clients)
    except (OSError, ssl.SSLError, ValueError) as fault:
        raise UsageError(
            f"the certificates of those who sign clients' cannot be used: {_reason(fault)}",
            where=str(clients),
            now="give a file in PEM",
        ) from fault
    return Tls(str(certificate), str(key), "" if clients is None else str(clients))


def _no_password() -> str:
    raise ValueError("the key has a password")


def _reason(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLError):
        return (fault.reason or "they do not fit together").lower().replace("_", " ")
    return fault.strerror or str(fault) if isinstance(fault, OSError) else str(fault)
