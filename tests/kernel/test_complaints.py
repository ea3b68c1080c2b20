"""What a caller or an operator got wrong, in words that name the place and the cure, and never the value."""

from typing import Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from motes.complaints import told
from motes.errors import InvalidRequest
from motes.intake import parse_request

HI = {"role": "user", "content": "Hi"}
ROLES = "system, developer, user, assistant, tool, function"
PARTS = "text, image_url, input_audio, file, refusal"


def asked(**members: Any) -> dict[str, Any]:
    return {"messages": [HI]} | members


def said(content: Any) -> dict[str, Any]:
    return {"messages": [HI, {"role": "user", "content": content}]}


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ({}, "messages", "is missing"),
        ({"messages": []}, "messages", "must not be empty"),
        ({"messages": "secret"}, "messages", "must be a list"),
        ({"messages": ["secret"]}, "messages.0", "must be an object"),
        ({"messages": [{"role": "secret"}]}, "messages.0.role", f"must be one of {ROLES}"),
        ({"messages": [{"content": "secret"}]}, "messages.0.role", "is missing"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.tool_call_id", "is missing"),
        (said(7), "messages.1.content", "must be a string or a list"),
        (said(["secret"]), "messages.1.content.0", "must be an object"),
        (said([{"type": "secret"}]), "messages.1.content.0.type", f"must be one of {PARTS}"),
        (said([{"text": "secret"}]), "messages.1.content.0.type", "is missing"),
        (said([{"type": "text", "text": 7}]), "messages.1.content.0.text", "must be a string"),
        (said([{"type": "image_url"}]), "messages.1.content.0.image_url", "is missing"),
        (said([{"type": "image_url", "image_url": {}}]), "messages.1.content.0.image_url.url", "is missing"),
        (asked(stop=7), "stop", "must be a string or a list"),
        (asked(tool_choice=7), "tool_choice", "must be a string or an object"),
        (asked(temperature=9), "temperature", "must be 2 or less"),
        (asked(temperature=-1), "temperature", "must be 0 or more"),
        (asked(max_tokens=0), "max_tokens", "must be 1 or more"),
        (asked(max_tokens=1.5), "max_tokens", "must be a whole number"),
        (asked(seed="secret"), "seed", "must be a whole number"),
        (asked(top_p="secret"), "top_p", "must be a number"),
        (asked(tools=[{"type": "function"}]), "tools.0.function", "is missing"),
        (asked(tools=[{"type": "custom"}]), "tools.0.custom", "is missing"),
        (
            asked(tools=[{"type": "function", "function": {"name": ""}}]),
            "tools.0.function.name",
            "must not be empty",
        ),
        (asked(response_format={"type": "json_schema"}), "response_format.json_schema", "is missing"),
        (
            asked(response_format={"type": "json_schema", "json_schema": None}),
            "response_format.json_schema",
            "is missing",
        ),
        (
            asked(response_format={"type": "secret"}),
            "response_format.type",
            "must be 'text', 'json_object' or 'json_schema'",
        ),
        (asked(motes=7), "motes", "must be an object"),
        (asked(motes={"context": "secret" * 20}), "motes.context", "must have at most 64 characters"),
        (asked(logit_bias={"a": "secret"}), "logit_bias.a", "must be a number"),
    ],
)
def test_the_place_and_the_cure_are_told_and_not_the_value(body: Any, place: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request(body)
    assert (caught.value.param, caught.value.message) == (place, f"{place}: {words}")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("value", ["yes", "true", "", 1, 0, 1.0, [], {}])
@pytest.mark.parametrize(
    "place",
    [
        "stream",
        "parallel_tool_calls",
        "logprobs",
        "store",
        "stream_options.include_usage",
        "reasoning.enabled",
        "reasoning.exclude",
    ],
)
def test_what_is_only_like_true_or_false_is_neither(place: str, value: Any) -> None:
    name, _, inner = place.partition(".")
    with pytest.raises(InvalidRequest) as caught:
        parse_request(asked(**{name: {inner: value} if inner else value}))
    assert caught.value.message == f"{place}: must be true or false"


def test_a_schema_that_is_promised_and_there_is_taken() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    assert parse_request(asked(response_format=form)).response_format


class Odd(BaseModel):
    pattern: str = Field(default="a", pattern="^a+$")
    limited: list[int] = Field(default=[], max_length=2)
    many: list[int] = Field(default=[1, 2], min_length=2)
    finite: float = Field(default=1, allow_inf_nan=False)
    one: str | None = None
    date: bytes = b""


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("pattern", "secret", "must match ^a+$"),
        ("limited", [1, 2, 3], "must have at most 2 members"),
        ("many", [1], "must have at least 2 members"),
        ("finite", float("nan"), "must be a finite number"),
        ("date", {}, "input should be a valid bytes"),
    ],
)
def test_what_has_no_words_of_ours_is_told_in_pydantics(member: str, value: Any, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Odd.model_validate({member: value})
    assert told(caught.value.errors()) == words
