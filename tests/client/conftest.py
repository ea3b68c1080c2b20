"""A gateway in front of the demo vendor, on loopback, for a whole module."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.demo.rows import demo_rows
from motes.demo.server import DemoServer
from motes.hosts.local import running
from motes.settings import Settings

KEY = "test-key-of-the-caller"


@contextmanager
def demo_vendor() -> Iterator[Mapping[str, str]]:
    """The demo vendor in a thread of its own, without its pauses; gives its base URLs."""
    ready, told = threading.Event(), dict[str, object]()

    async def serve() -> None:
        async with DemoServer(pace=0) as server:
            told.update(urls=server.base_urls, loop=asyncio.get_running_loop(), over=asyncio.Event())
            ready.set()
            await told["over"].wait()  # type: ignore[attr-defined]

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield told["urls"]  # type: ignore[misc]
    finally:
        told["loop"].call_soon_threadsafe(told["over"].set)  # type: ignore[attr-defined]
        thread.join()


@pytest.fixture(scope="session")
def vendor() -> Iterator[Mapping[str, str]]:
    with demo_vendor() as base_urls:
        yield base_urls


@pytest.fixture(scope="session")
def gateway(vendor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a gateway whose vendors are the demo's; its key is `KEY`."""
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    app = create_app(open_gateway(settings, {"MOTES_API_KEY": KEY}, rows=demo_rows(vendor).values()))
    with running(app) as base_url:
        yield base_url
