"""The deadline a host gives, in virtual time: 20 seconds, and a vendor that would go on for 60."""

import asyncio
import json
from dataclasses import replace

import pytest

from fakes.memory_runs import MemoryRuns
from fakes.serving import ASK, AUTH, KEY, STREAM, vendor_row
from fakes.tiny import Answer, Listener, Upstream
from fakes.upstream import chat_chunk
from fakes.virtual_time import in_virtual_time
from motes.api.app import create_app
from motes.api.deadline import deadline_of, extension
from motes.api.gateway import Backing, open_gateway
from motes.executor.policy import Policy
from motes.settings import load_settings

LIMIT, WARNED, ENDED = 20.0, 5.0, 17.0
TALK = Answer([move for _ in range(60) for move in (chat_chunk({"content": "word "}), 1.0)])
VENDORS = {
    "talking": [TALK],
    "heartbeats": [Answer([move for _ in range(60) for move in (b": ping\n\n", 1.0)])],
    "silent": [Answer([60.0])],
    "without-an-answer": [Answer([60.0], lead=60.0)],
    # The second attempt falls between the warning and the end.
    "backing-off": [Answer([], status=429, headers={"retry-after": "8"}), TALK],
}
AWAY_FOR_LONG = [Answer([], status=429, headers={"retry-after": "30"})]
STEPS = {"without-an-answer": "connecting", "silent": "waiting", "backing-off": "backing-off"}
EGRESSES = {
    "chat": ("/v1/chat/completions", STREAM, "application/json"),
    "whole": ("/v1/chat/completions", ASK, "application/json"),
    "lines": ("/v1/particles", ASK, "application/x-ndjson"),
    "events": ("/v1/particles", ASK, "text/event-stream"),
}


class Reply:
    """What the app sent, and when."""

    def __init__(self):
        self.status = 0
        self.body = b""
        self.wrote_at = []

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message.get("body"):
            self.body += message["body"]
            self.wrote_at.append(asyncio.get_running_loop().time())


def scope_of(path, accept, deadline):
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
        "extensions": extension(deadline),
    }


async def answered(home, vendor, egress, **environ):
    """One request under a deadline: the reply with its times from the start, and what the observer heard."""
    (home / "motes.toml").write_text(vendor_row("https://fake.invalid/v1"))
    surroundings = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY, **environ}
    heard, upstream = Listener(), Upstream(*VENDORS.get(vendor, AWAY_FOR_LONG))
    gateway = open_gateway(
        load_settings(surroundings, home),
        surroundings,
        policy=Policy(),
        backing=Backing(http=upstream.client(), store=MemoryRuns()),
    )
    gateway = replace(gateway, observer=heard, chores=())
    path, body, accept = EGRESSES[egress]
    started, reply = asyncio.get_running_loop().time(), Reply()
    incoming = asyncio.Queue()
    incoming.put_nowait({"type": "http.request", "body": json.dumps(body).encode(), "more_body": False})
    await create_app(gateway)(scope_of(path, accept, started + LIMIT), incoming.get, reply.send)
    reply.wrote_at = [at - started for at in reply.wrote_at]
    return reply, heard


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("egress", EGRESSES)
@in_virtual_time
async def test_a_run_is_warned_of_at_five_seconds_and_ended_at_seventeen(tmp_path, egress, vendor):
    reply, heard = await answered(tmp_path, vendor, egress)
    (slow,) = heard.slow
    assert (slow.elapsed, slow.remaining) == (pytest.approx(WARNED), pytest.approx(LIMIT - WARNED))
    assert slow.step == STEPS.get(vendor, "reading")
    ((_, end, metrics),) = heard.ends
    assert end.reason == "issue-dispatch-rpc"
    assert metrics.all_ms == pytest.approx(ENDED * 1000, abs=1)
    assert reply.wrote_at[-1] == pytest.approx(ENDED)
    (issue,) = heard.issues
    assert (issue.phase, issue.error.kind, issue.error.code) == (
        "dispatch-read",
        "timeout",
        "platform_deadline",
    )
    assert issue.error.retryable
    text = reply.body.decode()
    assert reply.status == (504 if egress == "whole" else 200)
    if egress == "chat":
        error, done = text.split("\n\n")[-3:-1]
        assert '"code":"platform_deadline"' in error
        assert done == "data: [DONE]"
    elif egress == "whole":
        assert json.loads(text)["error"]["motes"]["code"] == "platform_deadline"
    else:
        rows = [json.loads(row.removeprefix("data: ")) for row in text.splitlines() if row[:1] in ("{", "d")]
        assert [row["cg"] for row in rows[-2:]] == ["issue", "end"]


@in_virtual_time
async def test_both_margins_are_settings(tmp_path):
    margins = {"MOTES_DEADLINE_WARN_S": "12", "MOTES_DEADLINE_STOP_S": "1"}
    reply, heard = await answered(tmp_path, "talking", "chat", **margins)
    assert heard.slow[0].elapsed == pytest.approx(8.0)
    assert reply.wrote_at[-1] == pytest.approx(19.0)


@in_virtual_time
async def test_the_operators_own_limit_holds_where_it_is_nearer(tmp_path):
    reply, _ = await answered(tmp_path, "talking", "chat", MOTES_DEADLINE_S="10")
    assert reply.wrote_at[-1] == pytest.approx(7.0)
    reply, _ = await answered(tmp_path, "talking", "chat", MOTES_DEADLINE_S="100")
    assert reply.wrote_at[-1] == pytest.approx(ENDED)


@in_virtual_time
async def test_a_back_off_that_would_outlast_the_deadline_is_not_begun(tmp_path):
    reply, heard = await answered(tmp_path, "away-for-long", "chat")
    assert reply.status == 429
    assert not heard.retries


def test_a_host_without_a_limit_says_nothing():
    assert deadline_of({}) is None
    assert deadline_of({"extensions": None}) is None
    assert deadline_of({"extensions": {}}) is None
    assert deadline_of({"extensions": extension(5.0)}) == 5.0
