"""HTTP engines alone: what a read, an event and a request cost in the client, and what loading one costs.

    uv run --group bench python -m tests.bench.engines

The engine of motes, httpx's own (httpcore), and aiohttp, each reading the mock vendor's streams as they come:
all at once, paced (an event a read), and short ones. Processor time of the process; rounds are interleaved.
"""

import asyncio
import random
import ssl
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import httpx
import uvloop
from tests.bench.targets import ROOT, VENDOR_PORT
from tests.bench.wires import PATHS, Script

from motes.engine.body import BODY
from motes.engine.transport import Transport

URL = f"http://127.0.0.1:{VENDOR_PORT}{PATHS['anthropic-messages']}"
CONNECTIONS, ROUNDS = 8, 3
LOADS = {
    "engine": "import httpx, ssl; from motes.engine.transport import Transport; httpx.AsyncClient(transport="
    "Transport(ssl.create_default_context, trust_env=True))",
    "httpx": "import httpx, ssl; httpx.AsyncClient(verify=ssl.create_default_context())",
    "aiohttp": "import aiohttp, ssl; ssl.create_default_context()",
}
Ask = Callable[[bytes], Awaitable[int]]


def clients() -> dict[str, tuple[Ask, Callable[[], Awaitable[None]]]]:
    """By name: how to ask and read to the end (gives the bytes), and how to close."""
    engine = httpx.AsyncClient(transport=Transport(ssl.create_default_context, trust_env=False))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    plain = httpx.AsyncClient(timeout=None, limits=limits, trust_env=False)  # noqa: S113 (nothing hangs here)
    session = aiohttp.ClientSession(auto_decompress=False)

    async def by_engine(body: bytes) -> int:
        response = await engine.send(engine.build_request("POST", URL, content=body), stream=True)
        size, source = 0, response.extensions[BODY]
        while data := await source.read(None):
            size += len(data)
        await response.aclose()
        return size

    async def by_httpx(body: bytes) -> int:
        async with plain.stream("POST", URL, content=body) as response:
            return sum([len(data) async for data in response.aiter_raw()])

    async def by_aiohttp(body: bytes) -> int:
        async with session.post(URL, data=body) as response:
            return sum([len(data) async for data in response.content.iter_any()])

    return {
        "engine": (by_engine, engine.aclose),
        "httpx": (by_httpx, plain.aclose),
        "aiohttp": (by_aiohttp, session.close),
    }


async def cost(ask: Ask, script: Script, requests: int) -> float:
    """Seconds of processor time a request."""
    body = script.words().encode()
    started = time.process_time_ns()
    for _ in range(requests):
        sizes = await asyncio.gather(*(ask(body) for _ in range(CONNECTIONS)))
        assert len(set(sizes)) == 1
    return (time.process_time_ns() - started) / 1e9 / requests / CONNECTIONS


async def measured() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    asked = clients()
    for _ in range(ROUNDS):
        for name in random.sample(list(asked), len(asked)):
            ask, _ = asked[name]
            request = await cost(ask, Script(n=1), 60)
            found[name]["µs a request"].append(request * 1e6)
            found[name]["µs an event, all at once"].append(
                (await cost(ask, Script(n=2000), 4) - request) / 2e-3
            )
            paced = await cost(ask, Script(n=100, pause=10_000), 2) - request
            found[name]["µs an event a read"].append(paced * 1e4)
    for _, close in asked.values():
        await close()
    return found


def loading(program: str) -> tuple[float, float]:
    """Milliseconds of processor time and MiB at its highest, in a process of its own."""
    tell = "; import time; print(time.process_time() * 1e3, open('/proc/self/status').read())"
    told = subprocess.run([sys.executable, "-c", program + tell], capture_output=True, check=True, cwd=ROOT)
    cpu, _, status = told.stdout.decode().partition(" ")
    return float(cpu), int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    vendor = subprocess.Popen([sys.executable, "-m", "tests.bench.vendor", str(VENDOR_PORT)], cwd=ROOT)
    try:
        time.sleep(1)
        found: dict[str, Any] = uvloop.run(measured())
    finally:
        vendor.terminate()
    loads = {name: [loading(program) for _ in range(5)] for name, program in LOADS.items()}
    for name, pairs in loads.items():
        found[name]["loading, CPU ms"] = [cpu for cpu, _ in pairs]
        found[name]["loading, MiB"] = [memory for _, memory in pairs]
    names = list(found["engine"])
    lines = [f"| client | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for client, figures in found.items():
        cells = [f"{statistics.median(figures[name]):.3g}" for name in names]
        lines.append(f"| {client} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
