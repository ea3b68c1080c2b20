"""A run of fifty minutes under a host that ends every request after fifteen: one message, one usage."""

import asyncio
import json

import pytest

from fakes.memory_runs import MemoryRuns
from fakes.run_streams import events_of, lines_of, message_of, position_after, text_of
from fakes.serving import AUTH, KEY
from fakes.stored_vendor import Script, StoredVendor
from fakes.virtual_time import in_virtual_time
from motes.api.app import create_app
from motes.api.deadline import BLIND, extension
from motes.api.gateway import Backing, open_gateway
from motes.settings import load_settings

LIMIT = 900.0
MINUTE = Script(words=tuple(f"minute {n}. " for n in range(50)), pace=60.0)
USER = [{"role": "user", "content": "Take your time."}]
MODELS = {"openai": "openai/m", "gemini": "gemini/gemini-3-flash-preview"}


def process(home, vendor, store):
    """A fresh process of the function: nothing of the one before but the store."""
    environ = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY}
    (home / "motes.toml").write_text(vendor.toml())
    settings = load_settings(environ, home)
    gateway = open_gateway(settings, environ, backing=Backing(http=vendor.client(), store=store))
    return create_app(gateway)


async def asked(app, method, path, body=None):
    """A stream under the platform's deadline: its run and what came."""
    status, head, got = await answered(app, method, path, body)
    assert status == 200
    return head[b"x-motes-run-id"].decode(), got


async def answered(app, method, path, body=None):
    """One request under the platform's deadline: status, headers and body."""
    path, _, query = path.partition("?")
    headers = {"content-type": "application/json", "accept": "*/*", **AUTH}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "root_path": "",
        "scheme": "https",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "extensions": extension(asyncio.get_running_loop().time() + LIMIT) | {BLIND: {}},
    }
    incoming, got, head, status = asyncio.Queue(), b"", {}, 0
    incoming.put_nowait({"type": "http.request", "body": json.dumps(body or {}).encode(), "more_body": False})

    async def send(message):
        nonlocal got, head, status
        if message["type"] == "http.response.start":
            status, head = message["status"], dict(message["headers"])
        got += message.get("body", b"")

    await app(scope, incoming.get, send)
    return status, head, got


@pytest.mark.parametrize("house", MODELS)
@in_virtual_time
async def test_particles_of_a_run_that_crosses_three_deadlines_are_one_message_with_one_usage(
    tmp_path, house
):
    vendor, store = StoredVendor(script=MINUTE), MemoryRuns()
    body = {"model": MODELS[house], "messages": USER, "stream": True, "motes": {"background": True}}
    run, got = await asked(process(tmp_path, vendor, store), "POST", "/v1/particles", body)
    lines, requests = lines_of(got), 1
    while lines[-1].get("err", {}) or "resume" in json.dumps(lines[-2:]):
        issue = lines[-2]
        assert issue["err"]["vendorCode"] == "platform_deadline"
        assert issue["err"]["retryable"]
        lines = [line for line in lines if "seq" in line]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        path = issue["err"]["details"]["resume"]
        assert path == f"/v1/runs/{run}/particles?after={len(lines)}"
        again, got = await asked(process(tmp_path, vendor, store), "GET", path)
        assert again == run
        lines += lines_of(got)
        requests += 1
    assert requests == 4
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    message = message_of(lines)
    assert (message.outcome, message.text) == ("completed", MINUTE.text)
    counts = [line["metrics"] for line in lines if line.get("cg") == "set-metrics"]
    assert {(count["TIn"], count["TOut"]) for count in counts if "TOut" in count} == {MINUTE.usage}
    assert sum(line.get("cg") == "end" for line in lines) == 1
    await asyncio.sleep(1)
    assert vendor.only().deleted
    assert len(vendor.runs) == 1
    assert store.runs[run].outcome == "completed"


@pytest.mark.parametrize("house", MODELS)
@in_virtual_time
async def test_openai_chunks_of_such_a_run_say_how_to_go_on_and_are_one_answer(tmp_path, house):
    vendor, store = StoredVendor(script=MINUTE), MemoryRuns()
    options = {"stream_options": {"include_usage": True}}
    body = {"model": MODELS[house], "messages": USER, "stream": True, "motes": {"background": True}} | options
    run, got = await asked(process(tmp_path, vendor, store), "POST", "/v1/chat/completions", body)
    events = events_of(got)
    for _ in range(3):
        error = json.loads(events[-2].removeprefix(b"data: "))["error"]
        assert (error["motes"]["code"], error["motes"]["run_id"]) == ("platform_deadline", run)
        assert error["motes"]["retryable"]
        assert run in error["message"]
        events = events[:-2]
        path = f"/v1/chat/completions/chatcmpl-{run}?starting_after={position_after(events)}"
        _, got = await asked(process(tmp_path, vendor, store), "GET", path)
        events += events_of(got)
    assert text_of(events) == MINUTE.text
    assert events[-1].endswith(b"data: [DONE]\n\n")
    usage = [json.loads(event.split(b"data: ")[1])["usage"] for event in events if b'"usage":{' in event]
    assert [(one["prompt_tokens"], one["completion_tokens"]) for one in usage] == [MINUTE.usage]


@in_virtual_time
async def test_an_answer_that_is_not_streamed_says_where_it_goes_on_and_is_not_to_be_asked_for_again(
    tmp_path,
):
    vendor, store = StoredVendor(script=MINUTE), MemoryRuns()
    body = {"model": "openai/m", "messages": USER, "motes": {"background": True}}
    app = process(tmp_path, vendor, store)
    status, head, got = await answered(app, "POST", "/v1/chat/completions", body)
    assert (status, head[b"x-should-retry"]) == (504, b"false")
    (run,) = store.runs
    told = json.loads(got)["error"]["motes"]
    assert (told["run_id"], told["code"]) == (run, "platform_deadline")
    assert told["resume"].startswith(f"/v1/runs/{run}/particles?after=")


@pytest.mark.parametrize("word", ["cancel", "detach:30"])
@in_virtual_time
async def test_a_host_that_does_not_see_a_reader_leave_promises_nothing_for_it(tmp_path, word):
    app = process(tmp_path, StoredVendor(), MemoryRuns())
    body = {"model": "openai/m", "messages": USER, "motes": {"on_disconnect": word}}
    status, _, got = await answered(app, "POST", "/v1/chat/completions", body)
    error = json.loads(got)["error"]
    assert (status, error["param"]) == (400, "motes.on_disconnect")
