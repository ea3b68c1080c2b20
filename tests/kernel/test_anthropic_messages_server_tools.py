"""Tools the vendor runs, citations, and what it keeps for the next turn."""

from typing import Any

import pytest

from fakes.messages_wire import block, end, pumped, said, sse, start, text, tool
from fakes.recordings import message
from motes import particles as p
from motes.dialects.anthropic_messages.server_tools import shortened

# Tools the vendor runs.


def test_a_server_tool_is_an_operation_and_never_a_tool_call() -> None:
    results = [{"type": "web_search_result", "url": "https://a.example/"}, {"url": "https://b.example/"}]
    out = said(
        tool(0, '{"query":', '"gulls"}', type="server_tool_use", name="web_search"),
        block(1, type="web_search_tool_result", tool_use_id="t1", content=results),
    )
    assert not message(out).tool_calls
    assert out[0] == p.Operation("t1", "Searching the web", "search-web")
    assert out[1].inputs == ("gulls",)  # type: ignore[union-attr]
    assert out[2] == p.Operation(
        "t1",
        "Found 2 web pages",
        "search-web",
        "done",
        inputs=("gulls",),
        outputs=("https://a.example/", "https://b.example/"),
    )


RESULTS: list[tuple[str, Any, str, str | None]] = [
    (
        "web_search_tool_result",
        {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        "error",
        None,
    ),
    ("web_search_tool_result", [], "done", None),
    (
        "web_fetch_tool_result",
        {
            "type": "web_fetch_result",
            "url": "https://a.example/",
            "content": {"source": {"type": "text", "data": "w"}},
        },
        "done",
        "https://a.example/",
    ),
    (
        "web_fetch_tool_result",
        {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
        "error",
        None,
    ),
    ("code_execution_tool_result", {"stdout": "42", "stderr": "", "return_code": 0}, "done", "exit code 0"),
    (
        "code_execution_tool_result",
        {"stdout": "", "stderr": "boom", "return_code": 1},
        "error",
        "exit code 1",
    ),
    ("code_execution_tool_result", {"encrypted_stdout": "abc", "return_code": -9}, "error", "exit code -9"),
    ("bash_code_execution_tool_result", {"stdout": "ok", "return_code": 0}, "done", "exit code 0"),
    (
        "text_editor_code_execution_tool_result",
        {"type": "text_editor_code_execution_create_result"},
        "done",
        None,
    ),
    (
        "text_editor_code_execution_tool_result",
        {"type": "text_editor_code_execution_view_result", "content": "seen"},
        "done",
        "seen",
    ),
    (
        "text_editor_code_execution_tool_result",
        {"type": "text_editor_code_execution_str_replace_result", "lines": ["-a", "+b"]},
        "done",
        "-a\n+b",
    ),
    (
        "text_editor_code_execution_tool_result",
        {
            "type": "text_editor_code_execution_tool_result_error",
            "error_code": "x",
            "error_message": "no file",
        },
        "error",
        "no file",
    ),
    ("tool_search_tool_result", {"tool_references": [{"tool_name": "tides"}]}, "done", "tides"),
    ("mcp_tool_result", [{"type": "text", "text": "four metres"}], "done", "four metres"),
    ("future_tool_result", "plain words", "done", "plain words"),
    ("future_tool_result", None, "done", None),
]


@pytest.mark.parametrize(("kind", "content", "state", "output"), RESULTS)
def test_every_kind_of_result_ends_its_operation(
    kind: str, content: Any, state: str, output: str | None
) -> None:
    (operation,) = said(block(0, type=kind, tool_use_id="t9", content=content))
    assert isinstance(operation, p.Operation)
    assert (operation.id, operation.state) == ("t9", state)
    assert operation.text
    assert (operation.outputs[0] if operation.outputs else None) == output


def test_an_mcp_call_is_an_operation_with_its_arguments_and_its_answer() -> None:
    call = tool(0, '{"q": "depth"}', type="mcp_tool_use", name="ask", server_name="harbour")
    result = block(1, type="mcp_tool_result", tool_use_id="t1", is_error=True, content="no answer")
    operation = said(call, result)[-1]
    assert operation == p.Operation(
        "t1", "The tool failed", "code-exec", "error", inputs=("q: depth",), outputs=("no answer",)
    )


def test_files_the_code_made_are_hosted_resources() -> None:
    content = {"return_code": 0, "content": [{"type": "code_execution_output", "file_id": "file_1"}]}
    body = sse(
        start(container={"id": "c1", "expires_at": "2026-11-29T18:00:00Z"}),
        *block(0, type="code_execution_tool_result", tool_use_id="t", content=content),
        *block(1, type="container_upload", file_id="file_2"),
        *end(),
    )
    files = [x for x in pumped(body)[0] if isinstance(x, p.HostedResource)]
    assert [(f.kind, f.file_id, f.container_id) for f in files] == [
        ("vnd.ant.file", "file_1", "c1"),
        ("vnd.ant.file", "file_2", "c1"),
    ]


def test_a_long_text_of_an_operation_loses_its_middle_and_says_how_much() -> None:
    assert shortened("x" * 512, 512) == "x" * 512
    assert shortened("a" * 300 + "b" * 300, 512) == "a" * 256 + " […88…] " + "b" * 256


# Citations.


def cited(citation: dict[str, Any], *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(1, {"type": "citations_delta", "citation": citation}, *deltas, type="text", text="")


def test_a_web_citation_has_address_title_passage_and_its_place_in_the_answer() -> None:
    web = {
        "type": "web_search_result_location",
        "url": "https://a.example/",
        "title": "A",
        "cited_text": "14:10",
        "encrypted_index": "opaque",
    }
    out = said(text(0, "High: "), cited(web, "at ", "14:10"))
    assert out[-1] == p.Citation("A", "https://a.example/", start=6, end=14, text="14:10")


@pytest.mark.parametrize(
    ("place", "location"),
    [
        ({"type": "char_location", "start_char_index": 0, "end_char_index": 20}, {"end_char_index": 20}),
        ({"type": "page_location", "start_page_number": 3, "end_page_number": 4}, {"start_page_number": 3}),
        ({"type": "content_block_location", "start_block_index": 1}, {"start_block_index": 1}),
    ],
)
def test_a_document_citation_has_no_address_but_a_name_and_a_place(place: Any, location: Any) -> None:
    raw = {"cited_text": "grass", "document_index": 0, "document_title": "Lawn", **place}
    citation = said(cited(raw, "green"))[-1]
    assert isinstance(citation, p.Citation)
    assert (citation.url, citation.document, citation.text) == ("", "Lawn", "grass")
    assert citation.location is not None
    assert citation.location.items() >= {"type": place["type"], "document_index": 0, **location}.items()


def test_a_search_result_of_the_caller_is_cited_by_its_source() -> None:
    raw = {
        "type": "search_result_location",
        "source": "https://kb.example/1",
        "title": "KB",
        "search_result_index": 2,
    }
    citation = said(cited(raw, "x"))[-1]
    assert isinstance(citation, p.Citation)
    assert (citation.url, citation.title) == ("https://kb.example/1", "KB")


def test_citations_of_a_whole_block_are_told_like_streamed_ones() -> None:
    raw = {"type": "web_search_result_location", "url": "https://a.example/", "title": "A"}
    whole = said(block(0, type="text", text="abc", citations=[raw]))
    assert whole == [p.Text("abc"), p.Citation("A", "https://a.example/", start=0, end=3)]


# State for the next turn.


def test_container_and_compaction_are_kept_together_as_the_vendors_state() -> None:
    deltas = [{"type": "compaction_delta", "content": "Earlier: gulls.", "encrypted_content": "E"}]
    body = sse(
        start(),
        *block(0, *deltas, type="compaction", content=None),
        *text(1, "Hi"),
        *end(container={"id": "c1", "expires_at": "2026-11-29T18:00:00Z"}),
    )
    m = message(pumped(body)[0])
    assert m.text == "Hi"
    assert m.vendor_state == {
        "anthropic": {
            "compaction": {"content": "Earlier: gulls.", "encrypted_content": "E"},
            "container": {"id": "c1", "expiresAt": "2026-11-29T18:00:00Z"},
        }
    }
