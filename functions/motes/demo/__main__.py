"""`python -m motes.demo`: the demo vendor as a process of its own, for `motes demo`.

Says its base URLs as one JSON line on standard output, then serves until standard input ends: it dies with
the process that started it.
"""

import asyncio
import sys

from motes import jsontext
from motes.demo.server import DemoServer


async def _serve() -> None:
    async with DemoServer() as server:
        sys.stdout.write(jsontext.dumps(dict(server.base_urls)) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(_serve())
