"""How things end that end badly: what the client sees, and what the log says."""

import base64
import json
import threading
from collections import deque

import httpx
import pytest

from fakes.aws_lambda import KILL, TERMINATE
from fakes.lambda_environment import Limits
from fakes.serving import ASK, STREAM
from fakes.upstream import HELLO, SSE_HEAD, Gate, Reset, UntilGone, chat_chunk
from hosts.commands import caller, events, http_event, odd, until

CHAT = "/v1/chat/completions"
SECRET = "a private word"
BROKEN = "incomplete chunked read"


@pytest.fixture(scope="module")
def strange(launch):
    return launch(odd(), limits=Limits(timeout=2.0)).warm()


def lines_of(function, call):
    """The log's lines of one invocation."""
    return [line for line in map(json.loads, function.log) if line.get("requestId") == call.id]


def stream_of(client, path="/v1/chat/completions", **headers):
    return client.stream("POST", path, json=STREAM, headers=headers)


def read_to_the_break(response):
    """What came before the connection broke."""
    return until_the_break(response.iter_raw()).decode()


def until_the_break(pieces):
    seen = []
    with pytest.raises(httpx.RemoteProtocolError, match=BROKEN):
        deque((seen.append(piece) for piece in pieces), maxlen=0)
    return b"".join(seen)


# The process dies.


def test_a_kill_in_mid_stream_cuts_the_client_and_the_next_call_finds_a_new_process(launch, upstream):
    function = launch().warm()
    upstream.play(SSE_HEAD, chat_chunk({"content": "one"}), UntilGone())
    upstream.play(*HELLO)
    first = function.pid
    with caller(function) as client:
        with stream_of(client) as response:
            pieces = response.iter_raw()
            while b"one" not in next(pieces):
                pass
            function.signal(KILL)
            with pytest.raises(httpx.RemoteProtocolError, match=BROKEN):
                list(pieces)
        upstream.wait_until_gone()
        assert function.environments[-1].init_error is None
        assert not any(
            line.get("event") in ("request", "run_ended") for line in map(json.loads, function.log)
        )
        assert client.post(CHAT, json=ASK).json()["choices"][0]["message"]["content"] == "Hello there"
    assert function.pid != first


def test_a_call_through_the_api_is_told_of_the_kill(launch, upstream):
    function = launch().warm()
    upstream.play(SSE_HEAD, chat_chunk({"content": "one"}), UntilGone())
    event = http_event(CHAT, "POST", body=json.dumps(STREAM))
    event["headers"]["content-type"] = "application/json"
    told = []
    thread = threading.Thread(target=lambda: told.extend(function.invoke_with_response_stream(event)))
    thread.start()
    until(lambda: function.calls and function.calls[-1].pieces)
    function.signal(KILL)
    thread.join(20)
    assert told[-1]["InvokeComplete"]["ErrorCode"] == "Runtime.ExitError"


def test_time_that_is_up_is_a_kill_where_the_process_is_stuck(strange):
    with caller(strange) as client, client.stream("GET", "/block") as response:
        seen = read_to_the_break(response)
    assert events(seen) == [{"n": 1}]
    assert any("Task timed out" in line for line in strange.log)
    assert strange.wait_for_exit() == -KILL
    assert strange.invoke({"motes": "ping"})[1] is None
    strange.log[:] = [line for line in strange.log if line.startswith("{")]


# The platform says stop.


def test_a_stop_ends_a_stream_in_good_order(launch, upstream):
    function = launch().warm()
    upstream.play(SSE_HEAD, chat_chunk({"content": "one"}), UntilGone())
    with caller(function) as client, stream_of(client) as response:
        pieces = response.iter_raw()
        seen = next(pieces)
        function.signal(TERMINATE)
        seen += until_the_break(pieces)
    *_, error, done = events(seen.decode())
    assert (error["error"]["code"], done) == ("gateway_stopping", "[DONE]")
    assert error["error"]["motes"]["retryable"] is True
    assert function.wait_for_exit() == 0
    upstream.wait_until_gone()
    assert function.line("request_stopped", requestId=function.calls[-1].id)
    assert function.line("run_ended", requestId=function.calls[-1].id)["reason"] == "done-dispatch-aborted"
    assert function.line("stopped")


def test_a_stop_before_the_first_byte_is_a_503(launch, upstream):
    function = launch().warm()
    upstream.play(SSE_HEAD, UntilGone())
    answers = []
    with caller(function) as client:
        thread = threading.Thread(target=lambda: answers.append(client.post(CHAT, json=ASK)))
        thread.start()
        until(lambda: upstream.received)
        function.signal(TERMINATE)
        thread.join(20)
    assert (answers[0].status_code, answers[0].json()["error"]["code"]) == (503, "gateway_stopping")
    assert answers[0].headers["access-control-allow-origin"] == "*"
    assert function.wait_for_exit() == 0


def test_a_stop_while_nothing_is_asked_is_the_end_of_the_apps_life(launch):
    function = launch(odd()).warm()
    function.signal(TERMINATE)
    assert function.wait_for_exit() == 0
    assert function.line("shut_down")
    assert function.line("stopped")


# The upstream breaks.


def test_an_upstream_that_is_cut_is_an_error_in_the_stream_and_a_count(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "one"}), Gate("cut"), Reset())
    with caller(gateway) as client, stream_of(client) as response:
        pieces = response.iter_raw()
        seen = next(pieces)
        upstream.open("cut")
        seen += b"".join(pieces)
    *_, error, done = events(seen.decode())
    assert (error["error"]["code"], done) == ("stream_truncated", "[DONE]")
    line = gateway.line("run_failed", requestId=gateway.calls[-1].id)
    assert (line["level"], line["kind"], line["model"], line["Truncations"]) == (
        "WARNING",
        "stream_truncated",
        "fake/m",
        1,
    )


# The app raises.


@pytest.mark.parametrize("path", ["/raise", "/raise-after-the-head", "/say-nothing", "/misspeak"])
def test_an_app_that_fails_before_the_first_byte_is_a_500(strange, path):
    with caller(strange) as client:
        answer = client.get(path)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (500, "internal_error", "server_error")
    assert answer.headers["content-type"] == "application/json"
    assert strange.calls[-1].id in error["message"]
    assert SECRET not in answer.text
    event = "response_unfinished" if path == "/say-nothing" else "handler_failed"
    line = strange.line(event, requestId=strange.calls[-1].id)
    assert line["level"] == "ERROR"
    assert path == "/say-nothing" or line["errorType"] == "RuntimeError"


def test_an_app_that_fails_in_a_stream_says_so_in_the_stream(strange):
    with caller(strange) as client, client.stream("GET", "/raise-in-a-stream") as response:
        seen = read_to_the_break(response)
    first, error, done = events(seen)
    assert (first, error["error"]["code"], done) == ({"n": 1}, "internal_error", "[DONE]")
    assert SECRET not in seen
    assert SECRET in strange.line("handler_failed", requestId=strange.calls[-1].id)["stackTrace"][-1]


def test_an_app_that_leaves_in_a_stream_has_failed_too(strange):
    with caller(strange) as client, client.stream("GET", "/leave") as response:
        assert events(read_to_the_break(response))[1]["error"]["code"] == "internal_error"
    assert strange.line("response_unfinished", requestId=strange.calls[-1].id)


def test_particles_end_in_particles(strange):
    for path in ("/raise-in-lines", "/events/particles"):
        with caller(strange) as client, client.stream("GET", path) as response:
            seen = read_to_the_break(response)
        datas = [
            line.removeprefix("data: ") for line in seen.splitlines() if line.startswith(("{", "data: "))
        ]
        first, issue, end = map(json.loads, datas)
        assert first == {"t": "so far"}
        assert (issue["cg"], issue["issueId"], issue["err"]["vendorCode"]) == (
            "issue",
            "dispatch-read",
            "internal_error",
        )
        assert (end["cg"], end["terminationReason"]) == ("end", "issue-dispatch-rpc")


def test_a_language_without_words_for_it_just_breaks_off(strange):
    with caller(strange) as client, client.stream("GET", "/raise-in-text") as response:
        assert read_to_the_break(response) == "so far"


def test_the_platform_is_told_in_trailers_why_a_stream_broke(strange):
    *_, last = strange.invoke_with_response_stream(http_event("/raise-in-a-stream"))
    complete = last["InvokeComplete"]
    assert complete["ErrorCode"] == "Motes.InternalError"
    details = json.loads(base64.b64decode(complete["ErrorDetails"]))
    assert details["errorType"] == "Motes.InternalError"
    assert SECRET not in json.dumps(details)


def test_an_error_before_the_first_byte_is_none_for_the_platform(strange):
    *_, last = strange.invoke_with_response_stream(http_event("/raise"))
    assert last == {"InvokeComplete": {}}


# Time runs out on what is no run.


def test_an_answer_that_never_comes_is_a_504_before_the_kill(strange):
    pid = strange.warm().pid
    with caller(strange) as client:
        answer = client.get("/hang")
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "platform_deadline")
    assert answer.json()["error"]["motes"]["retryable"] is True
    assert strange.line("request_too_late", requestId=strange.calls[-1].id)
    assert strange.pid == pid


def test_a_stream_that_never_ends_is_ended_before_the_kill(strange):
    pid = strange.warm().pid
    with caller(strange) as client, client.stream("GET", "/hang-in-a-stream") as response:
        _, error, done = events(read_to_the_break(response))
    assert (error["error"]["code"], done) == ("platform_deadline", "[DONE]")
    assert strange.pid == pid
    assert strange.invoke({"motes": "ping"})[1] is None
