"""The demo vendor's wires as motes' own houses read them: every wire tells the same story."""

import itertools
import json
from typing import Any

import pytest

from fakes.recordings import message, particles
from motes import particles as p
from motes.demo.scripts import Cut, Pause
from motes.demo.vendor import Answer, DemoVendor
from motes.dialects.registry import resolve
from motes.fragments import Message

HEADERS = {"anthropic-version": "2023-06-01"}
ASK = [{"role": "user", "content": "Wer da?"}]


def answer(dialect: str, model: str, *, stream: bool) -> Answer:
    body: dict[str, Any] = {"model": model, "messages": ASK, "stream": stream, "max_tokens": 9}
    target = {"openai-chat": "/v1/chat/completions", "anthropic-messages": "/v1/messages"}.get(dialect)
    if target is None:
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        target = f"/v1beta/models/{model}:{method}"
        body = {"contents": [{"role": "user", "parts": [{"text": "Wer da?"}]}]}
    body |= {"stream_options": {"include_usage": True}} if dialect == "openai-chat" else {}
    return DemoVendor().answer("POST", target, HEADERS, json.dumps(body).encode(), 1_790_000_000)


def read(dialect: str, model: str, *, stream: bool) -> Message:
    steps = itertools.takewhile(
        lambda step: not isinstance(step, Cut), answer(dialect, model, stream=stream).steps
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
