"""The demo itself: a vendor, a gateway and a client on one machine.

The demo vendor is a process, the gateway a thread with its own loop, the client speaks to the gateway over
a socket. Must never read the user's settings or keys, and ends what it started.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, get_args

import httpx

from motes import jsontext
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.cli.show import Kind, Show
from motes.cli.terminal import Terminal
from motes.codec import from_wire
from motes.dataclass import dataclass
from motes.demo.rows import demo_rows
from motes.demux.jsonl import JSONLinesDemuxer
from motes.hosts.local import running
from motes.settings import Settings

_HEARTBEAT_S: Final = 1.0
_FAREWELL_S: Final = 3.0
# Three connection attempts and the commit rule's patience, with room to spare.
_TIMEOUT: Final = httpx.Timeout(15.0)
_CITY: Final = {"type": "object", "properties": {"city": {"type": "string"}, "format": {"type": "string"}}}
_TOOL: Final = {"type": "function", "function": {"name": "get_time", "parameters": _CITY}}


@dataclass(frozen=True, slots=True)
class Vendor:
    """The demo vendor's process."""

    process: "subprocess.Popen[bytes]"
    base_urls: Mapping[str, str]


def rehearse(question: str, terminal: Terminal) -> int:
    """Stream one answer in each dialect to the terminal; 1 if anything that should come did not."""
    try:
        with tempfile.TemporaryDirectory(prefix="motes-demo-") as home, _vendor() as vendor:
            failure = _perform(question, Path(home), vendor, terminal)
            if failure is not None and vendor.process.poll() is not None:
                failure = f"the demo vendor has died (exit status {vendor.process.returncode}): {failure}"
    except (OSError, RuntimeError) as error:
        failure = f"the demo cannot start: {error}"
    if failure is not None:
        terminal.line()
        terminal.error(failure)
        return 1
    terminal.line("All three dialects came through one gateway as one stream.", "green")
    terminal.line("README.md says how to add a vendor.")
    terminal.line("Next: `motes serve` (in a checkout `uv run motes serve`) runs it for your own clients.")
    return 0


def _perform(question: str, home: Path, vendor: Vendor, terminal: Terminal) -> str | None:
    """Why it failed, or None."""
    rows = demo_rows(vendor.base_urls)
    gateway = open_gateway(Settings(home=home, heartbeat_s=_HEARTBEAT_S), {}, rows=rows.values())
    _, secret = asyncio.run(gateway.keys.new("demo"))
    with running(create_app(gateway)) as url:
        terminal.line(f"gateway      {url}", "dim")
        terminal.line(f"demo vendor  {vendor.base_urls['demo']}  (process {vendor.process.pid})", "dim")
        headings = {f"{id}/hello": row.surfaces[0].dialect for id, row in rows.items()}
        return asyncio.run(_ask_each(url, secret, headings, question, terminal))


async def _ask_each(
    url: str, secret: str, headings: Mapping[str, str], question: str, terminal: Terminal
) -> str | None:
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(headers=headers, timeout=_TIMEOUT, trust_env=False) as http:
        for model, dialect in headings.items():
            terminal.line()
            terminal.line(f"{dialect}  ({model})", "bold underline")
            failure = await _ask(http, f"{url}/particles", _request(model, question), Show(terminal))
            if failure is not None:
                return f"{dialect}: {failure}"
    terminal.line()
    return None


def _request(model: str, question: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": question}], "tools": [_TOOL]}


async def _ask(http: httpx.AsyncClient, url: str, request: dict[str, Any], show: Show) -> str | None:
    """One answer, shown as it comes. Why it failed, or None."""
    lines = JSONLinesDemuxer()
    try:
        async with http.stream("POST", url, json=request) as answer:
            if answer.status_code != httpx.codes.OK:
                return _refused(answer.status_code, await answer.aread())
            async for data in answer.aiter_raw():
                for event in lines.feed(data):
                    show.feed(from_wire(jsontext.loads(event.data)))
    except httpx.HTTPError as error:
        return f"the gateway's stream broke ({type(error).__name__})"
    missing = [kind for kind in get_args(Kind) if kind not in show.seen]
    if show.end is None or show.failure is not None:
        return show.failure or "the stream has no end"
    return f"the answer came without {', '.join(missing)}" if missing else None


def _refused(status: int, body: bytes) -> str:
    error = (jsontext.as_object(body.decode("utf-8", "replace")) or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return f"HTTP {status}: {message or 'no reason given'}"


@contextmanager
def _vendor() -> Iterator[Vendor]:
    """The demo vendor, serving. It ends when its standard input does."""
    command = [sys.executable, "-m", "motes.demo"]
    # Away from the terminal's interrupts: it ends through its standard input, in good order.
    process = subprocess.Popen(  # noqa: S603 (our own module)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None  # noqa: S101 (it is a pipe; this is for the type)
        told = jsontext.as_object(process.stdout.readline().decode("utf-8", "replace"))
        if told is None:
            raise RuntimeError("the demo vendor does not start")
        yield Vendor(process, told)
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_FAREWELL_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
