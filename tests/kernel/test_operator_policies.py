"""What an operator may have said or not said to a vendor, and names of tools that are too long for one."""

from typing import Any

import pytest

from motes.chat import ChatRequest
from motes.dispatch import generate
from motes.intake import parse_request
from motes.jsontext import loads
from motes.normaliser import prepared
from motes.policies import governed
from motes.quirks import Quirks
from motes.tool_names import shortened
from motes.vendors.table import VENDORS
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, Surface, Vendor

LONG = "search_the_whole_archive_of_the_city_for_everything_that_was_ever_written_about_it"
RULES = {"role": "system", "content": "Be brief."}
MORE = {"role": "developer", "content": [{"type": "text", "text": "Use metric units."}]}
USER = {"role": "user", "content": "Hi"}


def asked(*messages: Any, **members: Any) -> ChatRequest:
    return parse_request({"messages": list(messages) or [USER], **members})


def sent(request: ChatRequest, quirks: Quirks, surface: Surface = CHAT) -> Any:
    row = Vendor(id="x", base_url="http://x", surfaces=(surface,), key_required=False, quirks=quirks)
    return loads(generate(request, row, "m").request.body)


# System text


@pytest.mark.parametrize(
    ("quirks", "system"),
    [
        (Quirks(), ["Be brief.", "Use metric units."]),
        (Quirks(system_policy="merge"), ["Be brief.\n\nUse metric units."]),
        (Quirks(system_policy="prepend", system_text="Ours."), ["Ours.", "Be brief.", "Use metric units."]),
        (Quirks(system_policy="replace", system_text="Ours."), ["Ours."]),
        (Quirks(system_policy="replace"), []),
        (Quirks(system_policy="replace", system_required=True), [""]),
    ],
)
def test_system_text_goes_as_the_operator_has_it(quirks: Quirks, system: list[str]) -> None:
    body = sent(asked(RULES, USER, MORE), quirks)
    assert [m["content"] for m in body["messages"] if m["role"] == "system"] == system
    assert [m["content"] for m in body["messages"] if m["role"] == "user"] == ["Hi"]


def test_the_operators_system_text_reaches_every_protocol() -> None:
    ours = Quirks(system_policy="replace", system_text="Ours.")
    assert sent(asked(RULES, USER), ours, GENERATE)["systemInstruction"]["parts"] == [{"text": "Ours."}]
    assert "Ours." in str(sent(asked(RULES, USER), ours, MESSAGES)["system"])


@pytest.mark.parametrize("policy", ["merge", "replace"])
def test_a_change_of_system_text_is_told_but_not_the_operators_words(policy: Any) -> None:
    quirks = Quirks(system_policy=policy, system_text="Ours.")
    _, warnings = prepared(asked(RULES, USER, MORE), quirks)
    assert any(warning.startswith("system messages:") for warning in warnings)
    assert "Ours." not in str(warnings)


def test_nothing_is_told_where_nothing_changes() -> None:
    request = asked(RULES, USER)
    assert prepared(request, Quirks(system_policy="merge")) == (request, [])
    assert governed(request.messages, Quirks(), print) is request.messages


# Words of earlier answers


def test_words_of_earlier_answers_are_replaced_and_no_turn_is_lost() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"q":"marker"}'}}
    history = (
        {"role": "user", "content": "marker"},
        {"role": "assistant", "content": "marker", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "marker"},
        {"role": "assistant", "content": [{"type": "text", "text": "a marker"}]},
        USER,
    )
    body = sent(asked(*history), Quirks(content_policy={"marker": "[removed]"}))
    assert [m["content"] for m in body["messages"]] == ["marker", "[removed]", "marker", "a [removed]", "Hi"]
    assert body["messages"][1]["tool_calls"] == [call]
    _, warnings = prepared(asked(*history), Quirks(content_policy={"marker": "[removed]"}))
    assert len(warnings) == 1


def test_no_row_of_ours_has_a_policy() -> None:
    for row in VENDORS.values():
        for quirks in (row.quirks, *(surface.quirks for surface in row.surfaces if surface.quirks)):
            assert (quirks.system_policy, quirks.system_text, quirks.content_policy) == ("keep", "", {})


# Names of tools


def with_tools(*names: str, **members: Any) -> ChatRequest:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names
    ]
    return asked(tools=tools, **members)


def test_a_long_name_is_sent_short_everywhere_it_stands_and_the_way_back_is_known() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": LONG, "arguments": "{}"}}
    request = with_tools(
        LONG,
        "now",
        messages=[
            USER,
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": LONG, "content": "x"},
        ],
        tool_choice={"type": "function", "function": {"name": LONG}},
    )
    body = sent(request, Quirks(max_tool_name=64))
    short = body["tools"][0]["function"]["name"]
    assert len(short) == 64
    assert short.startswith(LONG[:55])
    assert body["tools"][1]["function"]["name"] == "now"
    assert body["tool_choice"]["function"]["name"] == short
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == short
    assert LONG not in str(body)
    row = Vendor(
        id="x", base_url="http://x", surfaces=(CHAT,), key_required=False, quirks=Quirks(max_tool_name=64)
    )
    made = generate(request, row, "m")
    assert made.tool_names == {short: LONG}
    assert any(short in warning for warning in made.warnings)


def test_a_name_is_the_same_every_time_and_no_two_are_alike() -> None:
    request = with_tools(LONG + "_a", LONG + "_b", asked_twice := LONG[:64])
    first, names, _ = shortened(request, 64)
    again, *_ = shortened(request, 64)
    assert first == again
    sent_names = [tool.function.name for tool in first.tools or [] if tool.function]
    assert len(set(sent_names)) == 3
    assert asked_twice in sent_names
    assert sorted(names.values()) == [LONG + "_a", LONG + "_b"]


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "name": LONG},
        {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "required",
                "tools": [{"type": "function", "function": {"name": LONG}}],
            },
        },
        {"type": "custom", "custom": {"name": LONG}},
    ],
)
def test_every_form_of_a_choice_has_the_short_name(choice: Any) -> None:
    out, names, _ = shortened(with_tools(LONG, tool_choice=choice), 64)
    assert LONG not in str(out.tool_choice)
    assert next(iter(names)) in str(out.tool_choice)


def test_deprecated_functions_and_free_form_tools_have_short_names_too() -> None:
    request = asked(
        {"role": "assistant", "function_call": {"name": LONG, "arguments": "{}"}},
        {"role": "function", "name": LONG, "content": "x"},
        USER,
        functions=[{"name": LONG}],
        tools=[{"type": "custom", "custom": {"name": LONG + "_free"}}],
        function_call={"name": LONG},
    )
    out, names, _ = shortened(request, 64)
    assert LONG not in str(out.model_dump())
    assert sorted(names.values()) == [LONG, LONG + "_free"]


def test_a_name_that_fits_stays_as_it_is() -> None:
    request = with_tools(LONG)
    assert shortened(request, len(LONG)) == (request, {}, [])
    assert LONG in str(sent(request, Quirks()))


# The beginning of an answer


@pytest.mark.parametrize(("vendor", "flag"), [("mistral", "prefix"), ("moonshot", "partial")])
def test_the_beginning_of_an_answer_is_marked_where_it_must_be(vendor: str, flag: str) -> None:
    row = VENDORS[vendor]
    begun = {"role": "assistant", "content": "Once"}
    messages = loads(generate(asked(USER, begun, USER, begun), row, "m", secret="k").request.body)["messages"]
    assert [flag in message for message in messages] == [False, False, False, True]
    assert messages[-1][flag] is True
    own = asked(USER, begun | {flag: False})
    assert loads(generate(own, row, "m", secret="k").request.body)["messages"][-1][flag] is False
    assert flag not in sent(asked(USER, begun), Quirks())["messages"][-1]
