"""Responses streams: calls for the client, tools the vendor runs, sources, images, leaked directives."""

from typing import Any

import pytest

from fakes.responses_streams import (
    CREATED,
    XAI,
    added,
    arguments,
    body,
    calls,
    codes,
    completed,
    done,
    end,
    event,
    fc,
    incomplete,
    msg,
    read,
    response,
    run,
    spoken,
    step,
)
from motes import particles as p
from motes.fragments import Message

SIX = '{"x":1}'


def operations(*events: Any, **options: Any) -> list[tuple[str, Any]]:
    return [(x.text, x.state) for x in run(*events, **options) if isinstance(x, p.Operation)]


def last(m: Message) -> p.Operation:
    (found,) = [f.operation for f in m.fragments if hasattr(f, "operation")]
    return found


# The client's calls.


def test_a_call_is_told_at_once_and_its_arguments_piece_by_piece() -> None:
    out = spoken(
        run(CREATED, added(fc()), arguments('{"x"'), arguments(":1}"), done(fc(SIX)), completed(fc(SIX)))
    )
    assert out == [p.ToolCall("call_1", "f"), p.ToolCallArguments('{"x"'), p.ToolCallArguments(":1}")]


@pytest.mark.parametrize(
    "events",
    [
        [added(fc()), arguments(SIX)],
        [added(fc()), arguments(SIX), done(fc(SIX))],
        [added(fc()), arguments('{"x"'), done(fc(SIX))],
        [added(fc()), step("function_call_arguments.done", "fc_1", arguments=SIX)],
        [
            added(fc()),
            arguments('{"x"'),
            step("function_call_arguments.done", "fc_1", arguments=SIX),
            done(fc(SIX)),
        ],
        [added(fc(SIX)), done(fc(SIX))],
        [added(fc(SIX))],
        [added(fc(name="")), arguments(SIX), done(fc(SIX))],
        [
            added(fc(name="")),
            arguments('{"x":'),
            step("function_call_arguments.done", "fc_1", arguments=SIX, name="f"),
        ],
        [done(fc(SIX))],
        [done(fc({"x": 1}))],
        [],
    ],
)
def test_arguments_are_neither_doubled_nor_lost_whatever_forms_of_them_come(events: list[Any]) -> None:
    m = read(CREATED, *events, completed(fc(SIX)))
    assert (calls(m), codes(m), end(m).stop) == ([("call_1", "f", SIX)], [], "ok-tool_invocations")


def test_a_final_list_that_is_empty_loses_nothing() -> None:
    assert calls(read(CREATED, added(fc()), arguments(SIX), done(fc(SIX)), completed())) == [
        ("call_1", "f", SIX)
    ]


def test_arguments_of_two_calls_may_interleave() -> None:
    one, two = fc(id="fc_1", call_id="a"), fc(id="fc_2", call_id="b", name="g")
    pieces = [
        arguments("{", "fc_1", 0),
        arguments("[", "fc_2", 1),
        arguments("}", "fc_1", 0),
        arguments("]", "fc_2", 1),
    ]
    m = read(CREATED, added(one, 0), added(two, 1), *pieces, completed())
    assert calls(m) == [("a", "f", "{}"), ("b", "g", "[]")]


def test_calls_that_differ_only_in_their_place_stay_apart() -> None:
    one, two = fc(id="", call_id=""), fc(id="", call_id="", name="g")
    pieces = [
        event("function_call_arguments.delta", output_index=at, delta=delta)
        for at, delta in ((1, "[]"), (0, "{}"))
    ]
    m = read(CREATED, added(one, 0), added(two, 1), *pieces, completed())
    assert [(c.name, c.arguments) for c in m.tool_calls] == [("f", "{}"), ("g", "[]")]
    assert len({c.id for c in m.tool_calls}) == 2


def test_a_call_without_arguments_has_none() -> None:
    assert calls(read(CREATED, added(fc()), done(fc("")), completed())) == [("call_1", "f", "{}")]


def test_arguments_cut_by_the_token_limit_stay_as_they_are() -> None:
    m = read(
        CREATED,
        added(fc()),
        arguments('{"x'),
        done(fc('{"x', status="incomplete")),
        incomplete("max_output_tokens"),
    )
    assert (calls(m), end(m).stop) == ([("call_1", "f", '{"x')], "out-of-tokens")


def test_whole_arguments_that_say_something_else_do_not_undo_the_pieces() -> None:
    m = read(CREATED, added(fc()), arguments(SIX), done(fc('{"y":2}')), completed())
    assert (calls(m), codes(m)) == ([("call_1", "f", SIX)], ["arguments_differ"])


def test_a_call_that_never_gets_a_name_is_told_with_a_word() -> None:
    m = read(CREATED, arguments("{}", "fc_7"), completed())
    assert [c.name for c in m.tool_calls] == ["unknown_function"]
    assert "unnamed_call" in codes(m)


def test_a_free_form_call_of_the_clients_is_a_call() -> None:
    item = {"id": "ctc_1", "type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}
    piece = step("custom_tool_call_input.delta", "ctc_1", delta="select 1")
    for m in (
        read(CREATED, added(item), piece, done(item | {"input": "select 1"}), completed()),
        body(response("completed", output=[item | {"input": "select 1"}])),
    ):
        assert calls(m) == [("c", "sql", "select 1")]


# Tools the vendor runs.


def test_a_free_form_call_that_xai_makes_itself_is_an_operation() -> None:
    item = {
        "id": "ctc_1",
        "type": "custom_tool_call",
        "call_id": "xs_call_1",
        "name": "view_x_video",
        "input": "{}",
    }
    m = read(
        CREATED,
        added(item),
        step("custom_tool_call_input.delta", "ctc_1", delta="{}"),
        done(item),
        completed(item),
        quirks=XAI,
    )
    assert (m.tool_calls, end(m).stop) == ([], "ok")
    assert (last(m).text, last(m).state, last(m).inputs) == ("Using view_x_video", "done", ("{}",))


def test_a_web_search_tells_its_queries_and_sources() -> None:
    item = {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}
    sources = [{"type": "url", "url": "https://u:pw@a.example/"}, {"type": "api", "name": "weather"}]
    whole = item | {
        "status": "completed",
        "action": {"type": "search", "queries": ["q1", "q2"], "sources": sources},
    }
    events = (
        added(item),
        step("web_search_call.in_progress", "ws_1"),
        step("web_search_call.searching", "ws_1"),
        step("web_search_call.completed", "ws_1"),
    )
    assert operations(CREATED, *events, done(whole), completed(whole)) == [
        ("Searching the web", None),
        ("Searching the web", "done"),
        ("Found 1 source", "done"),
    ]
    for m in (read(CREATED, *events, done(whole), completed()), body(response("completed", output=[whole]))):
        assert (last(m).inputs, last(m).outputs) == (("q1", "q2"), ("https://a.example/",))


@pytest.mark.parametrize(
    ("action", "words", "inputs"),
    [
        ({"type": "search", "query": "q"}, "Searched the web", ("q",)),
        ({"type": "search", "query": ""}, "Searched the web", ()),
        ({"type": "open_page", "url": "https://a"}, "Opened a page", ("https://a",)),
        ({"type": "find_in_page", "pattern": "p", "url": "https://a"}, "Searched a page", ("p", "https://a")),
        ({"type": "teleport"}, "Searched the web", ()),
        (None, "Searched the web", ()),
    ],
)
def test_every_action_of_a_search_has_words(action: Any, words: str, inputs: Any) -> None:
    m = read(
        CREATED,
        done({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": action}),
        completed(),
    )
    assert (last(m).text, last(m).state, last(m).inputs) == (words, "done", inputs)


def test_a_tool_that_fails_says_so() -> None:
    failed = {
        "id": "mcp_1",
        "type": "mcp_call",
        "status": "failed",
        "name": "n",
        "server_label": "s",
        "error": {"message": "no route"},
    }
    m = read(CREATED, added(failed), done(failed), completed())
    assert (last(m).text, last(m).state, last(m).outputs) == ("Using n of s: failed", "error", ("no route",))
    m = read(
        CREATED, step("web_search_call.in_progress", "w"), step("web_search_call.failed", "w"), completed()
    )
    assert last(m).state == "error"


@pytest.mark.parametrize(
    ("item", "words", "inputs", "outputs"),
    [
        (
            {"type": "mcp_call", "name": "n", "server_label": "s", "arguments": "{}", "output": "o"},
            "Using n of s",
            ("{}",),
            ("o",),
        ),
        (
            {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "n"}]},
            "Found 1 tool",
            (),
            ("n",),
        ),
        (
            {
                "type": "file_search_call",
                "queries": ["q"],
                "results": [{"filename": "a.pdf"}, {"filename": "a.pdf"}],
            },
            "Found 2 passages",
            ("q",),
            ("a.pdf",),
        ),
        (
            {"type": "local_shell_call", "action": {"command": ["ls", "-l"]}},
            "Asked for a shell command",
            ("ls -l",),
            (),
        ),
        (
            {"type": "apply_patch_call", "operation": {"type": "create_file", "path": "a.md", "diff": "+x"}},
            "Asked to create file",
            ("a.md", "+x"),
            (),
        ),
        (
            {"type": "computer_call", "action": {"type": "click"}},
            "Using a computer",
            ('{"type":"click"}',),
            (),
        ),
        ({"type": "tool_search_call", "arguments": {"q": 1}}, "Looking for tools", ('{"q":1}',), ()),
        ({"type": "program", "code": "f()"}, "Running a program", ("f()",), ()),
        (
            {"type": "search_results", "queries": ["q"], "results": [{"url": "https://a"}]},
            "Found 1 page",
            ("q",),
            ("https://a",),
        ),
    ],
)
def test_every_tool_of_a_vendor_is_an_operation(item: Any, words: str, inputs: Any, outputs: Any) -> None:
    m = read(CREATED, done(item | {"id": "i_1", "status": "completed"}), completed())
    assert (last(m).text, last(m).inputs, last(m).outputs, codes(m)) == (words, inputs, outputs, [])
    assert (last(m).state, end(m).stop) == ("done", "ok")


def test_a_result_that_is_an_item_of_its_own_ends_the_operation_of_its_call() -> None:
    call = {
        "id": "sh_1",
        "type": "shell_call",
        "call_id": "c",
        "status": "completed",
        "action": {"commands": ["ls"]},
    }
    out = {
        "id": "sho_1",
        "type": "shell_call_output",
        "call_id": "c",
        "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}],
    }
    m = read(CREATED, done(call, 0), added(out, 1), done(out, 1), completed())
    assert last(m) == p.Operation(
        "sh_1", "The command failed", "code-exec", "error", inputs=("ls",), outputs=("a",)
    )


def test_an_approval_that_is_wanted_is_told() -> None:
    item = {"id": "r", "type": "mcp_approval_request", "name": "n", "server_label": "s", "arguments": "{}"}
    assert ("Using n of s: wants approval", None) in operations(CREATED, added(item), done(item), completed())


def test_code_is_told_with_its_container_its_logs_and_its_plots() -> None:
    item = {"id": "ci_1", "type": "code_interpreter_call", "status": "in_progress", "container_id": "cntr_1"}
    whole = item | {
        "status": "completed",
        "code": "1",
        "outputs": [
            {"type": "logs", "logs": "1"},
            {"type": "logs", "logs": "2"},
            {"type": "image", "url": "data:image/png;base64,QQ=="},
            {"type": "image", "url": "https://a/b.png"},
        ],
    }
    kind = "code_interpreter_call"
    events = (
        added(item),
        step(f"{kind}.in_progress", "ci_1"),
        step(f"{kind}_code.delta", "ci_1", delta="1"),
        step(f"{kind}_code.done", "ci_1", code="1"),
        step(f"{kind}.interpreting", "ci_1"),
        step(f"{kind}.completed", "ci_1"),
        done(whole),
    )
    out = spoken(run(event("created", response=response(created_at=1000)), *events, completed(whole)))
    assert [x.text for x in out if isinstance(x, p.Operation)] == [
        "Writing code",
        "Writing code",
        "Running code",
        "Running code",
    ]
    assert [x for x in out if not isinstance(x, p.Operation)] == [
        p.VendorState(
            "openai-container", {"container": {"id": "cntr_1", "expiresAt": 1000_000 + 20 * 60 * 1000}}
        ),
        p.CodeCall("ci_1", "python", "1", "code_interpreter"),
        p.CodeResult("ci_1", False, "1\n\n2", "code_interpreter", "upstream"),
        p.Image("image/png", "QQ==", hint_skip_resize=True),
        p.HostedResource("image-url", resource="https://a/b.png"),
    ]


def test_an_image_comes_after_its_previews_and_replaces_them() -> None:
    tool = {"type": "image_generation", "model": "gpt-image-2", "size": "auto", "output_format": "webp"}
    item = {"id": "ig_1", "type": "image_generation_call", "status": "in_progress"}
    whole = item | {
        "status": "completed",
        "result": "QQ==",
        "output_format": "webp",
        "revised_prompt": "a boat",
    }
    kind = "image_generation_call"
    events = (
        event("created", response=response(tools=[tool])),
        added(item),
        step(f"{kind}.in_progress", "ig_1"),
        step(f"{kind}.partial_image", "ig_1", partial_image_b64="Qg==", output_format="webp"),
        step(f"{kind}.completed", "ig_1"),
        done(whole),
        completed(whole),
    )
    out = spoken(run(*events))
    assert [x for x in out if not isinstance(x, p.Operation)] == [
        p.Image("image/webp", "Qg==", partial=True),
        p.Image("image/webp", "QQ==", generator="gpt-image-2", prompt="a boat"),
    ]
    assert [(x.text, x.state) for x in out if isinstance(x, p.Operation)] == [
        ("Making an image (gpt-image-2, webp)", None),
        ("Made an image", "done"),
    ]
    assert len(read(*events).media(p.Image)) == 1


def test_perplexitys_research_is_told_once() -> None:
    events = (
        event("reasoning.started", thought="look"),
        event("reasoning.search_queries", queries=["q"]),
        event("reasoning.search_results", results=[{"url": "https://a", "title": "A"}]),
        event("reasoning.stopped"),
    )
    item = {"type": "search_results", "queries": ["q"], "results": [{"url": "https://a"}]}
    m = read(CREATED, *events, done(item), completed(item, msg("Hi")))
    assert (m.reasoning, m.text, codes(m)) == ("look", "Hi", [])
    assert last(m) == p.Operation(
        "research_1", "Found 1 page", "search-web", "done", inputs=("q",), outputs=("https://a",)
    )
