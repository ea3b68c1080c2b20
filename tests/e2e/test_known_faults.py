"""Sixteen faults of an upstream that gateways are known to lose answers by: each ends right, or with a clean error.

Read by the official `openai` package over a real socket, as a stream and whole. `RIGHT` is the whole answer;
anything else is the kind of the one error that the client gets.
"""

import json
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

import openai
import pytest

from fakes.package_reading import read_stream
from fakes.serving import KEY, serving, vendor_row
from fakes.upstream import DONE, HELLO, SSE_HEAD, Reset, Sleep, UntilGone, Upstream, answer, chat_chunk, event
from motes.executor.policy import Backoff, Policy

AGAIN = Policy(http=Backoff(2, 0.0), connection=Backoff(2, 0.0))
RIGHT = "right"
TEXT = "Hello there"
IDLE_S = 0.6
BEGUN = HELLO[1:3]
PING = b": ping\n\n"
LIMITED = answer(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, retry_after="0")
BURST = answer(500, {"error": {"message": "internal"}})
TOO_LONG = answer(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
FILTERED = (SSE_HEAD, *BEGUN, chat_chunk({}, "content_filter"), DONE)
REFUSED = answer(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
OVERLOADED = event({"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}})
HTML = answer(200, b"<html><body>Bad gateway</body></html>", content_type="text/html")
IN_JSON = answer(200, {"error": {"message": "boom", "type": "server_error"}})
NO_FINISH = (SSE_HEAD, *HELLO[1:3], chat_chunk({"content": " there"}))
TWICE = (*HELLO, DONE)
BROKEN = (SSE_HEAD, HELLO[1], b'data: {"id": "x", "choices": [{\n\n', *HELLO[2:])


class Fault(NamedTuple):
    """One fault: the upstream's scripts, a request each, and what the client is told.

    `status` is that of an error which is known before the first byte; None where the answer had begun.
    """

    name: str
    scripts: tuple[tuple[Any, ...], ...]
    told: str
    status: int | None = None


FAULTS = (
    Fault("rate limit that says when to come again", ((LIMITED,), HELLO), RIGHT),
    Fault("rate limit for good", ((LIMITED,), (LIMITED,)), "rate_limit", 429),
    Fault("burst of internal errors", ((BURST,), HELLO), RIGHT),
    Fault("internal errors for good", ((BURST,), (BURST,)), "server_error", 502),
    Fault("slow first token", ((SSE_HEAD, Sleep(IDLE_S / 2), *HELLO[1:]),), RIGHT),
    Fault("cut within the answer", ((SSE_HEAD, *BEGUN, Sleep(0.05), Reset()),), "stream_truncated"),
    Fault("stall within the answer", ((SSE_HEAD, *BEGUN, UntilGone()),), "timeout"),
    Fault("malformed chunk", (BROKEN,), RIGHT),
    Fault("page of HTML with status 200", ((HTML,),), "protocol", 502),
    Fault("error in JSON with status 200", ((IN_JSON,),), "server_error", 502),
    Fault("prompt beyond the context", ((TOO_LONG,),), "context_length", 400),
    Fault("content filter", (FILTERED,), "content_filter"),
    Fault("key refused by the vendor", ((REFUSED,),), "authentication", 502),
    Fault("end mark told twice", (TWICE,), RIGHT),
    Fault("no finish reason and no end mark", (NO_FINISH,), "stream_truncated"),
    Fault("overload as the first event", ((SSE_HEAD, OVERLOADED), HELLO), RIGHT),
    Fault("pings and nothing else", ((SSE_HEAD, *[PING, Sleep(0.1)] * 12),), "stream_truncated", 502),
)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: Any, upstream: Upstream) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    rows = vendor_row(upstream.base_url) + f"[vendors.fake.timeouts]\nidle = {IDLE_S}\n"
    home = tmp_path_factory.mktemp("home")
    with serving(home, "heartbeat_s = 0.1\n" + rows + vendor_row(nobody, "absent"), AGAIN) as url:
        yield url


def whole(base_url: str, model: str) -> tuple[str, str, int | None]:
    """What the answer to a request without a stream is: its text, `RIGHT` or a kind, and the status."""
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=20) as client:
        try:
            made = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hi"}])
        except openai.APIStatusError as error:
            body: Any = error.body
            return "", body["motes"]["kind"], error.status_code
    choice = made.choices[0]
    return (
        choice.message.content or "",
        RIGHT if choice.finish_reason == "stop" else choice.finish_reason,
        None,
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_mended_or_told_on_a_stream(fault: Fault, base_url: str, upstream: Upstream) -> None:
    upstream.forget()
    for script in fault.scripts:
        upstream.play(*script)
    reading = read_stream(base_url, "fake/m")
    if fault.told == RIGHT:
        assert (reading.text, reading.finish_reasons, reading.error) == (TEXT, ["stop"], None)
        assert reading.usage is not None
        assert len(upstream.received) == len(fault.scripts)
    elif reading.error is None:
        assert reading.finish_reasons == [fault.told]
    else:
        assert reading.finish_reasons == []
        assert reading.error["kind"] == fault.told
        assert reading.error.get("http_status") == fault.status
    if "data: " in reading.raw:
        assert reading.raw.count("data: [DONE]") == 1
        assert reading.raw.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_mended_or_told_in_a_whole_answer(fault: Fault, base_url: str, upstream: Upstream) -> None:
    upstream.forget()
    for script in fault.scripts:
        upstream.play(*script)
    text, told, status = whole(base_url, "fake/m")
    assert told == fault.told
    if told == RIGHT:
        assert text == TEXT
    elif fault.status is not None:
        assert status == fault.status


def test_a_refused_connection_is_told_with_its_status(base_url: str) -> None:
    reading = read_stream(base_url, "absent/m")
    assert reading.error is not None
    assert reading.error["http_status"] == 502
    assert reading.error["retryable"]
    assert whole(base_url, "absent/m")[1:] == (reading.error["kind"], 502)


def test_every_error_says_what_happened_and_what_to_do(base_url: str, upstream: Upstream) -> None:
    for fault in FAULTS:
        if fault.status is None:
            continue
        upstream.forget()
        for script in fault.scripts:
            upstream.play(*script)
        reading = read_stream(base_url, "fake/m")
        told = json.loads(reading.raw)["error"]
        assert set(told) >= {"message", "type", "code", "param"}, fault.name
        assert told["message"], fault.name
