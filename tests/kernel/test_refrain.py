"""Events that differ from the one before in their words alone are read by their refrain: as the whole rule would.

The whole rule is the same pump with a demuxer that says of itself that no refrain can be learnt from it.
"""

import itertools
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.recordings import Recording, merged, ours
from motes import particles as p
from motes.demux.base import Demuxer, WireEvent
from motes.dialects.base import DialectName
from motes.dialects.registry import resolve
from motes.emitter import Emitter
from motes.pump import Pump
from motes.quirks import NO_QUIRKS, Quirks
from motes.transmitter import Transmitter, Verdict

RECORDINGS = [one for one in ours() if not one.failed]
STREAMS = [one for one in RECORDINGS if b"\ndata:" in b"\n" + one.body]


class Alone:
    """A demuxer whose events teach nothing."""

    room = 0

    def __init__(self, inner: Demuxer) -> None:
        self._inner = inner

    @property
    def error(self) -> str | None:
        return self._inner.error

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        return self._inner.feed(data)

    def close(self) -> Sequence[WireEvent]:
        return self._inner.close()


class Counting:
    """A parser that counts what it is asked to read by the whole rule."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.parsed = 0

    def parse(self, event: WireEvent, out: Emitter) -> None:
        self.parsed += 1
        self._inner.parse(event, out)

    def eof(self, out: Emitter) -> None:
        self._inner.eof(out)


Outcome = tuple[list[p.Particle], Verdict | None, int]


def read(
    dialect: DialectName, reads: list[bytes], *, alone: bool, quirks: Quirks = NO_QUIRKS, limit: int = 1 << 20
) -> Outcome:
    """The particles, the verdict, and how many events were read by the whole rule."""
    house, numbers = resolve(dialect), itertools.count()
    demuxer, parser = house.demuxer(limit), Counting(house.parser(quirks))
    pump = Pump(Alone(demuxer) if alone else demuxer, parser, Transmitter(lambda: f"made_{next(numbers)}"))
    out: list[p.Particle] = []
    for piece in reads:
        out += pump.feed(piece)
        if pump.verdict is not None:
            break
    out += pump.close()
    return merged(out), pump.verdict, parser.parsed


def both(dialect: DialectName, reads: list[bytes], **more: Any) -> tuple[str, int]:
    """The text, and how many events were read by the whole rule; both ways must say the same."""
    particles, verdict, parsed = read(dialect, reads, alone=False, **more)
    assert (particles, verdict) == read(dialect, reads, alone=True, **more)[:2]
    return "".join(one.text for one in particles if isinstance(one, p.Text)), parsed


def events_of(body: bytes) -> list[bytes]:
    """The body, cut behind every empty line."""
    end = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    pieces = body.split(end)
    return [piece + end for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def of(recording: Recording, reads: list[bytes]) -> int:
    return both(recording.meta["dialect"], reads, quirks=recording.quirks)[1]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_every_recording_says_the_same_with_and_without(recording: Recording) -> None:
    of(recording, [recording.body])
    of(recording, events_of(recording.body))
    for size in (60, 700, 1400):
        of(recording, [recording.body[i : i + size] for i in range(0, len(recording.body), size)])


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_or_repeated_events_say_the_same_with_and_without(data: Any) -> None:
    recording = data.draw(st.sampled_from(STREAMS))
    events = events_of(recording.body)
    again = data.draw(st.integers(0, len(events) - 1))
    events[again:again] = [events[again]] * 3
    for _ in range(data.draw(st.integers(0, 4))):
        one = data.draw(st.integers(0, len(events) - 1))
        at = data.draw(st.integers(0, len(events[one])))
        put = data.draw(
            st.sampled_from([b"", b"\n", b"\r", b"\n\n", b'"', b"\\", b"}", b"\xff", b" ", b"0", b"\0"])
        )
        events[one] = events[one][:at] + put + events[one][at + data.draw(st.integers(0, 2)) :]
    cut = random.Random(data.draw(st.integers(0, 9)))
    body = b"".join(events)
    places = sorted(cut.sample(range(len(body) + 1), min(5, len(body))))
    reads = [body[i:j] for i, j in itertools.pairwise([0, *places, len(body)])]
    of(recording, events)
    of(recording, reads)


def chat(content: str, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
    return b"data: " + json.dumps({"id": "c", "model": "m", "choices": [choice], **more}).encode() + b"\n\n"


def spoken(words: str, pad: str = "", index: int = 0) -> bytes:
    datum = {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": words}}
    text = json.dumps(datum)
    return f"event: content_block_delta\ndata: {text[:-1]}{pad}}}\n\n".encode()


def block(index: int) -> bytes:
    start = {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
    return f"event: content_block_start\ndata: {json.dumps(start)}\n\n".encode()


def response(words: str, counts: str) -> bytes:
    candidate = {"content": {"parts": [{"text": words}], "role": "model"}, "index": 0}
    head = json.dumps({"candidates": [candidate]})[:-1]
    return f'data: {head},"usageMetadata":{counts},"modelVersion":"m","responseId":"r"}}\r\n\r\n'.encode()


WORDS = (
    "Hello",
    " wörld",
    "\n",
    '"}}',
    '"}',
    "\\",
    "}  }",
    "\U0001f600",
    '","obfuscation":"x"}',
    "data: ",
    "[DONE]",
)


@pytest.mark.parametrize(
    ("dialect", "before", "event"),
    [
        ("openai-chat", [chat("role", id="c")], chat),
        ("openai-chat", [chat("Hi")], lambda words: chat(words, obfuscation="a" * (len(words) % 5))),
        ("anthropic-messages", [block(0)], lambda words: spoken(words, " " * (len(words) % 7))),
        ("gemini-generate", [], lambda words: response(words, f'{{"promptTokenCount":{len(words)}}}')),
    ],
)
def test_words_of_every_kind_need_the_whole_rule_but_at_the_beginning(
    dialect: DialectName, before: list[bytes], event: Any
) -> None:
    words = ["First", "second", *WORDS, *("plain",) * 90]
    events = [*before, *map(event, words)]
    for reads, lesson in ((events, 2), ([b"".join(events)], 25)):
        text, parsed = both(dialect, reads)
        assert text.endswith("".join(words))
        # Words that look like the end of an event need the whole rule too, and a read is read in pieces.
        assert parsed <= len(before) + lesson + 3


@pytest.mark.parametrize(
    "odd",
    [
        chat("x").replace(b'"x"', b'"\\ud83d"'),
        chat("x").replace(b'"x"', b'"a\tb"'),
        chat("x").replace(b'"x"', b'"\xff"'),
        chat("x").replace(b'"x"', b'"a", "role": "user"'),
        chat("x").replace(b'"x"', b'"a" '),
        chat("x").replace(b'"x"', b' "a"'),
        chat("x").replace(b'"x"', b'\n"a"'),
        chat("x").replace(b'"x"', b'\r"a"'),
        chat("x").replace(b'"x"', b'\r\n"a"'),
        chat("x").replace(b'"x"', b'\n\n"a"'),
        chat("x").replace(b'"x"', b"null"),
        chat("x").replace(b'"x"', b'"'),
        chat("x").replace(b'"x"', b""),
        chat("x").replace(b'"x"}, "finish', b'"finish'),
        chat("x")[:-1],
        chat("x")[1:],
        chat("x").replace(b'"x"', b'"a\n"'),
        chat("x").replace(b'"x"', b'"a\\"'),
        chat(""),
        b": ping\n\n",
        b"\n",
        b"data: [DONE]\n\n",
        chat("x")[:-1] + b"\r\n",
        b"id: 7\n" + chat("x"),
        b'data: {"error":{"message":"no"}}\n\n',
        chat("glued")[:-2] + chat("together")[6:],
        b"data: [" + chat("x")[6:-2] + b"," + chat("y")[6:-2] + b"]\n\n",
    ],
)
def test_what_is_like_a_refrain_and_is_none(odd: bytes) -> None:
    usual = [chat("One"), chat(" two"), chat(" three")]
    for reads in ([*usual, odd, *usual], [b"".join([*usual, odd, *usual])]):
        both("openai-chat", reads)
    usual = [chat("One", obfuscation="ab"), chat(" two", obfuscation=""), chat(" three", obfuscation="cde")]
    for pad in (b"fg", b"", b"f\ng", b'f"g', b'f", "obfuscation": "g', b'x"}, "finish_reason": null}]'):
        filled = odd.replace(b"}]}\n", b'}], "obfuscation": "%b"}\n' % pad)
        for reads in ([*usual, filled, *usual], [b"".join([*usual, filled, *usual])]):
            both("openai-chat", reads)


@pytest.mark.parametrize("words", ["content", "model", "c", "m", "0", "choices"])
def test_words_that_stand_elsewhere_in_the_event_teach_nothing_wrong(words: str) -> None:
    escaped = chat("QQ").replace(b"QQ", b"".join(b"\\u%04x" % ord(letter) for letter in words))
    for first in (chat(words), escaped):
        text, _ = both(
            "openai-chat", [chat("."), first, chat("a"), first.replace(b'"id": "c"', b'"id": "d"'), chat("b")]
        )
        assert text == f".{words}a{words}b"


def test_a_comment_that_repeats_the_words_is_no_event() -> None:
    reads = [
        chat("."),
        chat("Hi") + b': "Hi"\n',
        b': "not said"\n',
        chat("Ho"),
        b': "nor this"\n\n',
        chat("!"),
    ]
    assert both("openai-chat", reads)[0] == ".HiHo!"


@pytest.mark.parametrize("empty_line", [b"\r\r", b"\n\r", b"\r\n\r", b"\r\r\n"])
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_a_carriage_return_alone_ends_the_event_before(empty_line: bytes, end: bytes) -> None:
    reads = [chat("."), *(chat("before")[:-2] + empty_line + chat(words)[:-2] + end for words in "abcd")]
    for way in (reads, [b"".join(reads)]):
        assert both("openai-chat", way)[0] == ".beforeabeforebbeforecbefored"


def test_words_go_to_the_block_they_name() -> None:
    reads = [
        block(0),
        spoken("a"),
        spoken("b"),
        block(1),
        spoken("c", index=1),
        spoken("d"),
        spoken("e", index=1),
    ]
    assert both("anthropic-messages", [*reads, spoken("f", index=1), spoken("g")])[0] == "abcdefg"


def test_padding_that_ends_a_line_ends_the_event() -> None:
    broken = spoken("c").replace(b"}}\n\n", b"}\n\n}\n\n")
    assert both("anthropic-messages", [block(0), spoken("a"), spoken("b"), broken, spoken("d")])[0] == "abd"


def test_an_event_above_the_limit_is_none() -> None:
    reads = [chat("a"), chat("b"), chat("c" * 2000), chat("d")]
    particles, verdict, _ = read("openai-chat", reads, alone=False, limit=1000)
    assert (particles, verdict) == read("openai-chat", reads, alone=True, limit=1000)[:2]
    assert isinstance(verdict, p.End)
    assert verdict.stop is None


@pytest.mark.parametrize(
    "counts",
    [
        ['{"promptTokenCount":1}', '{"promptTokenCount":2}', '{"promptTokenCount":10}'],
        ['{"promptTokenCount":1}', '{"promptTokenCount":02}', '{"promptTokenCount":3}'],
        ['{"promptTokenCount":1}', '{"promptTokenCount":}', '{"promptTokenCount":4}'],
        ['{"promptTokenCount":1}', "", '{"promptTokenCount":4}', ""],
        ['{"promptTokenCount":1e111}', '{"promptTokenCount":2e111}', '{"promptTokenCount":1e999}'],
        ['{"promptTokenCount":1,"x":-1e111}', '{"promptTokenCount":2,"x":-1e999}'],
        ['{"promptTokenCount":1,"x1":1}', '{"promptTokenCount":2,"x2":1}', '{"promptTokenCount":3}'],
        ['{"promptTokenCount":null}', '{"promptTokenCount":2}', '{"promptTokenCount":null}'],
        ['{"promptTokenCount":5}', "null", '{"candidatesTokenCount":7}', '{"candidatesTokenCount":8}'],
        ['{"promptTokenCount":1,"candidatesTokenCount":2}', '{"promptTokenCount":1}'],
        ['{"promptTokenCount":1,\n\n"candidatesTokenCount":2}', '{"promptTokenCount":1}'],
        ['{"promptTokenCount":1},"modelVersion":{"a":2}', '{"promptTokenCount":1}'],
        ['{"promptTokenCount":1},"responseId":"z","usageMetadata":{"promptTokenCount":3}'],
    ],
)
def test_counts_are_those_of_the_whole_rule(counts: list[str]) -> None:
    usual = '{"promptTokenCount":9,"candidatesTokenCount":1}'
    end = response("", usual).replace(b'"index"', b'"finishReason": "STOP", "index"')
    for one in (usual, counts[0]):
        told = [one, one, *counts, *counts, one]
        both("gemini-generate", [response(f"w{at}", count) for at, count in enumerate(told)] + [end])
        both("gemini-generate", [response(f"w{at}", count) for at, count in enumerate(told)])


def test_a_list_of_responses_is_no_refrain_of_one() -> None:
    one, counts = response("w", '{"promptTokenCount":1}'), '{"promptTokenCount":2}'
    told = one[6:-4].replace(b'"index"', b'"finishReason": "STOP", "index"')
    several = [b"data: [" + b",".join(rows) + b"]\r\n\r\n" for rows in ([one[6:-4]] * 2, [one[6:-4], told])]
    both("gemini-generate", [one, one, *several, one, response("v", counts), *several, one])
