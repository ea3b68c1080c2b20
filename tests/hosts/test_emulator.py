"""The platform's own emulator as the judge: of the host, and of the fake that the other tests rest on."""

import json
import sys
from pathlib import Path

import pytest

from fakes import emulator, scripted_runtime
from fakes.aws_lambda import FakeLambda
from fakes.emulator import Emulator
from fakes.serving import KEY, STREAM, vendor_row
from fakes.upstream import DONE, SSE_HEAD, chat_chunk
from hosts.commands import GATEWAY, events, http_event, odd

SCRIPT = [sys.executable, scripted_runtime.__file__]
MOVES = list(scripted_runtime.MOVES)


@pytest.fixture(scope="session")
def binary():
    found = emulator.find()
    if found is None:
        pytest.skip(emulator.MISSING)
    return found


def told(answer):
    """Prelude and body."""
    prelude, _, body = answer.partition(bytes(8))
    return json.loads(prelude), body.decode()


# The host.


@pytest.fixture(scope="module")
def gateway(binary, listening, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "motes.toml").write_text(vendor_row(listening.base_url))
    environ = {"MOTES_HOME": str(home), "MOTES_CONFIG": str(home / "motes.toml"), "MOTES_API_KEY": KEY}
    with Emulator(binary, GATEWAY, environ) as running:
        yield running


@pytest.fixture(scope="module")
def strange(binary):
    with Emulator(binary, odd(), {}, timeout=2) as running:
        yield running


def test_a_stream_is_accepted_to_the_last_of_two_hundred_chunks(gateway, upstream):
    steps = [chat_chunk({"content": f"<{n}>"}) for n in range(200)]
    upstream.play(SSE_HEAD, *steps, chat_chunk({}, "stop"), DONE)
    event = http_event("/v1/chat/completions", "POST", body=json.dumps(STREAM))
    status, answer = gateway.invoke(event)
    prelude, body = told(answer)
    assert (status, prelude["statusCode"]) == (200, 200)
    assert prelude["headers"]["content-type"].startswith("text/event-stream")
    *chunks, done = events(body)
    assert done == "[DONE]"
    text = "".join(choice["delta"].get("content") or "" for c in chunks for choice in c["choices"])
    assert text == "".join(f"<{n}>" for n in range(200))


def test_a_whole_answer_and_an_error_are_accepted(gateway):
    prelude, body = told(gateway.invoke(http_event("/healthz"))[1])
    assert (prelude["statusCode"], json.loads(body)["status"]) == (200, "ok")
    prelude, body = told(gateway.invoke(http_event("/nothing"))[1])
    assert (prelude["statusCode"], json.loads(body)["error"]["code"]) == (404, "unknown_url")


def test_events_that_are_not_http_are_accepted(gateway):
    assert json.loads(gateway.invoke({"motes": "ping"})[1])["status"] == "ok"
    assert json.loads(gateway.invoke({})[1])["errorType"] == "Motes.UnknownEvent"
    assert json.loads(gateway.invoke(b"{")[1])["errorType"].startswith("Motes.")
    assert json.loads(gateway.invoke({"motes": "ping"})[1])["status"] == "ok"


def test_trailers_and_every_other_ending_are_accepted(strange):
    for path, code in (
        ("/raise", "internal_error"),
        ("/raise-after-the-head", "internal_error"),
        ("/hang", "platform_deadline"),
    ):
        prelude, body = told(strange.invoke(http_event(path))[1])
        assert prelude["statusCode"] in (500, 504)
        assert json.loads(body)["error"]["code"] == code
    for path in ("/raise-in-a-stream", "/leave", "/hang-in-a-stream"):
        *_, error, done = events(told(strange.invoke(http_event(path))[1])[1])
        assert ("error" in error, done) == (True, "[DONE]")
    assert told(strange.invoke(http_event("/nothing/204"))[1])[1] == "\n"
    assert told(strange.invoke(http_event("/cookies"))[1])[0]["cookies"][1] == "b=2"


def test_time_that_is_up_kills_a_stuck_process_and_the_next_call_starts_another(strange):
    assert b"timed out" in strange.invoke(http_event("/block"))[1]
    assert told(strange.invoke(http_event("/echo"))[1])[0]["statusCode"] == 200


def test_a_failed_start_is_accepted(binary):
    with Emulator(binary, GATEWAY, {"MOTES_HEARTBEAT_S": "-1"}) as running:
        status, answer = running.invoke({})
    assert status == 502
    assert json.loads(answer)["errorType"] == "Motes.PrepareError"


# The fake.


def notes(folder: Path):
    """Up to the last invocation, whose own notes may not have been written when all was stopped."""
    rows = [json.loads(line) for line in (folder / "notes").read_text().splitlines()]
    return rows[: 1 + max(n for n, row in enumerate(rows) if row[0] in ("next", "init"))]


def without(rows, name):
    """The notes without headers that the emulator does not send."""
    return [[what, status, kind, [n for n in names if n not in name]] for what, status, kind, names in rows]


NEWER = {"lambda-runtime-trace-id", "lambda-runtime-invocation-id"}


@pytest.mark.parametrize("move", MOVES)
def test_the_fake_answers_a_runtime_as_the_emulator_does(binary, tmp_path, move):
    seen = []
    for name in ("emulator", "fake"):
        (tmp_path / name).mkdir()
        environ = {"NOTES": str(tmp_path / name / "notes")}
        running = Emulator(binary, SCRIPT, environ) if name == "emulator" else FakeLambda(SCRIPT, environ)
        with running:
            answer = running.invoke({"move": move})
            assert running.invoke({"move": "whole"})[0 if name == "fake" else 1] == b'{"ok":1}'
        seen.append(answer)
    ours, theirs = notes(tmp_path / "fake"), notes(tmp_path / "emulator")
    assert without(ours, NEWER) == without(theirs, NEWER)
    (_, body), (our_body, our_error) = seen
    if our_error is None or move == "trailers":
        assert body == our_body
    elif move != "mode":  # Where an answer has begun, the emulator forgets the error.
        assert json.loads(body)["errorType"] == our_error


def test_the_fake_answers_a_failed_start_as_the_emulator_does(binary, tmp_path):
    seen = []
    for name in ("emulator", "fake"):
        (tmp_path / name).mkdir()
        environ = {"NOTES": str(tmp_path / name / "notes"), "FAIL_AT_START": "1"}
        running = Emulator(binary, SCRIPT, environ) if name == "emulator" else FakeLambda(SCRIPT, environ)
        with running:
            seen.append(running.invoke({"move": "whole"}))
    (_, body), (our_body, _) = seen
    assert json.loads(body)["errorType"] == json.loads(our_body)["errorType"] == "Motes.Why"
    assert notes(tmp_path / "fake")[0] == notes(tmp_path / "emulator")[0] == ["init", 202, None, []]
