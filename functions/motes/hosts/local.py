"""The app under uvicorn: in the foreground for `motes serve`, in a thread for the demo and for tests.

Must never listen on more than it was told to. The loopback address is the default everywhere.
"""

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from motes.hosts.bounded_head import BoundedHeadProtocol

LOOPBACK: Final = "127.0.0.1"
_KEEP_ALIVE_SECONDS: Final = 75
# What a stop grants to streams that are still open, and then to their last words: a run looks about once in
# a second, however silent its vendor.
_GRACE_SECONDS: Final = 3.0
_FAREWELL_SECONDS: Final = 2.0
_START_SECONDS: Final = 20.0


def gateway_app() -> ASGIApp:
    """The gateway of this environment, for any server: `uvicorn --factory motes.hosts.local:gateway_app`.

    Raises PrepareError for settings that cannot be.
    """
    load_httpx()
    from motes.api.app import create_app
    from motes.api.gateway import open_gateway
    from motes.hosts.log import LogObserver, log_to_stderr
    from motes.settings import load_settings

    log_to_stderr()
    settings = load_settings(os.environ, Path.cwd())
    gateway = open_gateway(settings, os.environ, observer=LogObserver())
    return create_app(gateway, is_always_on=True)


def load_httpx() -> None:
    """httpx without the terminal program in it, which loads Rich and Pygments where they are installed: a
    tenth of the start, and five megabytes. httpx does without where that module cannot be had.

    Source: Python, "The import system", the module cache (None there means that there is no such module).
    """
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment]
        import httpx  # noqa: F401 (loaded here for all)

        del sys.modules["httpx._main"]


def bind(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises OSError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setblocking(False)
    return listener


def base_url(listener: socket.socket) -> str:
    """The address to give to clients, with `/v1`."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104 (read, not bound)
    shown = f"[{reachable}]" if ":" in reachable else reachable
    return f"http://{shown}:{port}/v1"


class LocalServer(uvicorn.Server):
    """uvicorn, set up for long streams; `ready` is called once it serves. Told to stop it gives streams
    `grace` seconds to end by themselves, then calls `farewell`, which has them end in good order, and cuts
    off what is open two seconds later. It looks every `tick` seconds at the date it writes.
    """

    def __init__(
        self,
        app: ASGIApp,
        ready: Callable[[], None],
        farewell: Callable[[], None] | None = None,
        *,
        grace: float = _GRACE_SECONDS,
        tick: float = 1.0,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedHeadProtocol,
                lifespan="on",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                # Nothing here asks where a request comes from.
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                # uvicorn hands it to a wait that takes any number.
                timeout_graceful_shutdown=grace + _FAREWELL_SECONDS,  # type: ignore[arg-type]
            )
        )
        self._ready = ready
        self._farewell = farewell
        self._grace = grace
        self._tick = tick
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told_to_stop = asyncio.Event()

    def stop(self) -> None:
        """Have it end in good order. From any thread, at any time."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: it has ended.
                self._loop.call_soon_threadsafe(self._told_to_stop.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See uvicorn."""
        super().handle_exit(sig, frame)
        self.stop()

    async def main_loop(self) -> None:
        """See uvicorn, which looks ten times a second whether it is to stop. Here it is told: a process
        that has nothing to do sleeps. A signal that comes in the moment it falls asleep is seen a tick later.
        """
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._tick):
                    await self._told_to_stop.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if not self.started:
            return
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.shutdown, sockets)
            self._ready()
            undo.pop_all()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn, which cuts streams off. Here they are told before."""
        timer = None
        if self._farewell is not None:
            timer = asyncio.get_running_loop().call_later(self._grace, self._farewell)
        await super().shutdown(sockets)
        if timer is not None:
            timer.cancel()


def run_here(work: Coroutine[Any, Any, None]) -> None:
    """Run it to its end, on uvloop where that is installed: it needs half the time for a request."""
    with asyncio.Runner(loop_factory=uvicorn.Config("", log_config=None).get_loop_factory()) as runner:
        runner.run(work)


async def serve(
    app: ASGIApp, listener: socket.socket, ready: Callable[[], None], farewell: Callable[[], None]
) -> None:
    """Serve until the process is told to stop; see `LocalServer`."""
    await LocalServer(app, ready, farewell).serve([listener])


@contextmanager
def running(app: ASGIApp, host: str = LOOPBACK, port: int = 0) -> Iterator[str]:
    """Serve in a thread of its own for as long as the block lasts; gives the base URL, with `/v1`."""
    listener, started = bind(host, port), threading.Event()
    server = LocalServer(app, started.set)
    thread = threading.Thread(target=_serve_in_thread, args=(server, listener, started), daemon=True)
    thread.start()
    try:
        if not started.wait(_START_SECONDS) or not server.started:
            raise RuntimeError("the local server did not start")
        yield base_url(listener)
    finally:
        server.stop()
        thread.join()
        listener.close()


def _serve_in_thread(server: LocalServer, listener: socket.socket, started: threading.Event) -> None:
    try:
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(server.serve([listener]))
    finally:
        started.set()
