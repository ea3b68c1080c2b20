"""One history every vendor accepts: calls answered directly after them, nothing lost without a word."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from motes.chat import AssistantMessage, ToolMessage, text_of
from motes.history import OMITTED, normalise
from motes.intake import parse_request


def messages(*raw: dict[str, Any]) -> Any:
    return parse_request({"model": "m", "messages": list(raw)}).messages


def call(*ids: str, content: str | None = None) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id: str, content: str = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER = {"role": "user", "content": "hi"}


def shape(raw: Any) -> list[str]:
    out = []
    for m in raw:
        if isinstance(m, AssistantMessage):
            out.append("call " + " ".join(c.id for c in m.tool_calls or []) if m.tool_calls else "assistant")
        elif isinstance(m, ToolMessage):
            out.append(f"{m.tool_call_id}={text_of(m.content)}")
        else:
            out.append(m.role)
    return out


def test_a_well_formed_history_is_left_alone() -> None:
    given_ = messages(USER, call("a", "b"), result("a"), result("b"), USER)
    out, warnings = normalise(given_)
    assert out == given_
    assert warnings == []


def test_results_are_put_into_call_order_directly_after_their_call() -> None:
    out, _ = normalise(messages(USER, call("a", "b"), USER, result("b", "2"), result("a", "1"), USER))
    assert shape(out) == ["user", "call a b", "a=1", "b=2", "user", "user"]


def test_a_result_without_a_call_is_dropped_with_a_word() -> None:
    out, warnings = normalise(messages(result("gone"), USER, call("a"), result("a"), USER))
    assert shape(out) == ["user", "call a", "a=r", "user"]
    assert len(warnings) == 1
    assert "messages.0" in warnings[0]


def test_an_inner_call_without_a_result_gets_a_placeholder() -> None:
    out, warnings = normalise(messages(USER, call("a", "b"), result("a"), USER))
    assert shape(out) == ["user", "call a b", "a=r", f"b={OMITTED}", "user"]
    assert len(warnings) == 1


def test_the_last_message_is_never_answered_for_the_caller() -> None:
    out, warnings = normalise(messages(USER, call("a")))
    assert shape(out) == ["user", "call a"]
    assert warnings == []


def test_an_id_used_again_in_a_later_turn_belongs_to_the_later_turn() -> None:
    out, _ = normalise(messages(USER, call("x"), result("x", "1"), call("x"), result("x", "2")))
    assert shape(out) == ["user", "call x", "x=1", "call x_2", "x_2=2"]


def test_a_signature_of_a_call_follows_its_new_id() -> None:
    signed = call("x") | {"reasoning_details": [{"type": "reasoning.encrypted", "id": "x", "data": "s"}]}
    out, _ = normalise(messages(USER, call("x"), result("x"), signed, result("x")))
    assert out[3].reasoning_details == [{"type": "reasoning.encrypted", "id": "x_2", "data": "s"}]


def test_what_is_no_text_in_system_text_is_the_users_to_say_and_what_follows_it_too() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    parts = [{"type": "text", "text": "one"}, image, {"type": "text", "text": "two"}]
    system = {"role": "system", "content": parts}
    out, warnings = normalise(messages(system, {"role": "developer", "content": "three"}, USER))
    assert [(m.role, text_of(m.content)) for m in out] == [
        ("system", "one"),
        ("developer", "three"),
        ("user", "two"),
        ("user", "hi"),
    ]
    assert [part.type for part in out[2].content] == ["image_url", "text"]
    assert len(warnings) == 1


def test_a_system_message_of_images_alone_is_no_system_message() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    out, _ = normalise(messages({"role": "system", "content": [image]}, USER))
    assert [m.role for m in out] == ["user", "user"]


def test_the_deprecated_function_form_is_brought_up_to_date() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    out, _ = normalise(messages(USER, legacy, {"role": "function", "name": "f", "content": "r"}, USER))
    assert [m.role for m in out] == ["user", "assistant", "tool", "user"]
    assert isinstance(out[1], AssistantMessage)
    assert isinstance(out[2], ToolMessage)
    assert out[1].tool_calls
    assert out[1].tool_calls[0].id == out[2].tool_call_id


def test_calls_without_id_get_one() -> None:
    out, _ = normalise(messages(USER, call("", ""), USER))
    assert isinstance(out[1], AssistantMessage)
    ids = [c.id for c in out[1].tool_calls or []]
    assert len(set(ids)) == 2
    assert all(ids)


STEP = st.one_of(
    st.just(USER),
    st.just({"role": "assistant", "content": "x"}),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(lambda ids: call(*ids)),
    st.sampled_from("abcd").map(result),
)


@given(st.lists(STEP, min_size=1, max_size=10))
def test_after_it_every_inner_call_is_answered_once_and_every_result_has_its_call(
    raw: list[dict[str, Any]],
) -> None:
    out, _ = normalise(messages(*raw))
    assert normalise(out) == (out, [])
    ids = [c.id for m in out if isinstance(m, AssistantMessage) for c in m.tool_calls or []]
    assert len(set(ids)) == len(ids)
    waiting: list[str] = []
    for message in out:
        if isinstance(message, ToolMessage):
            assert waiting
            assert message.tool_call_id == waiting.pop(0)
        else:
            assert not waiting
            waiting = (
                [c.id for c in message.tool_calls or []] if isinstance(message, AssistantMessage) else []
            )
