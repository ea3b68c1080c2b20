"""`motes capture`: raw answers with their times and no secret in them, and what has changed at a vendor."""

import base64
import gzip
import json
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from fakes.converse import METADATA, START, delta
from fakes.converse import STOP as STOPPED
from fakes.recordings import load, message, particles
from fakes.serving import VENDOR_KEY, vendor_row
from fakes.upstream import (
    DONE,
    HELLO,
    SSE_HEAD,
    Reset,
    Sleep,
    UntilGone,
    Upstream,
    answer,
    chat_chunk,
    chat_usage,
    event,
)
from motes.cli import main
from motes.cli.redaction import masked_body

KEY = VENDOR_KEY


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
def capture(tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Any:
    """Run the command beside a motes.toml with the vendor `fake`; gives what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    (tmp_path / "motes.toml").write_text(vendor_row(upstream.base_url))

    def run(*args: str, status: int = 0) -> tuple[str, str]:
        got = main(["capture", *args])
        out, err = capfd.readouterr()
        assert got == status, (out, err)
        return out, err

    return run


def body_of(*steps: Any) -> bytes:
    return b"".join(step for step in steps if isinstance(step, bytes) and not step.startswith(b"HTTP/"))


def kept(out: Path, name: str = "openai-chat/fake-m") -> Path:
    return out / name


def meta_of(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text())
    return meta


# What is kept.


def test_a_recording_holds_the_bytes_as_they_came_and_what_they_say(
    capture: Any, upstream: Upstream, tmp_path: Path, capfd: Any
) -> None:
    upstream.play(*HELLO)
    out, _ = capture("-o", "rec", "-m", "fake/m")
    folder = kept(tmp_path / "rec")
    assert "fake/m: rec/openai-chat/fake-m (status 200" in out
    assert (folder / "response.bin").read_bytes() == body_of(*HELLO)
    recording = load(folder)
    assert message(particles(recording.dialect, [recording.body], recording.quirks)).text == "Hello there"
    assert main(["replay", str(folder)]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row.pop("recording") == str(folder)
    assert row == json.loads((folder / "expected.json").read_text())
    asked = json.loads((folder / "request.json").read_text())
    assert asked["body"] == upstream.received[0].json
    assert (asked["method"], asked["headers"]["authorization"]) == ("POST", "***")


def test_every_read_has_its_time_and_size(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hi"}), Sleep(0.3), chat_chunk({}, "stop"), DONE)
    capture("-o", "rec", "-m", "fake/m")
    meta = meta_of(kept(tmp_path / "rec"))
    times, sizes = zip(*meta["reads"], strict=True)
    assert list(times) == sorted(times)
    assert max(after - before for before, after in pairwise(times)) > 250
    assert 0 <= meta["head_ms"] <= times[0]
    assert sum(sizes) == (kept(tmp_path / "rec") / "response.bin").stat().st_size
    assert meta["chunks"] == [sum(sizes[: n + 1]) for n in range(len(sizes) - 1)]


def test_what_comes_after_the_end_belongs_to_the_answer(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.play(*HELLO, Sleep(0.2), event({"late": True}))
    capture("-o", "rec", "-m", "fake/m")
    assert b'"late"' in (kept(tmp_path / "rec") / "response.bin").read_bytes()


def test_a_vendor_that_holds_the_line_after_its_end_is_not_waited_for(
    capture: Any, upstream: Upstream
) -> None:
    upstream.play(*HELLO, UntilGone())
    began = time.monotonic()
    capture("-o", "rec", "-m", "fake/m")
    assert time.monotonic() - began < 8


def test_a_cut_answer_and_a_refusal_are_recordings_too(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: 9999\r\n\r\n")
    upstream.play(head, chat_chunk({"content": "Hi"}), Sleep(0.1), Reset())
    _, err = capture("-o", "rec", "-m", "fake/m")
    assert "broke after" in err
    assert meta_of(kept(tmp_path / "rec"))["eof"] == "reset"
    upstream.forget()
    upstream.play(answer(429, {"error": {"message": "slow down"}}, retry_after="7"))
    capture("-o", "rec", "-m", "fake/m")
    refused = kept(tmp_path / "rec", "openai-chat/fake-m-2")
    assert (meta_of(refused)["status"], meta_of(refused)["headers"]["retry-after"]) == (429, "7")
    assert json.loads((refused / "expected.json").read_text())["error"]["retry_after_s"] == 7.0
    assert len(upstream.received) == 1


def test_what_came_compressed_is_kept_as_it_reads(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    upstream.play(head, gzip.compress(body_of(*HELLO)))
    capture("-o", "rec", "-m", "fake/m")
    assert (kept(tmp_path / "rec") / "response.bin").read_bytes() == body_of(*HELLO)
    assert "content-encoding" not in meta_of(kept(tmp_path / "rec"))["headers"]


def test_what_cannot_be_read_is_not_kept(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(SSE_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: br\r\n\r\n"), b"\x8b\x00")
    _, err = capture("-o", "rec", "-m", "fake/m", status=1)
    assert "content-encoding" in err
    assert not (tmp_path / "rec").exists()


def test_one_model_that_cannot_be_asked_does_not_stop_the_others(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.play(*HELLO)
    _, err = capture("-o", "rec", "-m", "nowhere/x", "-m", "fake/m", status=1)
    assert "there is no vendor 'nowhere'" in err
    assert kept(tmp_path / "rec").is_dir()


def test_a_request_of_ones_own_is_sent(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(*HELLO)
    (tmp_path / "ask.json").write_text('{"messages": [{"role": "user", "content": "Mine"}], "max_tokens": 9}')
    capture("-o", "rec", "-m", "fake/m", "--request", "ask.json")
    assert upstream.received[0].json["messages"] == [{"role": "user", "content": "Mine"}]
    for text, told in (("{", "not valid JSON"), ("{}", "messages")):
        (tmp_path / "ask.json").write_text(text)
        _, err = capture("-o", "rec", "-m", "fake/m", "--request", "ask.json", status=1)
        assert told in err
    _, err = capture("-o", "rec", "-m", "fake/m", "--request", "none.json", status=1)
    assert "none.json: No such file" in err


def test_what_a_row_of_ones_own_differs_in_is_kept_for_the_reader(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    (tmp_path / "motes.toml").write_text(
        vendor_row(upstream.base_url) + "[vendors.fake.quirks]\nthink_tags = false\n"
    )
    upstream.play(SSE_HEAD, chat_chunk({"content": "<think>hm</think>Hi"}), chat_chunk({}, "stop"), DONE)
    capture("-o", "rec", "-m", "fake/m")
    assert meta_of(kept(tmp_path / "rec"))["quirks"] == {"think_tags": False}
    assert json.loads((kept(tmp_path / "rec") / "expected.json").read_text())["reasoning"] == ""


@pytest.mark.parametrize("model", ["demo/echo", "demo-anthropic/echo", "demo-gemini/echo"])
def test_the_demo_vendor_is_there_without_a_key(capture: Any, tmp_path: Path, model: str) -> None:
    capture("-o", "rec", "-m", model)
    (folder,) = (path.parent for path in (tmp_path / "rec").rglob("meta.json"))
    expected = json.loads((folder / "expected.json").read_text())
    assert (expected["finish_reason"], expected["error"]) == ("stop", None)
    assert "mote" in expected["text"]


def test_a_command_that_cannot_be_meant_says_what_to_give(capture: Any) -> None:
    assert "--against" in capture(status=2)[1]
    assert "-m" in capture("-o", "rec", status=2)[1]


# What must not be kept.


def tellings(secret: str) -> list[bytes]:
    """What of a secret must not be found anywhere: its pieces, plain, quoted, and in base64."""
    coded = [base64.b64encode(b"\0" * n + secret.encode())[4:-4] for n in range(3)]
    return [secret[:8].encode(), secret[-8:].encode(), quote(secret[-8:]).encode(), *coded]


def nothing_tells(directory: Path, secret: str, out: str) -> None:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    for path in files:
        data = path.read_bytes().lower()
        for telling in tellings(secret):
            assert telling.lower() not in data, (path, telling)
    assert secret[:8] not in out


def echo(upstream: Upstream, secret: str) -> list[Any]:
    """A vendor that says the key back: in its head, in text, in pieces, quoted, in base64, cut off."""
    cut = chat_chunk({"content": f"a {secret} b {secret.upper()} c {secret[:12]}…"})
    middle = cut.index(json.dumps(secret)[1:9].encode()) + 9
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; of={secret}\r\nx-debug: {secret}\r\n"
        f"retry-after: {secret}\r\nset-cookie: k={secret}\r\nconnection: close\r\n\r\n"
    )
    coded = base64.b64encode(f"key {secret}".encode()).decode()
    return [
        head.encode(),
        cut[:middle],
        Sleep(0.05),
        cut[middle:],
        chat_chunk({"content": f"{quote(secret, safe='')} {coded}"}, model=secret),
        chat_chunk({}, "stop"),
        DONE,
    ]


ODD_KEY = 'sk-odd/"key+1234=abcdef'
PLACES: dict[str, Callable[[str], tuple[str, str]]] = {
    "the key": lambda url: (vendor_row(url), KEY),
    "a key in the query": lambda url: (vendor_row(url) + 'auth = "query:key"\n', KEY),
    "a key with odd characters": lambda url: (
        vendor_row(url).replace(f'"{KEY}"', f"'{ODD_KEY}'") + 'auth = "header:x-goog-api-key"\n',
        ODD_KEY,
    ),
    "a password in the address": lambda url: (
        vendor_row(url.replace("http://", "http://somebody:pw-0123456789abcdef@")) + 'auth = "none"\n',
        "pw-0123456789abcdef",
    ),
    "a header of one's own": lambda url: (
        vendor_row(url) + '[vendors.fake.headers]\nx-proxy-token = "pt-0123456789abcdef"\n',
        "pt-0123456789abcdef",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_is_kept_whoever_repeats_it(
    capture: Any, upstream: Upstream, tmp_path: Path, place: str
) -> None:
    toml, secret = PLACES[place](upstream.base_url)
    (tmp_path / "motes.toml").write_text(toml)
    upstream.play(*echo(upstream, secret))
    said = "".join(capture("-o", "rec", "-m", "fake/m"))
    sent = upstream.received[0]
    heads = "".join(sent.headers.values())
    assert secret in heads or quote(secret) in sent.path or "Basic " in heads
    nothing_tells(tmp_path / "rec", secret, said)
    assert "starred out" in said
    folder = kept(tmp_path / "rec")
    assert json.loads((folder / "expected.json").read_text())["text"].startswith("a ***")
    upstream.forget()
    upstream.play(answer(401, {"error": {"message": f"no such key: {secret}", "code": secret}}))
    nothing_tells(tmp_path / "rec", secret, "".join(capture("-o", "rec", "-m", "fake/m")))


def test_binary_frames_that_told_a_secret_can_still_be_read(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    (tmp_path / "motes.toml").write_text(vendor_row(upstream.base_url, dialect="bedrock-converse"))
    head = SSE_HEAD.replace(b"text/event-stream", b"application/vnd.amazon.eventstream")
    upstream.play(head, START, delta(0, text=f"It is {KEY}."), delta(0, text=" So."), STOPPED, METADATA)
    said = "".join(capture("-o", "rec", "-m", "fake/m"))
    nothing_tells(tmp_path / "rec", KEY, said)
    folder = kept(tmp_path / "rec", "bedrock-converse/fake-m")
    expected = json.loads((folder / "expected.json").read_text())
    assert (expected["text"], expected["error"]) == (f"It is {'*' * len(KEY)}. So.", None)


def test_what_stands_in_for_a_secret_is_as_long_as_it() -> None:
    body = f"x {KEY} y {KEY[:10]} z".encode()
    masked, count = masked_body(body, [KEY])
    assert (len(masked), count) == (len(body), 2)
    assert masked_body(b"none of EMPTY", ["none", "EMPTY"]) == (b"none of EMPTY", 0)
    assert masked_body("Grüße".encode(), [KEY]) == ("Grüße".encode(), 0)


# What has changed.

ROLE = chat_chunk({"role": "assistant", "content": ""})
TEXT = chat_chunk({"content": "Hello"})
STOP = chat_chunk({}, "stop")
USAGE = chat_usage(5, 2)
WAS = (SSE_HEAD, ROLE, TEXT, STOP, USAGE, DONE)
ELSEWHERE = (
    SSE_HEAD,
    ROLE,
    *(chat_chunk({"content": word}) for word in ("Other", " words", "!")),
    event(": alive"),
    STOP,
    chat_usage(50, 20),
    DONE,
)
CHANGED: dict[str, tuple[tuple[Any, ...], str]] = {
    "a new member": ((SSE_HEAD, ROLE, chat_chunk({"content": "Hi", "mood": 1}), STOP, USAGE, DONE), "mood"),
    "a member gone": (tuple(step.replace(b'"created": 1, ', b"") for step in WAS), "created"),
    "another type": (
        tuple(step.replace(b'"created": 1', b'"created": "1"') for step in WAS),
        "number    string",
    ),
    "a new event": ((SSE_HEAD, ROLE, TEXT, event({"type": "news"}), STOP, USAGE, DONE), "news"),
    "an event gone": ((SSE_HEAD, ROLE, TEXT, STOP, USAGE), "[DONE]"),
    "another order": ((SSE_HEAD, ROLE, STOP, TEXT, USAGE, DONE), "role > finish_reason > content"),
    "a finish with the last text": (
        (SSE_HEAD, ROLE, TEXT, chat_chunk({"content": "!"}, "stop"), USAGE, DONE),
        "content+finish_reason",
    ),
    "another finish word": ((SSE_HEAD, ROLE, TEXT, chat_chunk({}, "end_turn"), USAGE, DONE), "end_turn"),
    "usage elsewhere": (
        (SSE_HEAD, ROLE, TEXT, chat_chunk({}, "stop", usage={"prompt_tokens": 1}), DONE),
        "usage, with the finish",
    ),
    "another status": ((answer(401, {"error": {"message": "no"}}),), "401"),
}


@pytest.fixture
def recorded(capture: Any, upstream: Upstream) -> None:
    upstream.play(*WAS)
    capture("-o", "rec", "-m", "fake/m")
    upstream.forget()


@pytest.mark.usefixtures("recorded")
def test_other_words_and_other_counts_are_no_change(capture: Any, upstream: Upstream) -> None:
    upstream.play(*WAS[:1], *(chat_chunk({"content": word}) for word in ("a", "b")), STOP, USAGE, DONE)
    upstream.forget()
    upstream.play(SSE_HEAD, ROLE, TEXT, TEXT, TEXT, STOP, chat_usage(50, 20), DONE)
    out, _ = capture("--against", "rec")
    assert "as recorded" in out


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("change", CHANGED)
def test_a_change_at_the_vendor_is_named_with_exit_1(capture: Any, upstream: Upstream, change: str) -> None:
    script, named = CHANGED[change]
    upstream.play(*script)
    out, _ = capture("--against", "rec", status=1)
    assert "what " in out
    assert named in out


@pytest.mark.usefixtures("recorded")
def test_the_recorded_request_is_what_is_sent_again(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(*WAS)
    capture("--against", "rec", "-o", "now")
    asked = json.loads((kept(tmp_path / "rec") / "request.json").read_text())
    assert upstream.received[0].json == asked["body"]
    assert kept(tmp_path / "now").is_dir()


@pytest.mark.usefixtures("recorded")
def test_what_cannot_be_compared_is_no_success(capture: Any, upstream: Upstream, tmp_path: Path) -> None:
    (tmp_path / "motes.toml").write_text(vendor_row("http://127.0.0.1:9/v1"))
    assert "refused the connection" in capture("--against", "rec", status=1)[1]
    assert "no recordings" in capture("--against", "elsewhere", status=1)[1]
    (kept(tmp_path / "rec") / "meta.json").write_text("{")
    assert "not valid JSON" in capture("--against", "rec", status=1)[1]


def test_a_recording_without_a_request_is_asked_the_fixed_one(
    capture: Any, upstream: Upstream, tmp_path: Path
) -> None:
    folder = tmp_path / "handmade" / "r"
    folder.mkdir(parents=True)
    (folder / "response.bin").write_bytes(body_of(*WAS))
    (folder / "meta.json").write_text('{"dialect": "openai-chat", "vendor": "fake", "model": "m"}')
    upstream.play(*WAS)
    capture("--against", "handmade")
    assert "mote" in json.dumps(upstream.received[0].json["messages"])


def test_every_recorded_vendor_of_the_demo_is_unchanged_against_itself(capture: Any) -> None:
    capture("-o", "rec", "-m", "demo/echo", "-m", "demo-anthropic/echo", "-m", "demo-gemini/echo")
    out, _ = capture("--against", "rec")
    assert out.count("as recorded") == 3
