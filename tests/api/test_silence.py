"""Never more than ten seconds without a byte, in virtual time: whatever the vendor's rhythm, on every stream."""

import asyncio
import itertools
import json

import pytest

from fakes.memory_runs import MemoryRuns
from fakes.serving import AUTH, KEY, STREAM, vendor_row
from fakes.tiny import Answer, Upstream
from fakes.upstream import DONE, chat_chunk
from fakes.virtual_time import in_virtual_time
from motes.api.app import create_app
from motes.api.gateway import Backing, open_gateway
from motes.executor.policy import Policy
from motes.settings import load_settings

LONGEST = 10.0
WORD, THOUGHT = chat_chunk({"content": "word "}), chat_chunk({"reasoning_content": "hm"})
END = (chat_chunk({}, "stop"), DONE)
RHYTHMS = {
    "silent before its answer": [Answer([WORD, *END], lead=100.0)],
    "silent before its first byte": [Answer([100.0, WORD, *END])],
    "silent after its first word": [Answer([WORD, 100.0, *END])],
    "a little less than the interval": [Answer([*[step for _ in range(9) for step in (9.9, WORD)], *END])],
    "between two looks at the clock": [Answer([*[step for _ in range(9) for step in (9.74, WORD)], *END])],
    "out of step with every clock": [
        Answer([*[step for _ in range(40) for step in (3.37, WORD)], 33.3, *END])
    ],
    "thoughts that are not told": [
        Answer([WORD, *[step for _ in range(40) for step in (3.37, THOUGHT)], *END])
    ],
    "pings of its own": [Answer([WORD, *[step for _ in range(300) for step in (0.37, b": ping\n\n")], *END])],
    "a pause between attempts": [
        Answer([], status=429, headers={"retry-after": "45"}),
        Answer([WORD, 20.0, *END]),
    ],
}
STREAMS = {
    "chat": ("/v1/chat/completions", "application/json", {}),
    "chat without comments": ("/v1/chat/completions", "application/json", {"keepalive": "empty-delta"}),
    "chat without reasoning": ("/v1/chat/completions", "application/json", {"reasoning_field": "none"}),
    "chat that can be joined again": ("/v1/chat/completions", "application/json", {"resumable": True}),
    "lines": ("/v1/particles", "application/x-ndjson", {}),
    "events": ("/v1/particles", "text/event-stream", {}),
}
COMMENTED = ("chat", "chat without reasoning", "chat that can be joined again")
SIGNS = {
    "comment": b": keepalive\n",
    "empty delta": b'"delta":{},"logprobs":null,"finish_reason":null',
    "heartbeat": '{"p":"❤"}'.encode(),
}
SIGN_OF = {
    **dict.fromkeys(COMMENTED, "comment"),
    "chat without comments": "empty delta",
    "lines": "heartbeat",
    "events": "heartbeat",
}


def scope_of(path, accept):
    headers = {"content-type": "application/json", "accept": accept, **AUTH}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "root_path": "",
        "scheme": "https",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


async def sent(home, rhythm, stream):
    """Every piece of the answer with its second from the start, the head among them."""
    (home / "motes.toml").write_text(vendor_row("https://fake.invalid/v1"))
    surroundings = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY}
    gateway = open_gateway(
        load_settings(surroundings, home),
        surroundings,
        policy=Policy(),
        backing=Backing(http=Upstream(*RHYTHMS[rhythm]).client(), store=MemoryRuns()),
    )
    path, accept, choices = STREAMS[stream]
    clock, pieces, incoming = asyncio.get_running_loop().time, [], asyncio.Queue()
    body = json.dumps(STREAM | {"motes": choices}).encode()
    incoming.put_nowait({"type": "http.request", "body": body, "more_body": False})
    started = clock()

    async def send(message):
        if message["type"] == "http.response.start" or message.get("body"):
            pieces.append((clock() - started, message.get("body", b"")))

    await create_app(gateway)(scope_of(path, accept), incoming.get, send)
    return pieces


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("rhythm", RHYTHMS)
@in_virtual_time
async def test_a_stream_is_never_silent_for_longer_than_ten_seconds(tmp_path, rhythm, stream):
    pieces = await sent(tmp_path, rhythm, stream)
    times = [0.0, *[at for at, _ in pieces]]
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) <= LONGEST
    raw = b"".join(piece for _, piece in pieces)
    assert b"word " in raw
    assert b": keepalive" not in raw or stream in COMMENTED
    # A comment and an event with an id that follow each other make some clients fail: nobody gets one unasked.
    assert (b"id: " in raw) is (stream in ("chat that can be joined again", "events"))
    assert b": keepalive\n\n" not in raw


@pytest.mark.parametrize("stream", STREAMS)
@in_virtual_time
async def test_each_stream_has_a_sign_of_life_of_its_own(tmp_path, stream):
    raw = b"".join(piece for _, piece in await sent(tmp_path, "silent after its first word", stream))
    assert [sign for sign in SIGNS if SIGNS[sign] in raw] == [SIGN_OF[stream]]
