"""One word sent to one model over the real network, through the same executor as every request.

Must never retry (the first answer is what is asked about) and never show a key.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from motes import dispatch
from motes import particles as p
from motes.credentials import vendor_key
from motes.egress.failure import failure_of, presentable
from motes.egress.message_json import usage_json
from motes.executor.connection import open_client
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy
from motes.executor.run import Options
from motes.fragments import Message
from motes.intake import parse_request
from motes.reassembly import Reassembler
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS

_ONCE: Final = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
_QUESTION: Final = "Answer with one word: ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. `status` and `first_byte_s` are None where there was no answer at all."""

    model: str
    status: int | None
    first_byte_s: float | None
    usage: dict[str, Any] | None
    failure: str | None

    def lines(self) -> Iterator[str]:
        """The answer in words."""
        yield f"model: {self.model}"
        yield f"status: {self.status or 'no answer'}"
        if self.first_byte_s is not None:
            yield f"time to first byte: {self.first_byte_s * 1000:.0f} ms"
        counts = {name: count for name, count in (self.usage or {}).items() if count is not None}
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield f"usage seen: {told or 'none'}"
        yield f"failed: {self.failure}" if self.failure else "it answers"


async def probe(model: str, environ: Mapping[str, str], directory: Path) -> Answer:
    """Ask once. Raises MotesError for what cannot even be sent."""
    settings = load_settings(environ, directory)
    route = build_catalogue(VENDORS, ALIASES, settings).resolve(model)
    secret = vendor_key(route.vendor.id, route.vendor.key_name, settings, environ)
    request = parse_request({"messages": [{"role": "user", "content": _QUESTION}], "stream": True})
    vendor = speaking(route.vendor, None, route.model)
    plan = dispatch.generate(request, vendor, route.model, secret=secret)
    arrivals: list[tuple[int, float]] = []
    started = asyncio.get_running_loop().time()

    async def arrived(response: httpx.Response) -> None:
        arrivals.append((response.status_code, asyncio.get_running_loop().time() - started))

    async with open_client() as http:
        http.event_hooks = {"response": [arrived]}
        message = await _answer(plan, http)
    status, seconds = arrivals[0] if arrivals else (None, None)
    return Answer(
        model=plan.label,
        status=status,
        first_byte_s=seconds,
        usage=usage_json(message.metrics),
        failure=_failure(message, secret),
    )


async def _answer(plan: dispatch.Dispatch, http: httpx.AsyncClient) -> Message:
    reassembler = Reassembler()
    async with aclosing(run(plan, http, Options(policy=_ONCE))) as particles:
        async for particle in particles:
            reassembler.feed(particle)
    return reassembler.finalize()


def _failure(message: Message, secret: str | None) -> str | None:
    if message.outcome == "completed":
        return None
    issue = message.issue or p.Issue("dispatch-read", failure_of(None).message, failure_of(None))
    shown = presentable(issue, secret)
    kind = shown.error.kind if shown.error else "server_error"
    return f"{shown.text} ({kind})"
