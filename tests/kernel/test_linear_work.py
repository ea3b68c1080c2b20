"""Work grows with what was sent, not with its square: the sizes here would not end otherwise."""

import json
from typing import Any

import pytest

from motes import jsontext
from motes import particles as p
from motes.demux.sse import SSEDemuxer
from motes.dialects.gemini_generate.calls import Calls
from motes.dialects.gemini_generate.schema import parameters
from motes.dialects.gemini_generate.schema_nodes import all_of as google_all_of
from motes.dialects.openai_chat.calls import ToolCalls
from motes.dialects.openai_chat.thoughts import Details
from motes.dialects.strict_schema import closed
from motes.egress.reply import annotations
from motes.history import normalise
from motes.intake import parse_request
from motes.own_names import OwnNames
from motes.reassembly import Reassembler
from motes.schema_nodes import all_of, either
from motes.thinktags import ThinkTags
from motes.transmitter import Transmitter


def test_lines_without_a_value_count_to_the_limit_of_an_event() -> None:
    for line in (b"data:\n", b"data\n", b"event: x\n", b"id: 1\n"):
        demuxer = SSEDemuxer(max_event_bytes=1000)
        assert list(demuxer.feed(line * 1001)) == []
        assert demuxer.error is not None


def test_events_and_comments_do_not_add_up_to_the_limit() -> None:
    demuxer = SSEDemuxer(max_event_bytes=100)
    assert len(list(demuxer.feed(b"event: x\ndata: y\n\n: still here\n" * 100))) == 100
    assert demuxer.error is None


def test_equal_names_are_numbered_without_counting_from_the_start_again() -> None:
    names, asked = OwnNames(), []

    def numbered(n: int) -> str:
        asked.append(n)
        return f"c_{n}"

    names.take("c_3", numbered)
    made = [names.take("c", numbered) for _ in range(5000)]
    assert made[:4] == ["c", "c_2", "c_4", "c_5"]
    assert len(set(made)) == 5000
    assert len(asked) < 3 * 5000


def _call(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def test_calls_without_results_do_not_search_a_long_history_each() -> None:
    turns: list[dict[str, Any]] = [_call(*(f"c{n}" for n in range(2000)))]
    turns += [{"role": "user", "content": "hi"}] * 5000
    request = parse_request({"model": "m", "messages": turns})
    looked = 0

    class Watched(list[Any]):
        def __getitem__(self, at: Any) -> Any:
            nonlocal looked
            looked += 1
            return super().__getitem__(at)

    out, warnings = normalise(Watched(request.messages))
    assert len(out) == 7001
    assert len(warnings) == 2000
    assert looked <= 7001


def test_one_id_for_every_call_of_a_long_history_is_made_many() -> None:
    turns = [
        t
        for _ in range(3000)
        for t in (_call("same"), {"role": "tool", "tool_call_id": "same", "content": "r"})
    ]
    out, _ = normalise(parse_request({"model": "m", "messages": turns}).messages)
    ids = [m.tool_calls[0].id for m in out if m.role == "assistant"]
    assert ids[:3] == ["same", "same_2", "same_3"]
    assert len(set(ids)) == 3000
    assert [m.tool_call_id for m in out if m.role == "tool"] == ids


def test_white_space_before_an_answer_is_held_back_only_so_long() -> None:
    tags = ThinkTags()
    pieces = [piece for _ in range(300) for piece in tags.feed(" ")]
    assert pieces[0] == ("text", " " * 257)
    assert sum(len(text) for _, text in pieces) == 300
    assert list(ThinkTags().feed("\n" * 256 + "<think>a</think>b")) == [("reasoning", "a"), ("text", "b")]


def test_a_streamed_argument_can_ask_for_so_many_places_and_no_more() -> None:
    out = Transmitter(lambda: "made")
    pieces = [{"jsonPath": f"$.a{n}[4000]", "boolValue": True} for n in range(1000)]
    Calls().take({"name": "f", "partialArgs": pieces}, "", out)
    said = list(out.drain())
    call = next(x for x in said if isinstance(x, p.ToolCall))
    arguments = json.loads(call.arguments or "")
    assert [len(value or ()) for value in arguments.values()][:3] == [4001, 4001, 0]
    assert any(isinstance(x, p.Warn) and x.code == "partial_argument" for x in said)


def test_schemas_of_very_many_parts_end() -> None:
    for key in ("allOf", "anyOf"):
        parts = [{"properties": {f"p{n}": {"type": "string"}}, "required": [f"p{n}"]} for n in range(30_000)]
        warnings: list[str] = []
        assert "parametersJsonSchema" in parameters({key: parts}, "t", warnings)
        inner = {"properties": {"x": {key: [{"type": "string", "title": f"t{n}"} for n in range(60_000)]}}}
        assert "parametersJsonSchema" in parameters(inner, "t", warnings)
    names = [f"p{n}" for n in range(30_000)]
    schema = {"type": "object", "properties": {n: {"type": "string"} for n in names}, "required": names}
    assert closed(schema, "tools", set())["required"] == names
    merged = all_of([{"properties": {n: {}}, "required": [n]} for n in names])
    assert merged["required"] == names
    assert either([{"properties": {n: {}}, "required": names} for n in names[:300]])["required"] == names


def test_parts_of_one_schema_are_one_and_the_earlier_word_stands() -> None:
    nodes = [
        {"title": "a", "properties": {"x": 1}, "required": ["x"]},
        {"title": "b", "properties": {"x": 2, "y": 3}, "required": ["y"]},
    ]
    expected = {"title": "a", "properties": {"x": 1, "y": 3}, "required": ["x", "y"]}
    assert all_of(nodes) == expected
    assert google_all_of(nodes) == expected


def test_a_long_answer_in_small_pieces_is_joined_and_can_be_read_on_the_way() -> None:
    whole = Reassembler()
    for n in range(50_000):
        whole.feed(p.Text("x" * 40))
        if n == 10:
            assert len(whole.message.text) == 440
    whole.feed(p.ToolCall("a", "f"))
    whole.feed(p.ToolCall("b", "g"))
    for _ in range(50_000):
        whole.feed(p.ToolCallArguments("1" * 20, "a"))
        whole.feed(p.ToolCallArguments("2" * 20, "b"))
    message = whole.message
    assert len(message.text) == 2_000_000
    assert [set(c.arguments) for c in message.tool_calls] == [{"1"}, {"2"}]
    assert [len(c.arguments) for c in message.tool_calls] == [1_000_000] * 2


def test_many_sources_are_told_once_each() -> None:
    sources = [p.Citation(title="t", url=f"https://a.example/{n % 20_000}") for n in range(40_000)]
    assert len(annotations(sources)) == 20_000


def test_arguments_of_calls_without_id_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0
    as_object = jsontext.as_object

    def counting(text: str) -> Any:
        nonlocal parsed
        parsed += 1
        return as_object(text)

    monkeypatch.setattr(jsontext, "as_object", counting)
    for pieces in (["{", *['"}\\"{",'] * 2000], ["[{}", *["{}"] * 2000], ['{"a":[', *["{},"] * 2000, "{}]}"]):
        parsed, out, calls = 0, Transmitter(lambda: "made"), ToolCalls()
        calls.read([{"function": {"name": "f"}}], out)
        for piece in pieces:
            calls.read([{"function": {"arguments": piece}}], out)
        assert parsed <= 2
        calls.close(out)
        said = "".join(
            x.arguments or "" for x in out.drain() if isinstance(x, p.ToolCall | p.ToolCallArguments)
        )
        assert said == "".join(pieces)


def test_the_end_of_arguments_is_found_wherever_they_are_cut() -> None:
    text = '{"a\\\\": "}\\"{", "b": {"c": "\\\\"}}'
    for cut in range(1, len(text)):
        out, calls = Transmitter(lambda: "made"), ToolCalls()
        calls.read([{"function": {"name": "f", "arguments": text[:cut]}}], out)
        assert not list(out.drain())
        calls.read([{"function": {"arguments": text[cut:]}}], out)
        assert [x.arguments for x in out.drain() if isinstance(x, p.ToolCall)] == [text]


def test_details_in_many_pieces_are_one_entry() -> None:
    details = Details()
    for _ in range(30_000):
        row = {"type": "reasoning.text", "index": 0, "text": "x" * 50, "signature": "s"}
        details.keep({"reasoning_details": [row]})
    (entry,) = details.worth_keeping()
    assert entry == {"type": "reasoning.text", "index": 0, "text": "x" * 1_500_000, "signature": "s"}
