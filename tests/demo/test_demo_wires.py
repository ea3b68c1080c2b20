"""The demo vendor's wires as motes' own houses read them: every wire tells the same story."""

import itertools
import json
from typing import Any

import pytest

from fakes.recordings import message, particles
from motes import particles as p
from motes.demo.rows import demo_rows
from motes.demo.scripts import Cut, Pause
from motes.demo.vendor import Answer, DemoVendor
from motes.dialects.registry import resolve
from motes.dispatch import generate
from motes.fragments import Message
from motes.intake import parse_request

ASK = [{"role": "user", "content": "Wer da?"}]


TOOL = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
ASKED = {"messages": ASK, "tools": [TOOL]}
ANSWERED = [
    *ASK,
    {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "12:34 {question}"},
]
ROWS = demo_rows({"demo": "http://a/v1", "demo-anthropic": "http://a/v1", "demo-gemini": "http://a/v1beta"})
OF_DIALECT = {row.surfaces[0].dialect: row for row in ROWS.values()}


def answer(dialect: str, model: str, *, stream: bool, asked: dict[str, Any] = ASKED) -> Answer:
    """The demo vendor's answer to what motes' own house makes of a chat request."""
    plan = generate(parse_request(asked), OF_DIALECT[dialect], model).request
    body = json.loads(plan.body)
    target = plan.url.removeprefix("http://a")
    if not stream:
        body.pop("stream_options", None)
        body |= {"stream": False} if "stream" in body else {}
        target = target.replace("streamGenerateContent?alt=sse", "generateContent")
    data = json.dumps(body).encode()
    return DemoVendor().answer("POST", target, dict(plan.headers), data, 1_790_000_000)


def read(dialect: str, model: str, *, stream: bool = True, asked: dict[str, Any] = ASKED) -> Message:
    steps = itertools.takewhile(
        lambda step: not isinstance(step, Cut), answer(dialect, model, stream=stream, asked=asked).steps
    )
    reads = [step for step in steps if isinstance(step, bytes)]
    return message(particles(resolve(dialect), reads))  # type: ignore[arg-type]


DIALECTS = ("openai-chat", "anthropic-messages", "gemini-generate")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_hello_has_reasoning_text_a_call_a_citation_and_usage(dialect: str, stream: bool) -> None:
    told = read(dialect, "hello", stream=stream)
    assert told.outcome == "completed"
    assert told.reasoning.startswith("The question is “Wer da?”")
    assert told.text.startswith("You asked: “Wer da?”. A mote is")
    assert told.text.endswith("São Paulo?")
    (call,) = told.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_time", {"city": "Zürich", "format": "24h"})
    assert {(c.title, c.url) for c in told.citations} == {
        ("Mote (dust)", "https://en.wiktionary.org/wiki/mote")
    }
    assert told.end is not None
    assert told.end.stop == "ok-tool_invocations"
    assert told.metrics is not None
    assert told.metrics.tokens_out is not None
    assert told.metrics.tokens_out > 60


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_in_hello_surprises_the_house(dialect: str) -> None:
    assert read(dialect, "hello", stream=True).warnings == []


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("change", [{"tools": None}, {"tool_choice": "none"}, {"tools": "another"}], ids=str)
def test_a_tool_that_is_not_offered_is_not_called(dialect: str, stream: bool, change: dict[str, Any]) -> None:
    if change.get("tools") == "another":
        change = {"tools": [{"type": "function", "function": {"name": "other"}}]}
    told = read(dialect, "hello", stream=stream, asked=ASKED | change)
    assert told.tool_calls == []
    assert told.text.endswith("beam of light.")
    assert told.end is not None
    assert told.end.stop == "ok"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_once_the_tool_has_answered_it_tells_the_time_and_stops(dialect: str, stream: bool) -> None:
    told = read(dialect, "hello", stream=stream, asked=ASKED | {"messages": ANSWERED})
    assert told.tool_calls == []
    assert told.text == "You asked: “Wer da?”. And the time where you are: 12:34 {question}."
    assert told.end is not None
    assert told.end.stop == "ok"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", ["hello", "echo"])
def test_a_question_after_that_is_a_new_one(dialect: str, model: str) -> None:
    again = [*ANSWERED, {"role": "assistant", "content": "12:34"}, {"role": "user", "content": "Und jetzt?"}]
    told = read(dialect, model, asked=ASKED | {"messages": again})
    assert told.text.startswith("You asked: “Und jetzt?”." if model == "hello" else "Und jetzt?")
    assert len(told.tool_calls) == (model == "hello")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_question_is_the_last_turn_of_the_user_that_has_words(dialect: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    turns = [*ASK, {"role": "assistant", "content": "?"}, {"role": "user", "content": [picture]}]
    assert read(dialect, "echo", asked=ASKED | {"messages": turns}).text == "Wer da?"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_cut_is_a_truncation_and_error_an_overload(dialect: str) -> None:
    cut, failed = read(dialect, "cut", stream=True), read(dialect, "error", stream=True)
    assert cut.error is not None
    assert failed.error is not None
    assert (cut.error.kind, failed.error.kind) == ("stream_truncated", "overloaded")
    assert cut.text.startswith("This answer will not come")
    assert failed.text.startswith("So far it goes well")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_slow_waits_first_and_then_says_all(dialect: str) -> None:
    steps = list(answer(dialect, "slow", stream=True).steps)
    first_word = next(i for i, step in enumerate(steps) if isinstance(step, bytes) and b"Here" in step)
    assert sum(s.seconds for s in steps[:first_word] if isinstance(s, Pause)) > 10
    assert not any(isinstance(step, Pause | Cut) for step in steps[first_word:])
    assert read(dialect, "slow", stream=True).text.startswith("Here I am at last. You asked: “Wer da?”")


def test_a_search_is_an_operation_where_the_wire_has_one() -> None:
    steps = answer("anthropic-messages", "hello", stream=True).steps
    run = particles(resolve("anthropic-messages"), [step for step in steps if isinstance(step, bytes)])
    assert {x.kind for x in run if isinstance(x, p.Operation)} == {"search-web"}
