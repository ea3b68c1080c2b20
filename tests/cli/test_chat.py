"""`motes chat` as a user runs it: through a pipe, at a terminal, to a gateway, and with nothing set up at all."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.serving import KEY, serving, vendor_row
from fakes.terminal import CTRL_C, CTRL_D, AtTerminal
from fakes.upstream import (
    DONE,
    HELLO,
    SSE_HEAD,
    Gate,
    UntilGone,
    Upstream,
    answer,
    chat_chunk,
    chat_usage,
)
from motes import particles as p
from motes.cli.pane import Pane
from motes.cli.savings import saved
from motes.fragments import MediaFragment, Message, ResourceFragment
from motes.reassembly import Reassembler

INTERRUPTIBLE = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{INTERRUPTIBLE}; from motes.cli import main; sys.exit(main())", "chat"]
PIXEL = base64.b64encode(b"\x89PNG a pixel").decode()
PICTURE = {"images": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]}
STOP = chat_chunk({}, "stop")


def environ(home: Path, **more: str) -> dict[str, str]:
    """A fresh machine: no key, no settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "MOTES_HOME": str(home / ".motes"), **more}


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    """A vendor `fake` of the settings in the working directory."""
    with Upstream() as running:
        (tmp_path / "motes.toml").write_text(vendor_row(running.base_url))
        yield running


@pytest.fixture
def chat(tmp_path: Path) -> Any:
    def run(*args: str, said: str | None = None, **more: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*COMMAND, *args],
            input=said.encode() if said is not None else None,
            stdin=subprocess.DEVNULL if said is None else None,
            capture_output=True,
            env=environ(tmp_path, **more),
            cwd=tmp_path,
            timeout=30,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@pytest.fixture
def screen(tmp_path: Path) -> Any:
    def at(*args: str, size: tuple[int, int] = (24, 100), **more: str) -> AtTerminal:
        return AtTerminal([*COMMAND, *args], environ(tmp_path, **more), tmp_path, size)

    return at


# Through a pipe.


def test_a_fresh_machine_gets_an_answer_and_only_that_on_standard_output(chat: Any, tmp_path: Path) -> None:
    status, out, err = chat("What", "is", "a mote?")
    assert status == 0
    assert (
        out
        == "You asked: “What is a mote?”. A mote is a speck of dust, such as one sees in a beam of light.\n"
    )
    assert "[1] Mote (dust) https://en.wiktionary.org/wiki/mote" in err
    assert "thought" in err
    assert "first token" in err
    assert list(tmp_path.iterdir()) == []


def test_what_to_say_may_come_from_standard_input(chat: Any) -> None:
    assert chat("-m", "demo/echo", said="Grüß Gott 海\n")[:2] == (0, "Grüß Gott 海\n")
    assert chat("-m", "demo/echo", "Say:", "-", said="this")[1] == "Say: this\n"
    status, _, err = chat("-m", "demo/echo", said=" \n")
    assert (status, "nothing to ask" in err) == (1, True)


def test_several_models_answer_one_question(chat: Any) -> None:
    status, out, _ = chat("-m", "demo/echo", "-m", "demo-gemini/echo", "hi")
    assert (status, out) == (0, "== demo/echo\nhi\n== demo-gemini/echo\nhi\n")


def test_one_that_fails_does_not_stop_the_others_and_the_exit_tells(chat: Any) -> None:
    status, out, err = chat("-m", "demo/cut", "-m", "demo/echo", "-m", "nowhere/x", "hi")
    assert status == 1
    assert "This answer will not come" in out
    assert "== demo/echo\nhi\n" in out
    assert "demo/cut: failed: the connection to the upstream broke" in err
    assert "nowhere/x: failed: there is no vendor" in err


def test_particles_are_lines_of_json_with_one_end(chat: Any) -> None:
    status, out, _ = chat("--json", "-m", "demo/echo", "hi")
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert {"t": "hi"} in rows
    assert [row.get("cg") for row in rows].count("end") == 1
    _, out, _ = chat("--json", "-m", "demo/echo", "-m", "demo/cut", "hi")
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["model"] for row in rows} == {"demo/echo", "demo/cut"}
    assert [row["particle"].get("cg") for row in rows].count("end") == 2


def test_messages_are_lines_of_json(chat: Any) -> None:
    status, out, err = chat("--json-message", "-m", "demo/echo", "-m", "demo/cut", "hi")
    whole, cut = (json.loads(line) for line in out.splitlines())
    assert (status, err) == (1, "")
    assert (whole["asked"], whole["outcome"], whole["text"]) == ("demo/echo", "completed", "hi")
    assert (cut["outcome"], cut["error"]["kind"]) == ("failed", "stream_truncated")


@pytest.mark.parametrize("form", ["text", "--json"])
def test_an_interrupt_keeps_what_came(upstream: Upstream, tmp_path: Path, form: str) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "So far"}), UntilGone())
    process = subprocess.Popen(
        [*COMMAND, "-m", "fake/m", "hi", *([] if form == "text" else [form])],
        env=environ(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    came = b""
    while b"So far" not in came:
        data = os.read(process.stdout.fileno(), 4096)
        assert data, came
        came += data
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    upstream.wait_until_gone()
    assert (process.returncode, b"Traceback" in err) == (130, False)
    if form == "text":
        assert "interrupted; what came is kept" in err.decode()
    else:
        assert json.loads(out.splitlines()[-1])["terminationReason"] == "done-dispatch-aborted"


def test_pictures_are_saved_and_nothing_is_written_over(
    chat: Any, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "Here"}), chat_chunk(PICTURE), STOP, DONE)
    status, _, err = chat("-m", "fake/m", "--save", "pictures", "-m", "fake/m", "draw")
    files = sorted((tmp_path / "pictures").iterdir())
    assert status == 0, err
    assert [path.read_bytes() for path in files] == [b"\x89PNG a pixel"] * 2
    assert {path.suffix for path in files} == {".png"}
    assert all(f"saved pictures/{path.name}" in err for path in files)


def test_a_file_of_an_answer_lies_in_the_folder_whatever_its_name(tmp_path: Path) -> None:
    place = tmp_path / "in"
    names = ["../../etc/passwd", "..\\..\\boot.ini", "/root/.bashrc", "..", "a\x1bb.csv", ""]
    files = [ResourceFragment(p.HostedResource("k", filename=name, base64=PIXEL)) for name in names]
    bad = MediaFragment(p.Image("image/png", "no base64!"))
    preview = MediaFragment(p.Image("image/png", PIXEL, partial=True))
    lines = list(saved(Message(fragments=[*files, bad, preview]), place, "motes-1"))
    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [place] * len(names)
    assert {"passwd", "boot.ini", "bashrc", "a-b.csv", "motes-1.bin"} < {
        path.name for path in place.iterdir()
    }
    assert sum("not saved" in line for line in lines) == 1


def test_a_chat_may_begin_from_a_request(chat: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(*HELLO)
    base = {"messages": [{"role": "system", "content": "Be kind."}], "max_tokens": 7}
    (tmp_path / "base.json").write_text(json.dumps(base))
    assert chat("-m", "fake/m", "--request", "base.json", "hi")[0] == 0
    sent = upstream.received[0].json
    assert sent["messages"] == [*base["messages"], {"role": "user", "content": "hi"}]
    assert 7 in sent.values()
    (tmp_path / "base.json").write_text('{"messages": 7}')
    assert "holds no chat request" in chat("--request", "base.json", "hi")[2]


def test_the_transcript_says_who_said_what_and_how_it_ended(chat: Any, tmp_path: Path) -> None:
    chat("--transcript", "talk.md", "-m", "demo/hello", "What is it?")
    chat("--transcript", "talk.md", "-m", "demo/cut", "And this?")
    talk = (tmp_path / "talk.md").read_text()
    assert talk.index("What is it?") < talk.index("## demo/hello") < talk.index("And this?")
    assert "> thinks: The question is" in talk
    assert "\nYou asked: “What is it?”. A mote is" in talk
    assert "> [1] Mote (dust)" in talk
    assert "*failed: the connection" in talk
    status, _, err = chat("--transcript", "no/such/folder.md", "hi")
    assert (status, "No such file" in err) == (1, True)


# To a gateway.


def test_a_gateway_is_asked_where_one_is_named(chat: Any, upstream: Upstream, tmp_path: Path) -> None:
    upstream.play(*HELLO)
    home = tmp_path / "gateway"
    home.mkdir()
    with serving(home, f'default_model = "fake/m"\n{vendor_row(upstream.base_url)}') as url:
        (tmp_path / "motes.toml").write_text("this is no toml")
        by_option = chat("--url", url, "hi", MOTES_API_KEY=KEY)
        by_environment = chat("-m", "fake/m", "hi", MOTES_API_KEY=KEY, MOTES_BASE_URL=url)
        refused = chat("--url", url, "hi", MOTES_API_KEY="wrong-key-of-mine")
    assert by_option[:2] == by_environment[:2] == (0, "Hello there\n")
    assert len(upstream.received) == 2
    assert refused[0] == 1
    assert "failed: " in refused[2]
    assert "wrong-key-of-mine" not in refused[2]


def test_direct_goes_before_the_environment(chat: Any) -> None:
    assert chat("--direct", "-m", "demo/echo", "hi", MOTES_BASE_URL="http://127.0.0.1:9/v1")[:2] == (
        0,
        "hi\n",
    )
    status, _, err = chat("-m", "demo/echo", "hi", MOTES_BASE_URL="http://127.0.0.1:9/v1")
    assert (status, "failed: " in err) == (1, True)


def test_a_kept_run_is_told_and_read_again_from_another_process(
    chat: Any, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.play(*HELLO)
    home = tmp_path / "gateway"
    home.mkdir()
    with serving(home, vendor_row(upstream.base_url)) as url:
        asked = chat("--url", url, "-m", "fake/m", "--resumable", "hi", MOTES_API_KEY=KEY)
        run_id = asked[2].partition("--resume ")[2].partition("`")[0]
        again = chat("--url", url, "--resume", run_id, MOTES_API_KEY=KEY)
        none = chat("--url", url, "--resume", "nowhere", MOTES_API_KEY=KEY)
    assert asked[:2] == again[:2] == (0, "Hello there\n")
    assert (none[0], "there is no run 'nowhere'" in none[2]) == (1, True)
    assert len(upstream.received) == 1


def test_a_run_that_the_gateway_keeps_is_read_again(chat: Any, upstream: Upstream) -> None:
    lines = [{"t": "From", "seq": 1}, {"t": " before", "seq": 2}]
    end = {"cg": "end", "terminationReason": "done-dialect", "tokenStopReason": "ok", "seq": 3}
    body = b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, end])
    upstream.play(answer(200, body, content_type="application/x-ndjson"))
    status, out, _ = chat("--url", upstream.base_url, "--resume", "run_1", MOTES_API_KEY=KEY)
    assert (status, out) == (0, "From before\n")
    assert upstream.received[0].path.startswith("/v1/runs/run_1/particles")
    status, _, err = chat("--resume", "run_1")
    assert (status, "--url" in err) == (1, True)


# At a terminal.


def test_talk_goes_on_with_its_history_until_the_user_leaves(screen: Any, upstream: Upstream) -> None:
    upstream.play(*HELLO)
    with screen("-m", "fake/m") as at:
        place = at.until("you> ")
        at.type("One?\r")
        place = at.until(r"Hello there\s+first token .* 5 in, 2 out", place)
        place = at.until("you> ", place)
        at.type("Two?\r")
        place = at.until(r"Hello there\s+first token", place)
        at.until("you> ", place)
        at.type(CTRL_D)
        assert at.end() == 0
    assert [turn["content"] for turn in upstream.received[1].json["messages"]] == [
        "One?",
        "Hello there",
        "Two?",
    ]


def test_an_interrupt_ends_the_answer_and_the_next_one_leaves(screen: Any, upstream: Upstream) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "So far, so good"}), UntilGone())
    upstream.play(*HELLO)
    with screen("-m", "fake/m", "--transcript", "talk.md") as at:
        at.until("you> ")
        at.type("Go\r")
        place = at.until("So far, so good")
        at.type(CTRL_C)
        place = at.until(r"So far, so good\s+interrupted; what came is kept", place)
        place = at.until("you> ", place)
        upstream.wait_until_gone()
        at.type("On\r")
        place = at.until("Hello there\\s+first token", place)
        at.until_asked("you> ", place)
        at.type(CTRL_C)
        assert at.end() == 0
        assert "Traceback" not in at.text
    turns = [turn["content"] for turn in upstream.received[1].json["messages"]]
    assert turns == ["Go", "So far, so good", "On"]


def test_several_models_stand_side_by_side(screen: Any) -> None:
    with screen("-m", "demo/echo", "-m", "demo-gemini/echo", "left and right") as at:
        assert at.end() == 0
        lines = [line.split() for line in at.text.splitlines()]
    assert ["demo/echo", "demo-gemini/echo"] in lines
    assert ["left", "and", "right", "left", "and", "right"] in lines


def test_on_a_narrow_screen_they_stand_one_below_the_other(screen: Any) -> None:
    with screen("-m", "demo/echo", "-m", "demo-gemini/echo", "hi", size=(24, 40)) as at:
        assert at.end() == 0
        shown = " ".join(at.text.split())
    assert re.search(r"demo/echo hi first token [^/]*/s · [^d]* demo-gemini/echo hi first token", shown)


def test_without_rich_the_answer_is_plain_and_still_harmless(tmp_path: Path, upstream: Upstream) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "a\x1b[31m b"}), STOP, DONE)
    bare = [sys.executable, "-c", f"import sys; sys.modules['rich'] = None; {COMMAND[2]}", "chat"]
    with AtTerminal([*bare, "-m", "fake/m", "hi"], environ(tmp_path), tmp_path) as at:
        assert at.end() == 0
        assert at.seen.startswith("a\\x1b[31m b\r\n")


def test_waiting_and_trying_again_are_shown(screen: Any) -> None:
    with screen("-m", "demo/flaky", "hi") as at:
        at.until(r"waiting \d")
        at.until(r"again in \d.* 1 of 3: .*Rate limit")
        at.until("The second attempt went well")
        assert at.end() == 0
    with screen("hi", MOTES_HEARTBEAT_S="0.3") as at:
        at.until(r"thinks \(\d+ words\)")
        at.until("waiting .* ❤❤")
        at.until(r"thought \d+ words")
        at.until("You asked")
        assert at.end() == 0


def test_reasoning_is_unfolded_where_it_is_asked_for(screen: Any) -> None:
    with screen("--reasoning", "hi") as at:
        assert at.end() == 0
        assert "thinks: The question is “hi”." in " ".join(at.text.split())


def test_an_answer_longer_than_the_screen_is_there_in_full_at_the_end(
    screen: Any, upstream: Upstream
) -> None:
    words = [f"line {number}\n" for number in range(60)]
    upstream.play(
        SSE_HEAD,
        *(chat_chunk({"content": word}) for word in words),
        Gate("seen"),
        STOP,
        chat_usage(1, 9),
        DONE,
    )
    with screen("-m", "fake/m", "hi", size=(12, 60)) as at:
        at.until("line 59")
        assert "line 9\r\n" not in at.text
        before = len(at.text)
        upstream.open("seen")
        assert at.end() == 0
        whole = at.text[before:]
    assert all(f"line {number}\r\n" in whole for number in range(60))


def test_an_answer_cannot_command_the_terminal(screen: Any, upstream: Upstream) -> None:
    upstream.play(
        SSE_HEAD, chat_chunk({"content": "a\x1b]0;owned\x07b \x9b31m c\r\x08"}), chat_chunk({}, "stop"), DONE
    )
    with screen("-m", "fake/m", "hi") as at:
        assert at.end() == 0
        seen = at.seen
    assert "a\\x1b]0;owned\\x07b \\x9b31m c\\r\\x08" in seen
    assert "\x1b]0;" not in seen
    assert "\x07" not in seen


# One answer, as it is told.


def told(*particles: p.Particle, times: tuple[float, ...] = ()) -> Pane:
    reassembler = Reassembler()
    pane = Pane("m", lambda: reassembler.message, 0.0)
    for particle, now in zip(particles, times or [1.0] * len(particles), strict=True):
        reassembler.feed(particle)
        pane.feed(particle, now)
    return pane


def test_calls_operations_and_code_are_told_in_their_order() -> None:
    pane = told(
        p.Reasoning("Let me see"),
        p.Operation("o", "searching", "search-web", "done"),
        p.CodeCall("c", "python", "1+1", "m"),
        p.CodeResult("c", False, "2", "m", "e"),
        p.ToolCall("t", "get_time", "{}"),
        p.Text("Done"),
    )
    parts = [text for _, text in pane.parts()]
    calls = ["runs python:\n1+1", "gives 2", "calls get_time {}"]
    assert parts == ["thought 3 words", "does searching", *calls, "Done"]


def test_one_word_of_thinking_is_one_word() -> None:
    assert [text for _, text in told(p.Reasoning("Hm"), p.Text("x")).parts()] == ["thought 1 word", "x"]


END = p.End("done-dialect", "ok")


@pytest.mark.parametrize(
    ("metrics", "numbers"),
    [
        (None, ""),
        (
            p.Metrics(tokens_in=3, tokens_out=8, tokens_per_second=16.0, cost=p.Cost(0.0012)),
            " · 16.0 tokens/s · 3 in, 8 out · 0.001200 USD",
        ),
        (
            p.Metrics(tokens_out=8, cost_cents=2.0, source="estimated"),
            " · 4.0 tokens/s · 8 out (estimated) · 0.020000 USD",
        ),
        (p.Metrics(tokens_out=8, inner_ms=1000), " · 8.0 tokens/s · 8 out"),
    ],
)
def test_numbers_are_told_as_far_as_they_are_known(metrics: p.Metrics | None, numbers: str) -> None:
    particles = [p.Text("Hi"), *([metrics] if metrics else []), END]
    pane = told(*particles, times=(0.5, *[2.5] * (len(particles) - 1)))
    assert pane.numbers() == f"first token 0.50 s{numbers}"


def test_while_it_goes_the_time_is_told_and_no_rate_that_is_none_yet() -> None:
    pane = told(p.Text("Hi"), p.Metrics(tokens_out=1))
    assert pane.state(7.04) == "7.0 s · first token 1.00 s · 1 out"
    assert told().state(7.04) == "waiting 7.0 s"
    assert told(p.Heartbeat(), p.Heartbeat()).state(7.04) == "waiting 7.0 s ❤❤"
    assert told(p.Text("Hi"), END).state(7.04) == ""
