"""What the log says of a request, and what it must never say."""

import logging
import re
import time
from dataclasses import replace

import pytest

from fakes.serving import ASK, KEY, STREAM, VENDOR_KEY, client, serving, vendor_row
from fakes.upstream import DONE, HELLO, SSE_HEAD, Reset, Sleep, answer, chat_chunk, event
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.api.logline import logline
from motes.hosts.local import running
from motes.settings import Settings

CHAT = "/chat/completions"
QUESTION = "a very private question"
PRIVATE = ASK | {"messages": [{"role": "user", "content": QUESTION}], "motes": {"context": "nightly job"}}


def lines_of(caplog, event, count=1):
    """The lines of one event; the last ones are written just after the client has its answer."""
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        found = [line for record in caplog.records if (line := record.getMessage()).startswith(event)]
        if len(found) >= count:
            return found
        time.sleep(0.005)
    raise AssertionError(f"{count} lines of {event!r} never came: {caplog.messages}")


def test_a_line_is_an_event_and_its_fields():
    line = logline("slow_request", vendor="v", context="a b", gone=None, elapsed=1.23456, n=3, e="")
    assert str(line) == 'slow_request vendor=v context="a b" elapsed=1.235 n=3 e=""'


@pytest.mark.parametrize("value", ["a\nrequest status=200", "a\rb", "\u2028", "\x1b[31m", 'q"', "é=1"])
def test_no_value_can_forge_a_line(value):
    line = str(logline("request", context=value))
    assert line.isprintable()
    assert line.isascii()
    assert " status=200" not in line.replace(r"\nrequest status=200", "")


def test_a_request_is_one_line_with_who_what_and_how_it_went(gateway, upstream, caplog):
    caplog.set_level(logging.INFO)
    upstream.play(*HELLO)
    told = gateway.post(CHAT, json=PRIVATE, headers={"x-request-id": "r-1"}).json()
    (line,) = lines_of(caplog, "request ")
    for field in ("method=POST", "status=200", "request_id=r-1", "caller=environment", "model=fake/m"):
        assert f" {field}" in line
    assert 'context="nightly job"' in line
    assert f" run={told['id'].removeprefix('chatcmpl-')}" in line
    assert re.search(r" seconds=\d+\.\d{3}", line)
    (ended,) = lines_of(caplog, "run_ended ")
    assert "reason=done-dialect stop=ok" in ended
    assert "tokens_in=5 tokens_out=2" in ended


@pytest.mark.parametrize("body", [PRIVATE, PRIVATE | {"stream": True}])
def test_no_body_and_no_key_is_ever_in_the_log(gateway, upstream, caplog, body):
    caplog.set_level(logging.DEBUG)
    said = f"what is this: {QUESTION}? and {VENDOR_KEY}?"
    upstream.play(answer(400, {"error": {"message": said}}))
    upstream.play(answer(401, {"error": {"message": said}}))
    upstream.play(SSE_HEAD, chat_chunk({"content": QUESTION}), Sleep(0.05), Reset())
    for _ in range(3):
        gateway.post(CHAT, json=body)
    gateway.post(CHAT, content=QUESTION.encode())
    gateway.get("/models", headers={"authorization": "Bearer another-secret"})
    lines_of(caplog, "request ", 5)
    lines_of(caplog, "run_failed ", 3)
    for secret in (QUESTION, KEY, VENDOR_KEY, "another-secret"):
        assert secret not in caplog.text


def test_a_bug_of_ours_is_500_with_a_request_id_and_the_server_lives(tmp_path):
    def broken():
        raise LookupError("inner secret")

    (tmp_path / "state").mkdir()
    environ = {"MOTES_API_KEY": KEY, "OPENAI_API_KEY": "sk-x"}
    gateway = replace(open_gateway(Settings(home=tmp_path / "state"), environ), new_id=broken)
    with running(create_app(gateway)) as url, client(url) as caller:
        response = caller.post(CHAT, json=STREAM | {"model": "openai/m"}, headers={"x-request-id": "r-2"})
        assert caller.get("/models").status_code == 200
    error = response.json()["error"]
    assert (response.status_code, error["code"], response.headers["x-request-id"]) == (
        500,
        "internal_error",
        "r-2",
    )
    assert "r-2" in error["message"]
    assert "inner secret" not in response.text
    assert response.headers["access-control-allow-origin"] == "*"


def test_a_run_that_takes_too_long_is_ended_in_good_order(tmp_path, upstream, caplog):
    caplog.set_level(logging.WARNING)
    upstream.play(SSE_HEAD, chat_chunk({"content": "half"}), Sleep(5))
    toml = "deadline_s = 0.6\ndeadline_warn_s = 0.4\ndeadline_stop_s = 0.2\n"
    with serving(tmp_path, toml + vendor_row(upstream.base_url)) as url, client(url) as caller:
        whole = caller.post(CHAT, json=PRIVATE)
    assert whole.status_code == 504
    assert whole.json()["error"]["motes"]["partial"] == "half"
    (line,) = lines_of(caplog, "slow_request ")
    assert 'vendor=fake model=m dialect=openai-chat context="nightly job"' in line


def test_what_a_vendor_sent_amiss_is_a_line_each_kind_without_its_words(gateway, upstream, caplog):
    said = (SSE_HEAD, chat_chunk({"content": "x"}), event("{secret"), event("{secret"))
    upstream.play(*said, chat_chunk({}, "secret_of_tomorrow"), DONE)
    with caplog.at_level("INFO", logger="motes"):
        told = gateway.post(CHAT, json=ASK).json()
    assert told["choices"][0]["finish_reason"] == "stop"
    assert told["motes"]["native_finish_reason"] == "secret_of_tomorrow"
    codes = ("bad_event", "unknown_finish_reason")
    assert lines_of(caplog, "tolerated ", 2) == [f"tolerated model=fake/m code={code}" for code in codes]
    assert "secret" not in caplog.text


def test_what_we_changed_in_a_request_is_no_news_of_its_vendor(gateway, upstream, caplog):
    upstream.play(*HELLO)
    orphan = {"role": "tool", "tool_call_id": "none", "content": "late"}
    with caplog.at_level("INFO", logger="motes"):
        told = gateway.post(CHAT, json=ASK | {"messages": [*ASK["messages"], orphan]}).json()
    assert told["motes"]["warnings"]
    assert "tolerated" not in caplog.text
