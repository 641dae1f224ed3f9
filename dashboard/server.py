"""Serves an ASGI application from a thread of the process that runs the match."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Sequence
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from dashboard.access import AccessGuard, is_loopback
from dashboard.connections import ACCEPTED_AT_ONCE, SOCKET_BYTES_MAX, BoundedProtocol, BoundedServer, BoundedSocket
from dashboard.roles import Verifier
from football.errors import UserError

#: Time after which a response that has not ended is cancelled. Streams end within one of their ticks after a stop.
_STOP_S: Final = 5
#: Key in the scope of a mounted application's requests with the event that ends all streams.
STOPPING: Final = "touchline.stopping"


class ServerError(UserError):
    """The routes cannot be served at this address; the message has the reason and the remedy."""


class PortInUseError(ServerError):
    """Another program listens at the address."""


class TokenNeededError(ServerError):
    """The address can be reached from other machines, and there is no token."""


def build_application(
    routes: Sequence[BaseRoute], token: str = "", verify: Verifier | None = None, *, closed: bool = False
) -> Starlette:
    """Build the ASGI application over ``routes``, behind the access check. ``state.stopping`` ends its streams."""
    guard = Middleware(AccessGuard, token, verify or (lambda digest: None), closed=closed)
    application = Starlette(routes=routes, middleware=[guard])
    application.router.redirect_slashes = False  # such a redirect repeats the Host header that the client has sent
    application.state.stopping = threading.Event()
    return application


class WebServer:
    """Serves routes from its construction to :meth:`stop`; a context manager.

    Args:
        routes: the first one that matches a path answers.
        host: interface to bind; anything but loopback needs a token.
        port: 0 takes a free one.
        token, verify: see :class:`dashboard.access.AccessGuard`.
        option: the option of the command line that chooses the port; the error names it.

    Attributes:
        url: without the token.

    Raises:
        TokenNeededError: ``host`` can be reached from other machines and there is no token.
        PortInUseError: the port is taken.
        ServerError: the address cannot be bound for another reason.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        verify: Verifier | None = None,
        option: str = "--port",
    ) -> None:
        if not token and verify is None and not is_loopback(host):
            raise TokenNeededError(
                f"the server would be open to every machine that reaches {host}: set a token (TOUCHLINE_TOKEN), "
                "or bind it to 127.0.0.1"
            )
        listener = _bind(host, port, option)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{listener.getsockname()[1]}"
        application = build_application(routes, token, verify, closed=not is_loopback(host))
        self._stopping: threading.Event = application.state.stopping
        # In a thread uvicorn installs no signal handlers: signals belong to the run.
        self._server = BoundedServer(
            uvicorn.Config(
                application,
                loop="asyncio",
                http=BoundedProtocol,
                ws=BoundedSocket,
                ws_max_size=SOCKET_BYTES_MAX,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                # The access check logs what fails; a request that a stop cancels is no failure.
                log_level="critical",
                access_log=False,
                server_header=False,
                backlog=ACCEPTED_AT_ONCE,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=_STOP_S,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="web server", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End all streams and free the port. May be called twice."""
        self._stopping.set()
        self._server.should_exit = True
        self._thread.join()

    def __enter__(self) -> WebServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def _bind(host: str, port: int, option: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise PortInUseError(
                f"port {port} on {host} is in use by another program: stop it, or choose another with {option}"
            ) from error
        raise ServerError(f"cannot listen on {host}:{port}: {error}") from error
    return listener
