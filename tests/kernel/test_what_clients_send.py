"""Every house takes what real clients send: members it has no use for, and two words for one thing."""

import json
from typing import Any, get_args

import pytest

from motes.dialects.base import NO_TRAITS, DialectName
from motes.dialects.registry import resolve
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS

USER = {"role": "user", "content": "Hi"}
HOUSES = get_args(DialectName)
MODELS: dict[DialectName, str] = {"bedrock-invoke": "anthropic.claude-sonnet-4-5-20250929-v1:0"}
TOOL = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
UNUSED: dict[str, Any] = {
    "store": False,
    "parallel_tool_calls": True,
    "metadata": {"a": "b"},
    "reasoning_effort": "low",
    "service_tier": "auto",
    "verbosity": "low",
    "prompt_cache_key": "k",
    "safety_identifier": "s",
    "user": "u",
    "seed": 1,
    "logit_bias": {},
    "n": 1,
    "modalities": ["text"],
    "prediction": {"type": "content", "content": "x"},
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "extra_body": {"x": 1},
    "a_member_of_tomorrow": {"deep": [1, None]},
}


def sent(dialect: DialectName, **members: Any) -> dict[str, Any]:
    request = parse_request({"model": "v/m", "messages": [USER], **members})
    return resolve(dialect).body(request, MODELS.get(dialect, "m"), NO_QUIRKS, NO_TRAITS).json


@pytest.mark.parametrize("dialect", HOUSES)
@pytest.mark.parametrize("member", UNUSED)
def test_a_member_without_use_stops_no_request(dialect: DialectName, member: str) -> None:
    body = sent(dialect, **{member: UNUSED[member]})
    assert json.dumps(body)
    assert "Hi" in json.dumps(body)
    assert "tomorrow" not in json.dumps(body)


@pytest.mark.parametrize("dialect", HOUSES)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"max_tokens": 77}, {"max_completion_tokens": 77}),
        ({"tools": []}, {}),
        ({"tools": [], "tool_choice": "auto"}, {}),
        ({"tools": None, "stop": None, "temperature": None}, {}),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}, {}),
        (
            {"messages": [{"role": "developer", "content": "Brief."}, USER]},
            {"messages": [{"role": "system", "content": "Brief."}, USER]},
        ),
        (
            {"functions": [TOOL["function"]], "function_call": "auto"},
            {"tools": [TOOL], "tool_choice": "auto"},
        ),
    ],
    ids=[
        "max_completion_tokens",
        "no tools",
        "a choice of none",
        "null",
        "parts",
        "developer",
        "functions",
    ],
)
def test_two_words_for_one_thing_are_one_request(
    dialect: DialectName, one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert sent(dialect, **one) == sent(dialect, **other)
