"""What callers send is policed: clear errors with the place, tolerance where OpenAI's clients need it."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes.chat import ChatRequest
from motes.errors import InvalidRequest
from motes.intake import parse_request

HI = [{"role": "user", "content": "hi"}]


def request(**fields: Any) -> ChatRequest:
    return parse_request({"model": "m", "messages": HI, **fields})


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"not json", None),
        (b"[]", None),
        (b'"x"', None),
        ({"model": "m"}, "messages"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": "hi"}, "messages"),
        ({"model": "m", "messages": [{"role": "oracle", "content": "x"}]}, "messages.0.role"),
        ({"model": "m", "messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        (
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "smell"}]}]},
            "messages.0.content.0.type",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]},
            "messages.0.content.0.text",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": 1}}]}]},
            "messages.0.tool_calls.0.function.name",
        ),
        ({"model": "m", "messages": HI, "temperature": 3}, "temperature"),
        ({"model": "m", "messages": HI, "max_tokens": 0}, "max_tokens"),
        ({"model": "m", "messages": HI, "stream": "maybe"}, "stream"),
        ({"model": "m", "messages": HI, "n": 2}, "n"),
        ({"model": "m", "messages": HI, "logprobs": True}, "logprobs"),
        ({"model": "m", "messages": HI, "reasoning_effort": "heroic"}, "reasoning_effort"),
        ({"model": "m", "messages": HI, "tools": [{"type": "function"}]}, "tools.0.function"),
        ({"model": "m", "messages": HI, "motes": {"context": "x" * 65}}, "motes.context"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused_with_the_place(body: Any, param: str | None) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request(body)
    assert caught.value.status_hint == 400
    assert caught.value.message
    assert caught.value.param == param


def test_a_value_is_never_repeated_in_the_error() -> None:
    with pytest.raises(InvalidRequest) as caught:
        request(temperature="my private text")
    assert "private" not in caught.value.message


@pytest.mark.parametrize("code", ["n", "logprobs"])
def test_what_we_do_not_do_says_unsupported(code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        request(**{code: 2 if code == "n" else True})
    assert caught.value.code == "unsupported"


def test_unknown_fields_are_kept_and_no_error() -> None:
    assert (request(chat_template_kwargs={"x": 1}).model_extra or {})["chat_template_kwargs"] == {"x": 1}


def test_nulls_mean_absent() -> None:
    empty = request(**{name: None for name in ChatRequest.model_fields if name not in ("model", "messages")})
    assert empty.stops == []
    assert empty.effort is None
    assert empty.motes.context is None


@pytest.mark.parametrize(
    ("fields", "effort", "budget", "wants"),
    [
        ({}, None, None, False),
        ({"reasoning_effort": "none"}, "off", None, False),
        ({"reasoning_effort": "med"}, "medium", None, True),
        ({"reasoning": {"effort": "xhigh"}}, "xhigh", None, True),
        ({"reasoning": {"enabled": False}}, "off", None, False),
        ({"reasoning": {"enabled": True}}, None, None, True),
        ({"reasoning": {"max_tokens": 2000}}, None, 2000, True),
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}}, None, 4000, True),
        ({"thinking": {"type": "adaptive"}}, None, None, True),
        ({"thinking": {"type": "disabled"}}, "off", None, False),
    ],
)
def test_reasoning_control_is_read_in_every_form(fields: Any, effort: Any, budget: Any, wants: bool) -> None:
    r = request(**fields)
    assert (r.effort, r.reasoning_budget, r.wants_reasoning) == (effort, budget, wants)


def test_argument_objects_and_bare_image_addresses_are_understood() -> None:
    r = parse_request(
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": "https://x/y.png"}]},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}],
                },
            ]
        }
    )
    assert r.messages[0].content[0].image_url.url == "https://x/y.png"  # type: ignore[union-attr,index]
    assert r.messages[1].tool_calls[0].arguments == '{"x":1}'  # type: ignore[union-attr,index]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*ChatRequest.model_fields, "odd"]), JSON, max_size=6))
def test_any_body_is_a_request_or_a_clear_refusal(body: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidRequest):
        effort = parse_request(body).effort
        assert effort in (None, "off", "minimal", "low", "medium", "high", "xhigh", "max")
