"""POST /v1/particles over real sockets."""

import json

import pytest

from fakes.serving import ASK, STREAM, client, serving, vendor_row
from fakes.upstream import DONE, HELLO, SSE_HEAD, Reset, Sleep, answer, chat_chunk
from motes import particles as p
from motes.codec import from_wire

PATH = "/particles"


def lines_of(response):
    return [from_wire(json.loads(line)) for line in response.content.splitlines()]


@pytest.mark.parametrize("body", [ASK, STREAM, ASK | {"stream": False}])
def test_every_particle_of_the_run_is_a_line_and_the_end_is_the_last(gateway, upstream, body):
    upstream.play(*HELLO)
    response = gateway.post(PATH, json=body)
    assert response.headers["content-type"] == "application/x-ndjson"
    assert response.headers["x-accel-buffering"] == "no"
    particles = lines_of(response)
    assert "".join(item.text for item in particles if isinstance(item, p.Text)) == "Hello there"
    assert [item for item in particles if isinstance(item, p.End)] == particles[-1:]
    assert particles[-1].stop == "ok"
    assert any(isinstance(item, p.Metrics) and item.tokens_out == 2 for item in particles)


def test_who_accepts_events_gets_numbered_ones(gateway, upstream):
    upstream.play(*HELLO)
    plain = lines_of(gateway.post(PATH, json=ASK))
    response = gateway.post(PATH, json=ASK, headers={"accept": "text/event-stream"})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    blocks = response.text.split("\n\n")[:-1]
    assert [block.split("\n")[0] for block in blocks] == [f"id: {n}" for n in range(1, len(plain) + 1)]
    assert json.loads(blocks[-1].split("\ndata: ")[1])["cg"] == "end"


def test_control_particles_held_before_the_commit_are_not_lost(gateway, upstream):
    upstream.play(*HELLO)
    kinds = [type(item) for item in lines_of(gateway.post(PATH, json=ASK))]
    assert kinds.index(p.ModelName) < kinds.index(p.Text)
    assert kinds.index(p.ResponseId) < kinds.index(p.Text)


def test_an_early_failure_is_an_http_error_and_a_late_one_a_particle(gateway, upstream):
    upstream.play(answer(503, b""))
    upstream.play(SSE_HEAD, chat_chunk({"content": "half"}), Sleep(0.05), Reset())
    early = gateway.post(PATH, json=ASK)
    assert (early.status_code, early.json()["error"]["code"]) == (503, "overloaded")
    *_, issue, end = lines_of(gateway.post(PATH, json=ASK))
    assert isinstance(issue, p.Issue)
    assert issue.error.kind == "stream_truncated"
    assert isinstance(end, p.End)
    assert end.stop is None


def test_a_silent_line_has_a_heartbeat(tmp_path, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "a"}), Sleep(1.0), chat_chunk({}, "stop"), DONE)
    with (
        serving(tmp_path, "heartbeat_s = 0.3\n" + vendor_row(upstream.base_url)) as url,
        client(url) as caller,
    ):
        plain = caller.post(PATH, json=ASK)
        events = caller.post(PATH, json=ASK, headers={"accept": "text/event-stream"})
    assert 2 <= sum(isinstance(item, p.Heartbeat) for item in lines_of(plain)) <= 4
    assert '\n\ndata: {"p":"❤"}\n\n' in events.text


def test_a_run_that_fails_before_it_is_seen_is_told_whole_beside_its_error(gateway, upstream):
    upstream.play(answer(400, {"error": {"message": "no", "code": "odd"}}, x_request_id="req-1"))
    body = gateway.post(PATH, json=ASK).json()
    run = [from_wire(item) for item in body["particles"]]
    assert isinstance(run[-1], p.End)
    (issue,) = [item for item in run if isinstance(item, p.Issue)]
    assert (issue.error.code, issue.error.request_id) == ("odd", "req-1")
    assert body["error"]["message"] == issue.error.message
    assert "particles" not in gateway.post("/chat/completions", json=ASK).json()
