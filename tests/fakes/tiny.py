"""A wire protocol small enough to read at a glance, and a scripted upstream that speaks it in virtual time.

One JSON object a line; each key is something the upstream does. `stop` is its evidence of completion.
"""

import asyncio
import json
from dataclasses import dataclass, field

import httpx

from motes import particles as p
from motes.demux.jsonl import JSONLinesDemuxer
from motes.dispatch import Dispatch, UpstreamRequest
from motes.executor.observer import NullObserver
from motes.vendor_errors import from_body


class TinyParser:
    """`boom` is a bug of ours."""

    def __init__(self):
        self.actions = {
            "text": lambda out, value: out.text(value),
            "model": lambda out, value: out.model(value),
            "id": lambda out, value: out.response_id(value),
            "call": lambda out, value: out.tool_call(None, value),
            "usage": lambda out, value: out.usage(**value),
            "cited": lambda out, value: out.add(p.Citation("t", "u", start=value[0], end=value[1])),
            "handle": lambda out, value: out.handle(p.UpstreamHandle("tiny", value)),
            "error": lambda out, value: out.issue(from_body({"error": value})),
            "pause": lambda out, value: out.resume(value, "tiny pause"),
            "stop": self._stop,
            "stopped": lambda out, value: out.stop(value),
        }

    def parse(self, event, out):
        data = json.loads(event.data)
        if not isinstance(data, dict):
            raise ValueError("not an object")
        for key, value in data.items():
            if key == "boom":
                raise RuntimeError(value)
            if key in self.actions:
                self.actions[key](out, value)

    def eof(self, out):
        pass

    def _stop(self, out, value):
        out.stop(value)
        out.done()


def line(**said):
    return json.dumps(said).encode() + b"\n"


def tiny_dispatch(url="http://tiny.invalid/v1", **changes):
    request = UpstreamRequest(
        method="POST", url=url, headers={"authorization": "Bearer sk-secret"}, body=b'{"messages":[]}'
    )
    values = {
        "vendor": "tiny",
        "model": "t-1",
        "dialect": "tiny",
        "request": request,
        "demuxer": JSONLinesDemuxer,
        "parser": TinyParser,
        "context": "a test",
    }
    return Dispatch(**(values | changes))


class Body(httpx.AsyncByteStream):
    """Moves in order: bytes are sent, a number is seconds of silence, an exception is raised."""

    def __init__(self, moves):
        self.moves = moves
        self.closed = False

    async def __aiter__(self):
        for move in self.moves:
            if isinstance(move, Exception):
                raise move
            if isinstance(move, bytes):
                yield move
            else:
                await asyncio.sleep(move)

    async def aclose(self):
        self.closed = True


@dataclass
class Answer:
    """One answer: `lead` seconds, then the status, then the body's moves."""

    moves: list
    status: int = 200
    headers: dict = field(default_factory=dict)
    lead: float = 0.0


class Upstream:
    """Answers in order (an exception is raised instead); the last one is repeated."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.times = []
        self.bodies = []

    def client(self):
        return httpx.AsyncClient(transport=httpx.MockTransport(self._handle))

    async def _handle(self, request):
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        await asyncio.sleep(answer.lead)
        self.bodies.append(Body(answer.moves))
        return httpx.Response(answer.status, headers=answer.headers, stream=self.bodies[-1])


class Listener(NullObserver):
    """Keeps all it hears."""

    def __init__(self):
        self.slow, self.retries, self.issues, self.bugs, self.ends = [], [], [], [], []
        self.warnings = []

    def slow_request(self, report):
        self.slow.append(report)

    def retrying(self, label, reset):
        self.retries.append(reset)

    def failed(self, label, issue):
        self.issues.append(issue)

    def warned(self, label, warning):
        self.warnings.append((label, warning.code))

    def bug(self, label, error):
        self.bugs.append(error)

    def run_ended(self, label, end, metrics):
        self.ends.append((label, end, metrics))


GOOD = [line(model="t-1"), line(text="Hello"), line(usage={"tokens_in": 3, "tokens_out": 5}), line(stop="ok")]
