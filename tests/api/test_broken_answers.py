"""What cannot be written, or repeats a key, or is too long: an error in OpenAI's shape, and an end."""

import json

import pytest

from fakes.serving import ASK, KEY, STREAM, VENDOR_KEY, client, serving, vendor_row
from fakes.upstream import HELLO, SSE_HEAD, answer, chat_chunk
from motes import particles as p
from motes.api.logline import logline
from motes.api.streaming import StreamWriter
from motes.dispatch import generate
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.vendors.table import VENDORS

CHAT = "/chat/completions"


class Choosy:
    """An encoder with a bug for one kind of particle."""

    def __init__(self, kind):
        self.kind = kind

    def open(self):
        return b"open\n"

    def encode(self, particle):
        if isinstance(particle, self.kind):
            raise RecursionError("deep")
        return f"{type(particle).__name__}\n".encode()

    def texts(self, some):
        return map(self.encode, some)

    def keepalive(self):
        return b""


@pytest.mark.parametrize("held", [0, 1, 2])
async def test_what_cannot_be_written_ends_the_stream_with_an_issue(held):
    sent, said = [], [p.Text("a"), p.Warn("w", "w"), p.Text("b"), p.End("done-dialect", "ok")]

    async def send(message):
        sent.append(message)

    async def rest():
        for particle in said[held:]:
            yield [particle]

    writer = StreamWriter(send, Choosy(p.Warn), 10, {})
    await writer.start("text/plain", said[:held])
    await writer.pour(rest())
    assert b"".join(one.get("body", b"") for one in sent) == b"open\nText\nIssue\nEnd\n"
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


@pytest.mark.parametrize("levels", range(960, 1020, 6))
def test_reasoning_nested_to_the_limit_breaks_no_stream(gateway, upstream, levels):
    nested = "[" * levels + "]" * levels
    head = '{"choices":[{"index":0,"delta":{"content":"hi","reasoning_details":[{"signature":"s","x":'
    chunk = f"data: {head}{nested}}}]}}}}]}}\n\n".encode()
    for body in (STREAM, ASK):
        upstream.play(SSE_HEAD, chunk, *HELLO[1:])
        response = gateway.post(CHAT, json=body)
        if body is STREAM:
            assert response.content.endswith(b"data: [DONE]\n\n")
        else:
            assert response.status_code == 200 or response.json()["error"]["code"]


def test_no_field_of_a_refusal_tells_the_key_to_the_caller_or_the_log(gateway, upstream, caplog):
    words = {"message": "x" * 470 + VENDOR_KEY, "code": VENDOR_KEY, "type": f"Bearer {VENDOR_KEY.upper()}"}
    for path in (CHAT, "/particles"):
        for status in (400, 401, 429, 503):
            upstream.play(answer(status, {"error": words, "request_id": VENDOR_KEY}, x_request_id=VENDOR_KEY))
            told = gateway.post(path, json=ASK)
            assert VENDOR_KEY[:8] not in (told.text + str(told.headers)).lower()
    for _ in range(2):
        upstream.play(SSE_HEAD, chat_chunk({"content": "a"}, VENDOR_KEY), *HELLO[1:])
        assert VENDOR_KEY[:8] not in gateway.post("/particles", json=ASK).text
    assert VENDOR_KEY[:8] not in "\n".join(caplog.messages).lower()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"code": 429, "message": "q", "details": [{"retryDelay": "9" * 400 + "s"}]}),
        (503, {"code": "²"}),
    ],
)
def test_a_wait_without_end_and_a_code_that_is_no_number_have_a_status(gateway, upstream, status, error):
    upstream.play(answer(status, {"error": error}))
    assert gateway.post(CHAT, json=ASK).status_code == status


def test_what_a_caller_wrote_is_not_told_at_length(gateway):
    asks = [
        {"messages": [{"role": "user" * 9000, "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "t" * 9000}]}]},
        {"stop": {"k" * 9000: "x"}},
        {"reasoning_effort": "e" * 9000},
        {"model": "m" * 9000 + "/x"},
    ]
    for ask in asks:
        response = gateway.post(CHAT, json=ASK | ask)
        assert response.status_code in (400, 404), ask
        error = response.json()["error"]
        assert len(error["param"] or "") <= 200
        assert len(error["message"]) <= 600


def test_a_field_of_the_log_has_three_hundred_characters_at_most():
    line = logline("e", a="x" * 5000)
    assert str(line) == f"e a={'x' * 297}..."
    assert line.fields == {"a": "x" * 297 + "..."}


@pytest.mark.parametrize("depth", [10, 40, 80])
@pytest.mark.parametrize("levels", [900, 940, 970])
def test_a_schema_nested_to_the_limit_is_refused_or_sent(levels, depth):
    schema = '{"not":' * levels + "{}" + "}" * levels
    form = f'{{"type":"json_schema","json_schema":{{"name":"x","schema":{schema}}}}}'
    body = f'{{"messages":[{{"role":"user","content":"hi"}}],"response_format":{form}}}'.encode()

    def below(frames):
        if frames:
            return below(frames - 1)
        return generate(
            parse_request(body), VENDORS["anthropic"], "claude-3-5-sonnet-20241022", secret="sk-1"
        )

    try:
        assert below(depth).request.body
    except InvalidRequest as refused:
        assert "deep" in refused.message or "JSON" in refused.message  # noqa: PT017


def test_a_broken_key_file_does_not_tell_strangers_where_it_lies(tmp_path, upstream, caplog):
    with serving(tmp_path, vendor_row(upstream.base_url)) as url, client(url) as caller:
        (tmp_path / "keys.json").write_text("{")
        response = caller.post(CHAT, json=ASK, headers={"authorization": "Bearer wrong"})
        assert response.status_code == 500
        assert str(tmp_path) not in response.text
        assert "keys.json" in caplog.text
    assert KEY not in response.text


def test_a_key_file_with_a_hash_that_is_none_lets_nobody_in(tmp_path, upstream):
    row = {"id": "a", "name": "n", "hash": "é", "created": "", "disabled": False}
    with serving(tmp_path, vendor_row(upstream.base_url)) as url, client(url) as caller:
        (tmp_path / "keys.json").write_text(json.dumps({"keys": [row]}))
        for word in ("wrong", "\u00e9"):
            headers = [(b"authorization", b"Bearer " + word.encode("latin-1"))]
            assert caller.post(CHAT, json=ASK, headers=headers).status_code == 401
