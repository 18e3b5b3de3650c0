"""Requests to a live API server: transport by urllib3, authentication as kubectl has it.

The package ``kubernetes`` reads the kubeconfig: certificates, tokens, exec plugins, OIDC, a pod's
service account, proxies. Nothing else of it is used: its models are slower than a busy cluster.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

import msgspec

from ...engine.errors import PlinianError, UsageError
from .plain_faults import plain_fault, plain_refusal
from .recorder_kubeconfig import (
    asking_user,
    is_in_cluster,
    library_errors,
    needs_credentials,
    without_credentials,
)

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
FIRST_SECONDS = 10.0
"""How long the first answer may take before it is said that there is none."""

_CONNECTIONS = 64
_UNAUTHORIZED = 401
_EMPTY_HEADER = "Bearer "
"""What the package makes of a token that is empty."""

_LONGEST_BODY = 2**20
"""Bytes that are read of an answer that is an error."""

_CHUNK = 2**16


class Unreachable(PlinianError):
    """The API server did not answer, or its answer broke off."""


class Stalled(Unreachable):
    """The API server keeps the connection, and sends nothing."""


class ServerRefusal(PlinianError):
    """The API server answered with an error.

    :param code: of HTTP. :param retry_after: seconds that the server asks to wait; None if not.
    """

    def __init__(
        self,
        code: int,
        what: str,
        *,
        where: str = "",
        now: str = "",
        retry_after: float | None,
    ) -> None:
        super().__init__(what, where=where, now=now)
        self.code, self.retry_after = code, retry_after


class Body(Protocol):
    """The body of an answer, while it arrives."""

    def chunks(self) -> Iterator[bytes]:
        """Yield pieces as they arrive.

        :raises Unreachable: it breaks off. :raises Stalled: nothing arrives for too long.
        """

    def close(self) -> None:
        """Give the answer up; another thread that waits for a piece is woken."""


class Access(Protocol):
    """What a recorder needs of an API server."""

    def open(self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = "") -> Body:
        """Ask, and return the body of the answer.

        :param quiet: seconds without any byte after which the answer counts as dead.
        :raises Unreachable: there is no answer. :raises ServerRefusal: it is an error.
        """


def whole(
    access: Access,
    path: str,
    query: Mapping[str, str],
    *,
    accept: str = "",
    quiet: float = READ_SECONDS,
) -> bytes:
    """Return the whole body of an answer.

    :param quiet: as of :meth:`Access.open`.
    :raises Unreachable: as :meth:`Access.open`. :raises ServerRefusal: as :meth:`Access.open`.
    """
    body = access.open(path, query, quiet=quiet, accept=accept)
    try:
        return b"".join(body.chunks())
    finally:
        body.close()


class ClusterAccess:
    """An API server, by a kubeconfig or from within a pod; threads may share it.

    :param kubeconfig: a path; None for ``$KUBECONFIG``, ``~/.kube/config``, or the service account
        of the pod that this runs in.
    :raises UsageError: the extra ``live`` is not installed, or no cluster is configured.
    """

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        self._kubeconfig, self._context = kubeconfig, context
        self._lock = threading.Lock()
        self._settings, self._pool = self._loaded()

    @property
    def server(self) -> str:
        """The address of the API server."""
        return str(self._settings.host).rstrip("/")

    def open(self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = "") -> Body:
        """Ask, and return the body of the answer; credentials that expired are read again once."""
        answer, used = self._asked(path, query, quiet, accept)
        if answer.status == _UNAUTHORIZED:
            answer.close()  # Its body was not read, so no other request can have the connection.
            self._renew(used)
            answer, _ = self._asked(path, query, quiet, accept)
        if answer.status >= 300:
            raise _refusal(answer, f"GET {path}", self.server)
        return _UrllibBody(answer, self.server, quiet)

    def for_websocket(self) -> tuple[Any, dict[str, str]]:
        """Return the settings of a connection for the package ``kubernetes``, and its headers."""
        with self._lock:
            token = self._token()
        return self._settings, {"authorization": token} if token else {}

    def _asked(
        self, path: str, query: Mapping[str, str], quiet: float, accept: str
    ) -> tuple[BaseHTTPResponse, str]:
        from urllib3 import Timeout  # noqa: PLC0415 -- of the extra
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        url = f"{self.server}{path}?{urlencode(query)}" if query else f"{self.server}{path}"
        with self._lock:  # An exec plugin runs once, not once a thread.
            token = self._token()
            pool = self._pool
        headers = {"Accept": accept or "application/json", "User-Agent": "plinian-record"}
        if token:
            headers["Authorization"] = token
        try:
            answer = pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                retries=False,
                redirect=False,
                timeout=Timeout(connect=CONNECT_SECONDS, read=quiet),
            )
        except (HTTPError, OSError) as fault:
            raise _unreachable(fault, self.server, quiet) from fault
        return answer, token

    def _token(self) -> str:
        """Return the value of the header; an exec plugin or a token file may give a new one."""
        try:
            with library_errors():  # A plugin that fails leaves the token, until it is refused.
                given = self._settings.auth_settings().get("BearerToken", {}).get("value")
        except Exception as fault:  # Whatever a plugin raises.
            raise _no_credentials(fault, self.server) from fault
        return given or (self._settings.get_basic_auth_token() if self._settings.username else "")

    def _renew(self, used: str) -> None:
        """Read the credentials again, unless another thread just did."""
        with self._lock:
            if self._token() != used:
                return
            try:
                self._settings, self._pool = self._loaded()
            except UsageError as fault:  # It may be in the middle of being written.
                raise _no_credentials(fault, self.server) from fault

    def _loaded(self) -> tuple[Any, Any]:
        try:
            from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415
            from kubernetes.config import (  # noqa: PLC0415
                load_incluster_config,
                load_kube_config,
            )
            from urllib3 import disable_warnings  # noqa: PLC0415
            from urllib3.exceptions import InsecureRequestWarning  # noqa: PLC0415
        except ImportError as fault:
            raise UsageError(
                "recording a live cluster needs the package kubernetes, which is not installed",
                now="pip install 'plinian[live]'",
            ) from fault
        settings = Configuration()
        settings.connection_pool_maxsize = _CONNECTIONS
        if self._kubeconfig is None and self._context is None and is_in_cluster():
            with _understood("the service account of the pod"):
                load_incluster_config(client_configuration=settings)
        else:
            user = asking_user(self._kubeconfig, self._context)
            with _understood(user.place), library_errors() as said:
                load_kube_config(
                    config_file=user.place,
                    context=user.context,
                    client_configuration=settings,
                    persist_config=False,
                )
            shown = settings.api_key.get("BearerToken", _EMPTY_HEADER)
            has_some = shown != _EMPTY_HEADER or bool(settings.cert_file)
            if said or (needs_credentials(user) and not has_some):
                raise without_credentials(user, said, has_some=has_some)
        if not settings.verify_ssl:  # The kubeconfig says so; each request would be warned about.
            disable_warnings(InsecureRequestWarning)
        return settings, ApiClient(configuration=settings).rest_client.pool_manager


@contextmanager
def _understood(place: str) -> Iterator[None]:
    """Say what the package says of a file. One of another form raises what its parts raise."""
    try:
        yield
    except Exception as fault:
        raise UsageError(
            f"no cluster is configured: {' '.join(str(fault).split())}",
            where=place,
            now="correct the file, or name another with --kubeconfig or --context",
        ) from fault


class _UrllibBody:
    """The body of an answer of urllib3."""

    def __init__(self, answer: BaseHTTPResponse, server: str, quiet: float) -> None:
        self._answer, self._server, self._quiet = answer, server, quiet

    def chunks(self) -> Iterator[bytes]:
        from urllib3.exceptions import HTTPError, ReadTimeoutError  # noqa: PLC0415 -- of the extra

        answer = self._answer
        try:
            # Each chunk as it comes: a stream with a buffer keeps the last event of a quiet watch.
            if getattr(answer, "chunked", False):
                yield from answer.read_chunked(decode_content=True)
            else:
                yield from answer.stream(_CHUNK, decode_content=True)
        except ReadTimeoutError as fault:
            raise Stalled(
                "it keeps the connection and sends nothing", where=self._server
            ) from fault
        # A connection that another thread closed fails in any of these ways.
        except (HTTPError, OSError, ValueError, AttributeError) as fault:
            raise _unreachable(fault, self._server, self._quiet) from fault

    def close(self) -> None:
        with suppress(OSError, ValueError, RuntimeError, AttributeError):  # It may be closed.
            self._answer.shutdown()
        self._answer.close()


def _no_credentials(fault: Exception, where: str) -> Unreachable:
    now = "try kubectl with this context"
    return Unreachable(f"no credentials: {fault}", where=where, now=now)


def _unreachable(fault: Exception, where: str, quiet: float) -> Unreachable:
    said = plain_fault(fault, connect=CONNECT_SECONDS, quiet=quiet)
    return Unreachable(said.what, where=where, now=said.now)


class _Status(msgspec.Struct):
    message: str = ""


def _refusal(answer: BaseHTTPResponse, where: str, server: str) -> ServerRefusal:
    """Return the error that an answer is, with the server's own words."""
    try:
        text = answer.read(_LONGEST_BODY, decode_content=True)
        message = msgspec.json.decode(text, type=_Status).message
    except Exception:  # noqa: BLE001 -- an answer that cannot be read is one without words
        message = ""
    answer.close()
    after = answer.headers.get("Retry-After", "")
    said = plain_refusal(answer.status, message)
    return ServerRefusal(
        answer.status,
        said.what,
        # Credentials that are refused are so for all that is asked.
        where=server if answer.status == _UNAUTHORIZED else where,
        now=said.now,
        retry_after=float(after) if after.isdecimal() and len(after) < 6 else None,
    )


NO_QUERY: Mapping[str, str] = MappingProxyType({})
