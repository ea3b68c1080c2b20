"""`motes replay`: one row a recording, in order, whatever the recording is and however it is read."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletion

from fakes.recordings import WIRE
from motes import particles as p
from motes.cli import main
from motes.cli.playback import decoded
from motes.codec import from_wire
from motes.executor.decoding import MAX_PIECE

CHUNK = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def sse(*events: dict[str, Any], done: bool = True) -> bytes:
    body = b"".join(b"data: " + json.dumps(e, ensure_ascii=False).encode() + b"\n\n" for e in events)
    return body + (b"data: [DONE]\n\n" if done else b"")


def delta(finish: str | None = None, **members: Any) -> dict[str, Any]:
    return CHUNK | {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


HELLO = sse(
    delta(role="assistant", content=""),
    delta(content="Grüß "),
    delta(content="Gott 海"),
    delta("stop"),
    CHUNK | {"choices": [], "usage": USAGE},
)


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    def make(body: bytes = HELLO, name: str = "r", **meta: Any) -> Path:
        path = tmp_path / name
        path.mkdir()
        (path / "response.bin").write_bytes(body)
        known = {"dialect": "openai-chat", "vendor": "openai", "model": "m-1", "status": 200}
        (path / "meta.json").write_text(json.dumps(known | meta))
        return path

    return make


@pytest.fixture
def replay(capfdbinary: Any) -> Any:
    def run(*args: Any, status: int = 0) -> tuple[list[dict[str, Any]], str]:
        assert main(["replay", *map(str, args)]) == status
        out, err = capfdbinary.readouterr()
        return [json.loads(line) for line in out.splitlines()], err.decode()

    return run


def test_a_row_says_everything_that_is_known(folder: Any, replay: Any) -> None:
    path = folder()
    rows, err = replay(path)
    assert err == ""
    assert rows == [
        {
            "recording": str(path),
            "text": "Grüß Gott 海",
            "reasoning": "",
            "refusal": "",
            "tool_calls": [],
            "finish_reason": "stop",
            "native_finish_reason": "stop",
            "usage": {
                "prompt": 5,
                "completion": 2,
                "total": 7,
                "reasoning": None,
                "cached": None,
                "cache_written": None,
                "source": "measured",
            },
            "model": "m-1",
            "response_id": "c1",
            "citations": [],
            "images": 0,
            "audio": 0,
            "error": None,
            "end": "done-dialect",
        }
    ]


@pytest.mark.parametrize("options", [[], ["--chunk", "1"], ["--chunk", "7"], ["--chunk", "1000000"]])
def test_the_size_of_reads_changes_nothing(folder: Any, replay: Any, options: list[str]) -> None:
    path = folder(chunks=[1, 2, 57, 58, 10_000])
    rows, _ = replay(*options, path)
    assert (rows[0]["text"], rows[0]["finish_reason"]) == ("Grüß Gott 海", "stop")


def test_a_cut_is_an_error_and_what_came_is_kept(folder: Any, replay: Any) -> None:
    rows, _ = replay("--cut", HELLO.index(b"Gott"), folder())
    assert (rows[0]["text"], rows[0]["finish_reason"]) == ("Grüß ", None)
    error = rows[0]["error"]
    assert (error["kind"], error["phase"], error["retryable"]) == ("stream_truncated", "mid_stream", True)
    assert error["http_status"] == 502
    assert rows[0]["end"] == "done-dispatch-closed"


def test_a_cut_before_anything_visible_is_known_early(folder: Any, replay: Any) -> None:
    rows, _ = replay("--cut", 0, folder())
    assert rows[0]["error"]["phase"] == "before_output"


def test_a_cut_beyond_the_end_is_no_cut(folder: Any, replay: Any) -> None:
    rows, _ = replay("--cut", 10**9, folder())
    assert rows[0]["error"] is None


def test_a_reset_is_an_error_unless_the_answer_was_complete(folder: Any, replay: Any) -> None:
    path = folder(eof="reset")
    rows, _ = replay(path)
    assert rows[0]["finish_reason"] == "stop"
    rows, _ = replay("--cut", HELLO.index(b"Gott"), path)
    assert (rows[0]["error"]["kind"], rows[0]["end"]) == ("stream_truncated", "issue-dispatch-rpc")


def test_half_a_tool_call_is_not_handed_over(folder: Any, replay: Any) -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":'}}
    rows, _ = replay(folder(sse(delta(tool_calls=[call]), done=False)))
    assert (rows[0]["tool_calls"], rows[0]["error"]["phase"]) == ([], "mid_stream")


def test_a_call_cut_by_the_token_limit_is_kept_raw(folder: Any, replay: Any) -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":'}}
    rows, _ = replay(folder(sse(delta(tool_calls=[call]), delta("length"))))
    assert rows[0]["finish_reason"] == "length"
    assert rows[0]["tool_calls"] == [{"id": "a", "name": "f", "arguments": '{"x":'}]


def test_an_http_failure_is_read_with_its_headers(folder: Any, replay: Any) -> None:
    body = b'{"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}'
    rows, _ = replay(folder(body, status=429, headers={"Retry-After": "7"}))
    assert rows[0]["error"] == {
        "kind": "rate_limit",
        "phase": "before_output",
        "retryable": True,
        "retry_after_s": 7.0,
        "http_status": 429,
        "message": "slow down",
    }


def test_a_retry_after_date_counts_from_the_answers_own_date(folder: Any, replay: Any) -> None:
    headers = {"date": "Sun, 29 Nov 2026 10:00:00 GMT", "retry-after": "Sun, 29 Nov 2026 10:00:20 GMT"}
    rows, _ = replay(folder(b"{}", status=503, headers=headers))
    assert rows[0]["error"]["retry_after_s"] == 20.0


def packed(body: bytes) -> list[bytes]:
    """gzip, flushed after each event as a server would; the last piece is its end."""
    packer = zlib.compressobj(wbits=31)
    pieces = [
        packer.compress(e + b"\n\n") + packer.flush(zlib.Z_SYNC_FLUSH) for e in body.split(b"\n\n") if e
    ]
    return [*pieces, packer.flush()]


@pytest.mark.parametrize("options", [[], ["--chunk", "1"], ["--chunk", "7"]])
@pytest.mark.parametrize("body", [b"".join(packed(HELLO)), gzip.compress(HELLO)], ids=["flushed", "whole"])
def test_a_content_encoding_is_decoded(folder: Any, replay: Any, options: list[str], body: bytes) -> None:
    rows, _ = replay(*options, folder(body, headers={"Content-Encoding": "gzip"}))
    assert rows[0]["text"] == "Grüß Gott 海"


def test_a_cut_encoded_stream_keeps_what_could_be_decoded(folder: Any, replay: Any) -> None:
    pieces = packed(HELLO)
    cut = len(b"".join(pieces[:3])) - 2
    rows, _ = replay("--cut", cut, folder(b"".join(pieces), headers={"content-encoding": "gzip"}))
    assert rows[0]["text"].startswith("Grüß")
    assert rows[0]["error"]["kind"] == "stream_truncated"


def test_a_body_that_is_not_what_its_encoding_says_is_a_broken_protocol(folder: Any, replay: Any) -> None:
    rows, _ = replay(folder(headers={"content-encoding": "gzip"}))
    assert (rows[0]["error"]["kind"], rows[0]["error"]["phase"]) == ("protocol", "before_output")


def test_an_encoding_that_no_live_answer_is_read_in_is_a_broken_protocol(folder: Any, replay: Any) -> None:
    rows, _ = replay(folder(headers={"content-encoding": "br"}))
    assert (rows[0]["text"], rows[0]["error"]["kind"]) == ("", "protocol")
    assert "br" in rows[0]["error"]["message"]


def test_a_few_bytes_that_stand_for_very_many_are_read_a_piece_at_a_time() -> None:
    bomb = gzip.compress(bytes(32 * MAX_PIECE))
    sizes = [len(piece) for piece in decoded([bomb], "gzip")]
    assert (max(sizes), sum(sizes)) == (MAX_PIECE, 32 * MAX_PIECE)


def test_an_encoded_failure_is_read_too(folder: Any, replay: Any) -> None:
    body = gzip.compress(b'{"error": {"message": "no such model"}}')
    rows, _ = replay(folder(body, status=404, headers={"content-encoding": "gzip"}))
    assert rows[0]["error"]["message"] == "no such model"


def test_a_retryable_error_before_anything_visible_is_told_and_not_retried(folder: Any, replay: Any) -> None:
    rows, _ = replay(folder(sse({"error": {"message": "overloaded", "code": 503}}, done=False)))
    assert (rows[0]["error"]["kind"], rows[0]["error"]["http_status"]) == ("overloaded", 503)


def test_a_pause_ends_as_a_stop_with_the_vendors_word(folder: Any, replay: Any) -> None:
    events = [
        {"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "wait"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    body = sse(*events, done=False)
    rows, _ = replay(folder(body, dialect="anthropic-messages", vendor="anthropic"))
    row = rows[0]
    assert (row["text"], row["finish_reason"], row["native_finish_reason"]) == ("wait", "stop", "pause_turn")
    assert (row["error"], row["usage"]["total"]) == (None, 7)


def test_names_that_are_no_rows_are_mapped_with_a_word_made_once(folder: Any, replay: Any) -> None:
    paths = [folder(name=n, dialect="mistral-chat", vendor="nobody-we-know") for n in ("a", "b")]
    rows, err = replay(*paths)
    assert [row["text"] for row in rows] == ["Grüß Gott 海"] * 2
    assert err.count("mistral-chat") == 1
    assert err.count("nobody-we-know") == 1


def test_a_vendors_name_does_for_its_dialect(folder: Any, replay: Any) -> None:
    rows, err = replay(folder(dialect="groq", vendor=None))
    assert rows[0]["text"] == "Grüß Gott 海"
    assert "groq" in err


def test_a_vendor_lends_quirks_and_no_parser(folder: Any, replay: Any) -> None:
    rows, _ = replay("--vendor", "anthropic", folder())
    assert rows[0]["text"] == "Grüß Gott 海"


def test_a_recordings_quirks_go_on_top(folder: Any, replay: Any) -> None:
    body = sse(delta(content="The hill"), delta(content="The hill is green"), delta("stop"))
    rows, err = replay(folder(body, quirks={"delta_mode": "cumulative", "nonsense": 1, "think_tags": "x"}))
    assert rows[0]["text"] == "The hill is green"
    assert "nonsense" in err
    assert "think_tags" in err


@pytest.mark.parametrize(
    "options", [["--dialect", "openai-chat"], ["--vendor", "openai"], ["--vendor", "vllm"]]
)
def test_a_bare_file_is_read_with_the_options_given(tmp_path: Path, replay: Any, options: list[str]) -> None:
    path = tmp_path / "body"
    path.write_bytes(HELLO)
    rows, _ = replay(*options, path)
    assert rows[0]["text"] == "Grüß Gott 海"


def test_what_cannot_be_read_is_a_row_in_its_place_and_the_exit_status(
    tmp_path: Path, folder: Any, replay: Any
) -> None:
    bare = tmp_path / "body"
    bare.write_bytes(HELLO)
    bad = folder(name="bad")
    (bad / "meta.json").write_text("{")
    paths = [
        folder(name="good"),
        tmp_path / "nowhere",
        bad,
        bare,
        folder(name="list", chunks="x"),
        folder(name="none", dialect="smoke-signals"),
        folder(name="last"),
    ]
    rows, err = replay(*paths, status=1)
    assert [row["recording"] for row in rows] == [str(path) for path in paths]
    assert [row["error"] is None for row in rows] == [True, False, False, False, False, False, True]
    assert all(row.keys() == rows[0].keys() for row in rows)
    assert all(row["error"]["message"] in err for row in rows if row["error"])
    assert "smoke-signals" in rows[5]["error"]["message"]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("nowhere", "No such file or directory"),
        ("empty", "meta.json: No such file or directory"),
        ("bodiless", "a recording is a folder with response.bin, and this one has none"),
        ("unjson", "meta.json: is not valid JSON at line 1, column 2"),
        ("list", "meta.json: holds no JSON object"),
        ("kind", "meta.json: chunks must be a list"),
    ],
)
def test_the_reason_does_not_repeat_the_path(
    tmp_path: Path, folder: Any, replay: Any, broken: str, told: str
) -> None:
    path = tmp_path / "nowhere" if broken == "nowhere" else folder(name=broken, chunks="x")
    if broken == "bodiless":
        (path / "response.bin").unlink()
    if broken in ("empty", "unjson", "list"):
        (path / "meta.json").unlink()
    if broken in ("unjson", "list"):
        (path / "meta.json").write_text("{" if broken == "unjson" else "[]")
    (row,), err = replay(path, status=1)
    assert row["error"]["message"] == told
    assert err == f"motes: error: {path}: {told}\n"


@pytest.mark.parametrize("meta", [None, "{", "[]", '{"chunks": "x"}', '{"headers": 3}'])
@pytest.mark.parametrize("options", [["--dialect", "openai-chat"], ["--vendor", "openai"]])
def test_options_stand_for_a_description_that_is_not_there_or_makes_no_sense(
    folder: Any, replay: Any, options: list[str], meta: str | None
) -> None:
    path = folder()
    (path / "meta.json").unlink()
    if meta is not None:
        (path / "meta.json").write_text(meta)
    (row,), err = replay(*options, path)
    assert (row["text"], row["error"]) == ("Grüß Gott 海", None)
    assert "meta.json" in err
    assert "read by the options given" in err


def test_a_description_may_begin_with_a_byte_order_mark(folder: Any, replay: Any) -> None:
    path = folder()
    (path / "meta.json").write_text((path / "meta.json").read_text(), encoding="utf-8-sig")
    assert replay(path)[0][0]["text"] == "Grüß Gott 海"


UNCOUNTED = sse(delta(content="Gott"), delta("stop"))


def test_what_nobody_counted_is_not_told_as_zero(folder: Any, replay: Any, capfdbinary: Any) -> None:
    path = folder(UNCOUNTED)
    (done,), _ = replay("--as", "openai-json", path)
    assert "usage" not in done
    assert "usage_source" not in done["motes"]
    assert ChatCompletion.model_validate(done).usage is None
    assert main(["replay", "--as", "openai", str(path)]) == 0
    assert b"prompt_tokens" not in capfdbinary.readouterr().out


def test_a_model_that_the_vendor_does_not_have_is_not_found(folder: Any, replay: Any) -> None:
    body = b'{"error": {"message": "no such model"}}'
    rows, _ = replay(folder(body, status=404))
    assert rows[0]["error"]["http_status"] == 404


def test_a_wait_is_told_in_whole_milliseconds(folder: Any, replay: Any) -> None:
    rows, _ = replay(folder(b"{}", status=429, headers={"retry-after": "19.58298123"}))
    assert rows[0]["error"]["retry_after_s"] == 19.583
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.123456789s"}
    body = json.dumps({"error": {"code": 429, "message": "later", "details": [retry]}}).encode()
    rows, _ = replay(folder(body, "google", status=429, dialect="gemini-generate", vendor="gemini"))
    assert rows[0]["error"]["retry_after_s"] == 38.123


def test_particles_are_wire_lines_and_the_end_is_last(folder: Any, replay: Any) -> None:
    rows, _ = replay("--as", "particles", folder())
    particles = [from_wire(row) for row in rows]
    assert not any(isinstance(particle, p.Unknown) for particle in particles)
    assert [isinstance(particle, p.End) for particle in particles].count(True) == 1
    assert isinstance(particles[-1], p.End)
    assert "".join(x.text for x in particles if isinstance(x, p.Text)) == "Grüß Gott 海"


def test_openai_form_is_the_stream_a_client_gets(folder: Any, capfdbinary: Any) -> None:
    assert main(["replay", "--as", "openai", str(folder())]) == 0
    out = capfdbinary.readouterr().out
    assert out.endswith(b"data: [DONE]\n\n")
    events = [json.loads(e[6:]) for e in out.split(b"\n\n") if e.startswith(b"data: {")]
    assert "".join(c["delta"].get("content", "") for e in events for c in e["choices"]) == "Grüß Gott 海"
    assert events[-1]["usage"]["total_tokens"] == 7


def test_openai_form_of_a_cut_stream_is_an_error_event(folder: Any, capfdbinary: Any) -> None:
    assert main(["replay", "--as", "openai", "--cut", str(HELLO.index(b"Gott")), str(folder())]) == 0
    out = capfdbinary.readouterr().out
    assert b'data: {"error":' in out
    assert b'"finish_reason":"' not in out


def test_openai_json_is_a_completion_or_an_error_with_the_partial_text(folder: Any, replay: Any) -> None:
    path = folder()
    (done,), _ = replay("--as", "openai-json", path)
    assert done["choices"][0]["message"]["content"] == "Grüß Gott 海"
    (cut,), _ = replay("--as", "openai-json", "--cut", HELLO.index(b"Gott"), path)
    assert cut["error"]["motes"]["partial"] == "Grüß "


@pytest.mark.parametrize("form", ["message", "particles", "openai-json"])
def test_every_form_has_a_row_for_what_cannot_be_read(tmp_path: Path, replay: Any, form: str) -> None:
    rows, _ = replay("--as", form, tmp_path / "nowhere", status=1)
    assert "nowhere" in json.dumps(rows)


def test_output_is_utf_8_whatever_the_locale_says(folder: Any) -> None:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", "import sys; from motes.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "replay", str(folder(name="海"))], env=env, capture_output=True, check=True
    )
    row = json.loads(done.stdout.decode("utf-8"))
    assert row["text"] == "Grüß Gott 海"
    assert row["recording"].endswith("海")


@pytest.mark.parametrize("options", [["--chunk", "0"], ["--cut", "-1"], ["--as", "xml"], []])
def test_a_command_line_that_cannot_be_meant_is_refused(options: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["replay", *options])
    assert error.value.code == 2


def test_every_recording_of_ours_can_be_read(replay: Any) -> None:
    paths = sorted(path.parent for path in WIRE.glob("*/*/meta.json"))
    rows, _ = replay(*paths)
    assert [row["recording"] for row in rows] == [str(path) for path in paths]


def read_by_openai(body: bytes) -> tuple[str, str, list[dict[str, str]], str | None, bool]:
    """What OpenAI's own client makes of a stream: text, refusal, calls, finish, failed."""
    answer = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    transport = httpx.MockTransport(lambda _: answer)
    text, refusal, finish, calls = "", "", None, {}
    with openai.OpenAI(
        api_key="x", base_url="http://x", max_retries=0, http_client=httpx.Client(transport=transport)
    ) as client:
        try:
            for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    refusal += choice.delta.refusal or ""
                    finish = choice.finish_reason or finish
                    for piece in choice.delta.tool_calls or []:
                        new = {"id": piece.id, "name": piece.function.name, "arguments": ""}
                        call = calls.setdefault(piece.index, new)
                        call["arguments"] += piece.function.arguments or ""
        except openai.APIError:
            return text, refusal, [], finish, True
    return text, refusal, list(calls.values()), finish, False


def test_a_client_reads_out_of_the_stream_what_the_row_says(replay: Any, capfdbinary: Any) -> None:
    paths = sorted(path.parent for path in WIRE.glob("*/*/meta.json"))
    rows, _ = replay(*paths)
    for path, row in zip(paths, rows, strict=True):
        assert main(["replay", "--as", "openai", str(path)]) == 0
        told = row["text"], row["refusal"], row["tool_calls"], row["finish_reason"], row["error"] is not None
        assert read_by_openai(capfdbinary.readouterr().out) == told, path.name


@pytest.mark.parametrize("form", ["message", "particles", "openai-json"])
def test_a_recording_that_nobody_thought_of_does_not_stop_the_others(
    folder: Any, replay: Any, form: str
) -> None:
    odd = [
        folder(name="a", quirks={"__class__": 1}),
        folder(name="b", headers={"content-encoding": "é"}),
        folder(json.dumps({"error": {"code": "²"}}).encode(), name="c", status=500),
        folder(name="d"),
    ]
    rows, _ = replay("--as", form, *odd, status=1)
    assert rows
    if form == "message":
        assert [row["recording"] for row in rows] == list(map(str, odd))
        assert rows[0]["error"] or rows[1]["error"]
        assert rows[3]["text"] == "Grüß Gott 海"
