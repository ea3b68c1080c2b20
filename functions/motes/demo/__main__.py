"""`python -m motes.demo`: the demo vendor as a process of its own, for `motes demo`.

Says its base URLs as one JSON line on standard output, then serves until standard input ends: it dies with
the process that started it.
"""

import asyncio
import contextlib
import sys
import threading

from motes import jsontext
from motes.demo.server import DemoServer


async def _serve() -> None:
    async with DemoServer() as server:
        sys.stdout.write(jsontext.dumps(dict(server.base_urls)) + "\n")
        sys.stdout.flush()
        await _end_of_input()


async def _end_of_input() -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        sys.stdin.buffer.read()
        with contextlib.suppress(RuntimeError):  # the loop is closed: an interrupt came first
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, daemon=True).start()
    await ended.wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
