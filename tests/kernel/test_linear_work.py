"""Work grows with what was sent, not with its square: the sizes here would not end otherwise."""

from typing import Any

from motes.demux.sse import SSEDemuxer
from motes.history import normalise
from motes.intake import parse_request
from motes.own_names import OwnNames
from motes.thinktags import ThinkTags


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
