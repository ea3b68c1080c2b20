"""What most requests are like is done in fewer steps, and comes out as by the whole rule."""

from typing import get_args

import pytest

from motes import jsontext
from motes.chat import ChatRequest
from motes.dialects.base import NO_TRAITS, DialectName
from motes.dialects.registry import resolve
from motes.history import normalise
from motes.intake import parse_request
from motes.model_rules import of_model
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS

PLAIN = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "Hello.", "reasoning_content": "greet", "refusal": None},
    {"role": "user", "content": [{"type": "text", "text": "and\ud83d\ude00?"}]},
]
CALLED = [
    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "1"},
]
OPTIONAL = [name for name in ChatRequest.model_fields if name not in ("model", "messages")]
ROWS = [
    (id, surface.dialect)
    for id in (
        "anthropic",
        "openai",
        "gemini",
        "bedrock",
        "ollama",
        "cohere",
        "openrouter",
        "deepseek",
        "mistral",
    )
    for surface in VENDORS[id].surfaces
]
MODELS = ["m", "claude-opus-4-5", "claude-3-5-haiku", "gpt-5.6-terra", "gemini-3-pro", "o3"]


def test_a_history_without_calls_is_what_it_is_before_one_with_calls() -> None:
    plain = parse_request({"messages": PLAIN}).messages
    short, notes = normalise(plain)
    whole, others = normalise([*plain, *parse_request({"messages": CALLED}).messages])
    assert (short, notes) == (whole[: len(plain)], others) == (plain, [])
    assert short is not plain


@pytest.mark.parametrize("message", [*CALLED, {"role": "function", "name": "f", "content": "1"}])
def test_a_call_or_a_result_is_paired_and_never_plain(message: dict[str, object]) -> None:
    messages = parse_request({"messages": [*PLAIN, message, *PLAIN]}).messages
    out, notes = normalise(messages)
    assert out != messages
    assert notes


def test_every_dialect_is_looked_at() -> None:
    assert {dialect for _, dialect in ROWS} == set(get_args(DialectName))


@pytest.mark.parametrize(("id", "dialect"), ROWS)
@pytest.mark.parametrize("model", MODELS)
def test_a_member_that_is_null_is_one_that_is_not_given(id: str, dialect: DialectName, model: str) -> None:
    quirks = of_model(speaking(VENDORS[id], dialect, model).quirks, model)
    body = resolve(dialect).body
    bare = body(parse_request({"messages": PLAIN}), model, quirks, NO_TRAITS)
    given = {"messages": PLAIN} | dict.fromkeys(OPTIONAL)
    assert body(parse_request(given), model, quirks, NO_TRAITS) == bare
    for name in OPTIONAL:
        one = body(parse_request({"messages": PLAIN, name: None}), model, quirks, NO_TRAITS)
        assert (one.json, one.warnings) == (bare.json, bare.warnings)


@pytest.mark.parametrize(("id", "dialect"), ROWS)
@pytest.mark.parametrize("text", ["plain", "na\u00efve", "\ud83d\ude00", "half \ud83d", "\udc00"])
def test_a_body_that_is_written_already_is_written_as_it_would_be(
    id: str, dialect: DialectName, text: str
) -> None:
    request = parse_request({"messages": [{"role": "user", "content": text}]})
    body = resolve(dialect).body(request, "m", speaking(VENDORS[id], dialect).quirks, NO_TRAITS)
    assert body.written in (None, jsontext.dump_bytes(body.json))
