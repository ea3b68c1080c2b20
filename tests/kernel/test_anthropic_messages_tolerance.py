"""What no documentation allows and what comes all the same: never an exception, one end."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fakes.messages_wire import block, codes, end, last_metrics, pumped, said, sse, start, text, tool
from fakes.recordings import WIRE, load, message, offsets, ours
from fakes.recordings import particles as fed
from motes import particles as p
from motes.dialects.anthropic_messages import DIALECT

RECORDINGS = [r for r in ours() if r.meta["dialect"] == DIALECT.name]


# Tolerance.


def test_events_without_names_and_events_without_types_are_read() -> None:
    stream = [start(), *text(0, "a", "b"), *end()]
    assert message(pumped(sse(*stream, names=False))[0]).text == "ab"
    bare = "".join(
        f"event: {e['type']}\ndata: {json.dumps({k: v for k, v in e.items() if k != 'type'})}\n\n"
        for e in stream
    )
    out, verdict = pumped(bare.encode())
    assert message([*out, verdict]).text == "ab"


def test_the_type_in_the_json_counts_more_than_the_event_name() -> None:
    body = sse(start(), *text(0, "a"), *end()).replace(b"event: content_block_delta", b"event: message")
    assert message(pumped(body)[0]).text == "a"


def test_pings_say_nothing_and_what_is_unknown_is_counted_once_a_kind() -> None:
    odd = [
        {"type": "ping"},
        {"type": "future_event"},
        {"type": "future_event"},
        *block(0, {"type": "future_delta"}, type="hologram"),
    ]
    assert codes(said(odd, text(1, "x"))) == ["unknown_event", "unknown_block", "unknown_delta"]


def test_deltas_without_their_block_start_are_read_where_they_can_be() -> None:
    lone = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "t"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "a"}},
        {
            "type": "content_block_delta",
            "index": 7,
            "delta": {"type": "input_json_delta", "partial_json": "{"},
        },
    ]
    out = said(lone)
    m = message(out)
    assert (m.reasoning, m.text) == ("t", "a")
    assert codes(out) == ["implicit_block", "orphan_delta"]


def test_a_block_that_is_never_stopped_says_all_it_holds() -> None:
    open_block = block(0, type="thinking", thinking="t", signature="s", stop=False)
    out = said(open_block, tool(1, input={"a": 1})[:1])
    assert out == [p.Reasoning("t"), p.ReasoningSignature("s"), p.ToolCall("t1", "f", '{"a":1}')]


def test_a_second_message_start_or_a_repeated_whole_message_is_skipped() -> None:
    again = {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}
    out, verdict = pumped(sse(start(), *text(0, "x"), start(id="msg_2"), again, *end()))
    m = message([*out, verdict])
    assert (m.text, m.response_id) == ("x", "msg_1")
    assert codes(out) == ["repeated_message"]


def test_openais_end_marker_says_nothing() -> None:
    done = b"data: [DONE]\n\n"
    _, verdict = pumped(sse(start(), *text(0, "x"), end()[0]) + done)
    assert (verdict.reason, verdict.stop) == ("done-dialect", "ok")
    _, verdict = pumped(sse(start(), *text(0, "x")) + done)
    assert verdict.stop is None


def test_a_whole_body_and_its_stream_say_the_same() -> None:
    content = [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
    ]
    usage = {"input_tokens": 1, "output_tokens": 2}
    body = {"type": "message", "id": "msg_1", "model": "claude-x", "role": "assistant", "content": content}
    whole, ended = pumped(json.dumps({**body, "stop_reason": "tool_use", "usage": usage}).encode())
    blocks = [event for index, b in enumerate(content) for event in block(index, **b)]
    stream, stopped = pumped(sse(start(usage=usage), *blocks, *end("tool_use", usage=usage)))
    keep = [[x for x in run if not isinstance(x, p.Metrics)] for run in (whole, stream)]
    assert keep[0] == keep[1]
    assert last_metrics(whole) == last_metrics(stream)
    assert ended == stopped


def test_content_that_stands_in_message_start_is_said() -> None:
    early = [
        {"type": "text", "text": "early"},
        {"type": "web_search_tool_result", "tool_use_id": "w", "content": []},
    ]
    out, verdict = pumped(sse(start(content=early), *end()))
    assert message([*out, verdict]).text == "early"
    assert any(isinstance(x, p.Operation) and x.id == "w" for x in out)


def test_reasoning_the_vendor_dropped_from_the_history_is_told() -> None:
    out, _ = pumped(sse(start(input_transformations=[{"type": "thinking_dropped"}]), *end()))
    assert "input_transformed" in codes(out)


JUNK: list[Any] = [
    None,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    [[]],
    {"a": None},
    True,
    [{}],
    {"type": 1},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ((*path, key), *places(value[key], (*path, key)))]


def damaged(value: Any, place: tuple[Any, ...], junk: Any) -> Any:
    """A copy with one place replaced, or left out where `junk` is the ellipsis."""
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    if junk is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = junk
    return copy


def values(path: Path) -> list[Any]:
    body = (path / "response.bin").read_text()
    if body.startswith("{"):
        return [json.loads(body)]
    return [json.loads(line[5:]) for line in body.splitlines() if line.startswith("data:")]


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if not r.failed], ids=lambda r: r.path.name)
def test_junk_in_any_place_of_any_event_never_raises_and_ends_once(recording: Any) -> None:
    events = values(recording.path)
    dice = random.Random(recording.name)
    for number, event in enumerate(events):
        for place in places(event):
            for junk in (..., dice.choice(JUNK), dice.choice(JUNK)):
                changed = [*events[:number], damaged(event, place, junk), *events[number + 1 :]]
                body = sse(*changed) if len(events) > 1 else json.dumps(changed[0]).encode()
                fed(DIALECT, [body])


@pytest.mark.parametrize("depth", [200, 900, 1010, 5000])
def test_json_nested_beyond_reason_is_no_crash(depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    raw = '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":%s}}'
    body = sse(start()) + f"data: {raw % nested}\n\n".encode() + sse(*end())
    assert any(isinstance(x, p.End) for x in fed(DIALECT, [body]))


def test_a_cut_anywhere_is_one_honest_end() -> None:
    body = load(WIRE / "anthropic-messages" / "anthropic-everything-at-once").body
    whole = message(fed(DIALECT, [body]))
    for at in offsets(body, "cut"):
        m = message(fed(DIALECT, [body[:at]]))
        assert m.end is not None
        if m.end.stop is not None:
            assert (m.text, m.reasoning, m.tool_calls) == (whole.text, whole.reasoning, whole.tool_calls)
        else:
            assert m.issue is not None
            assert not m.tool_calls
