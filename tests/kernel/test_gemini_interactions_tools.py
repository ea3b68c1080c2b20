"""Interactions: calls of the client's tools, of an agent's own, and of those Google runs."""

from typing import Any

import pytest

from fakes.interactions import (
    AGENT,
    ID,
    RESEARCH,
    codes,
    completed,
    created,
    end,
    event,
    interaction,
    of,
    piece,
    read,
    run,
    said,
    start,
    stop,
    whole,
)
from motes import particles as p


def calls(*events: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(c.id, c.name, c.arguments) for c in read(*events).tool_calls]


def call(index: int, id: str, *pieces: str, **step: Any) -> list[dict[str, Any]]:
    return [
        start(index, "function_call", id=id, name="look", **step),
        *(piece(index, "arguments_delta", arguments=words) for words in pieces),
        stop(index),
    ]


# The client's.


def test_arguments_come_in_pieces_and_are_told_at_once() -> None:
    out = run(created(), *call(0, "c1", '{"at":', '"sea"}', arguments={}), completed("requires_action"))
    assert of(p.ToolCall, out) == [p.ToolCall("c1", "look")]
    assert [x.arguments for x in of(p.ToolCallArguments, out)] == ['{"at":', '"sea"}']
    assert end(out).stop == "ok-tool_invocations"


def test_arguments_that_are_there_from_the_start_count_if_no_pieces_come() -> None:
    last = completed("requires_action")
    assert calls(created(), *call(0, "c1", arguments={"at": "sea"}), last) == [("c1", "look", '{"at":"sea"}')]
    assert calls(created(), *call(0, "c1", '{"at":1}', arguments={"at": 2}), last) == [
        ("c1", "look", '{"at":1}')
    ]
    assert calls(created(), *call(0, "c1"), last) == [("c1", "look", "{}")]


def test_pieces_of_two_calls_may_alternate() -> None:
    a, b = call(0, "c1", '{"at"', ":1}"), call(1, "c2", '{"at"', ":2}")
    mixed = [event for pair in zip(a, b, strict=True) for event in pair]
    assert calls(created(), *mixed, completed("requires_action")) == [
        ("c1", "look", '{"at":1}'),
        ("c2", "look", '{"at":2}'),
    ]


def test_a_call_with_an_answer_is_complete_too() -> None:
    out = run(created(), *said(0, "Let me see."), *call(1, "c1"), completed())
    assert end(out).stop == "ok-tool_invocations"


# An agent's own.


def test_an_agents_own_function_is_an_operation_and_no_call() -> None:
    result = [start(1, "function_result", call_id="c1"), piece(1, "function_result", result="sand"), stop(1)]
    out = run(created(AGENT), *call(0, "c1", '{"at":"sea"}'), *result, *said(2, "Sand."), completed(by=AGENT))
    assert of(p.ToolCall, out) == []
    assert of(p.Operation, out) == [
        p.Operation(ID, "An agent is at work", "code-exec"),
        p.Operation("c1", "Using look", "code-exec", None, ID),
        p.Operation("c1", "Using look", "code-exec", None, ID, ("sea",)),
        p.Operation("c1", "Used look", "code-exec", "done", ID, ("sea",), ("sand",)),
        p.Operation(ID, "An agent is at work", "code-exec", "done"),
    ]
    assert of(p.HandleSet, out) == []


def test_a_call_an_agent_waits_for_is_handed_over() -> None:
    out = run(created(AGENT), *call(0, "c1", '{"at":"sea"}'), completed("requires_action", AGENT))
    assert of(p.ToolCall, out) == [p.ToolCall("c1", "look", '{"at":"sea"}')]
    assert end(out).stop == "ok-tool_invocations"


def test_a_call_of_a_model_that_its_run_answers_itself_is_none_for_the_client() -> None:
    steps = [
        {"type": "function_call", "id": "c1", "name": "look", "arguments": {}},
        {"type": "function_result", "call_id": "c1", "result": "sand"},
        {"type": "function_call", "id": "c2", "name": "look", "arguments": {"at": 1}},
    ]
    out = whole(interaction("requires_action", steps=steps))
    assert of(p.ToolCall, out) == [p.ToolCall("c2", "look")]


# Google's.


def test_a_tool_of_google_is_told_from_its_start_to_what_it_found() -> None:
    out = run(
        created(),
        start(0, "file_search_call", id="f1"),
        piece(0, "file_search_call", arguments={"query": "tides"}),
        stop(0),
        start(1, "file_search_result", call_id="f1"),
        piece(1, "file_search_result", result=[{"file_name": "tides.pdf"}]),
        stop(1),
        *said(2, "High."),
        completed(),
    )
    assert of(p.Operation, out) == [
        p.Operation("f1", "Searching files", "search-web"),
        p.Operation("f1", "Searching files", "search-web", inputs=("tides",)),
        p.Operation("f1", "Searched files", "search-web", "done", None, ("tides",), ("tides.pdf",)),
    ]


def test_a_result_whose_call_nobody_knows_is_that_of_the_latest() -> None:
    out = run(
        created(),
        start(0, "google_search_call", id="g1"),
        stop(0),
        start(1, "google_search_result"),
        completed(),
    )
    assert [(x.id, x.state) for x in of(p.Operation, out)] == [("g1", None), ("g1", "done")]


def test_code_and_its_result_belong_together() -> None:
    out = run(
        created(),
        start(0, "code_execution_call", id="e1", arguments={"language": "PYTHON", "code": "1/0"}),
        stop(0),
        start(1, "code_execution_result", call_id="e1"),
        piece(1, "code_execution_result", result="ZeroDivision", is_error=True),
        piece(1, "code_execution_result", result="Error"),
        stop(1),
        completed(),
    )
    assert of(p.CodeCall, out) == [p.CodeCall("e1", "python", "1/0", "gemini_auto_inline")]
    assert of(p.CodeResult, out) == [
        p.CodeResult("e1", True, "ZeroDivisionError", "gemini_auto_inline", "upstream")
    ]
    assert of(p.Operation, out)[-1].state == "error"


@pytest.mark.parametrize(
    "last", [completed(by=RESEARCH), completed("failed", RESEARCH), event("error", error={"code": "x"}), None]
)
def test_no_operation_is_left_at_work(last: dict[str, Any] | None) -> None:
    out = run(created(RESEARCH), start(0, "url_context_call", id="u1"), *([last] if last else []))
    states = {x.id: x.state for x in of(p.Operation, out)}
    assert set(states) == {ID, "u1"}
    assert all(states.values())


def test_more_than_an_excerpt_of_a_tool_is_never_told() -> None:
    long = "x" * 5000
    out = run(
        created(),
        start(0, "mcp_server_tool_call", id="m1", name=long, server_name="s", arguments={"q": [long] * 99}),
        stop(0),
        start(1, "mcp_server_tool_result", call_id="m1", result=long),
        completed(),
    )
    for x in of(p.Operation, out):
        assert len(x.text) <= 80
        assert all(len(word) <= 240 for word in (*x.inputs, *x.outputs))
        assert len(x.inputs) <= 20


# The unknown.


def test_steps_and_pieces_nobody_knows_are_counted_and_skipped() -> None:
    out = run(created(), start(0, "dream"), piece(0, "dream", depth=3), stop(0), *said(1, "Hi"), completed())
    assert (end(out).stop, codes(out)) == ("ok", ["unknown_step"])
    out = run(created(), start(0, "model_output"), piece(0, "scent", data="x"), completed())
    assert codes(out) == ["unknown_content"]


def test_a_new_tool_of_google_is_an_operation_all_the_same() -> None:
    out = run(
        created(),
        start(0, "tea_leaves_call", id="t1"),
        stop(0),
        start(1, "tea_leaves_result", call_id="t1"),
        completed(),
    )
    assert [x.text for x in of(p.Operation, out)] == ["Using tea leaves", "Used tea leaves"]
    assert codes(out) == ["unknown_step"]


def test_a_piece_without_its_step_begins_one() -> None:
    out = run(
        created(),
        piece(4, "text", text="Hi"),
        piece(5, "thought_summary", content={"text": "hm"}),
        completed(),
    )
    assert (of(p.Text, out), of(p.Reasoning, out)) == ([p.Text("Hi")], [p.Reasoning("hm")])
    assert codes(out) == ["implicit_step"]
