"""Numbers on the wire: from whatever place a reader goes on, he gets exactly what he does not have."""

from functools import partial

import pytest

from motes import particles as p
from motes.egress.numbers import START, NumberedChunks, Numbers, Position, position_of
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.particles import EventEncoder, LineEncoder
from motes.egress.reply import Reply
from motes.errors import VendorError

REPLY = Reply(id="chatcmpl-1", created=1, model="m", vendor="v", upstream_model="m", include_usage=True)
SAID = [
    p.ModelName("m"),
    p.Reasoning("hm"),
    p.Text("a"),
    p.ToolCall("c1", "f", '{"x":'),
    p.ToolCallArguments("1}"),
    p.Heartbeat(),
    p.Metrics(tokens_in=1, tokens_out=2),
    p.End("done-dialect", "ok-tool_invocations"),
]


def stream(after=START, said=SAID):
    chunks = NumberedChunks(ChunkEncoder(REPLY), after)
    data = chunks.open() + b"".join([chunks.encode(particle) for particle in said])
    return [event for event in data.split(b"\n\n") if event]


def id_of(event):
    return event.split(b"\n")[0].removeprefix(b"id: ").decode()


def test_every_event_has_a_place_and_the_places_rise():
    places = [position_of(id_of(event)) for event in stream()]
    assert None not in places
    assert places == sorted(set(places))


@pytest.mark.parametrize("at", range(len(stream())))
def test_whoever_goes_on_from_an_event_gets_those_after_it(at):
    whole = stream()
    assert stream(position_of(id_of(whole[at]))) == whole[at + 1 :]


SPOKEN = [
    p.Reasoning("hm"),
    *map(p.Text, ["a", "", "100 %", '","', "\x1e\n", "é", "\ud83d", "b"]),
    p.End("done-dialect", "ok"),
]
ENCODERS = [
    partial(ChunkEncoder, REPLY),
    *[
        partial(lambda after: NumberedChunks(ChunkEncoder(REPLY), after), Position(n))
        for n in (0, 1, 3, 4, 9)
    ],
    EventEncoder,
    partial(LineEncoder, 0),
]


@pytest.mark.parametrize("made", ENCODERS)
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_text_in_one_go_is_written_as_piece_by_piece(made, size):
    one_by_one, together = made(), made()
    whole = [one_by_one.open(), *map(one_by_one.encode, SPOKEN)]
    told = [together.open(), together.encode(SPOKEN[0])]
    for at in range(1, 9, size):
        told += together.texts(SPOKEN[at : min(9, at + size)])
    assert [*told, together.encode(SPOKEN[9])] == whole


@pytest.mark.parametrize("word", ["", "x", "-1", "1.", "1.x", "1.2.3", "٣", "9" * 40])
def test_a_word_that_is_no_place_is_none(word):
    assert position_of(word) in (None, Position(1))


def test_the_words_that_leave_a_run_have_no_number():
    error = VendorError(message="m", kind="timeout", details={"resume": "/v1/runs/x"})
    numbers = Numbers(4)
    said = [p.Text("a"), p.Heartbeat(), p.Issue("dispatch-read", "m", error), p.End("issue-dispatch-rpc")]
    assert [numbers.of(one) for one in said] == [5, None, None, None]
