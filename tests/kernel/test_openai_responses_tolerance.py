"""Responses streams of servers that copy the protocol, and events with anything in them."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fakes.recordings import message, particles
from fakes.responses_streams import (
    CREATED,
    OPENAI,
    XAI,
    added,
    calls,
    codes,
    completed,
    done,
    end,
    fc,
    msg,
    read,
    rs,
    run,
    sse,
    text,
)
from motes import particles as p
from motes.dialects.openai_responses import DIALECT
from motes.vendor_errors import from_http

WIRE = Path(__file__).parents[1] / "wire" / "openai-responses"
JUNK = (None, 0, -1, 1.5, 10**30, "", "x", "message", [], {}, [None], [[]], {"a": None}, True, {"type": []})


def test_code_that_fails_has_a_result_that_says_so() -> None:
    item = {"id": "ci_1", "type": "code_interpreter_call", "status": "failed", "code": "1", "outputs": None}
    out = run(CREATED, done(item), completed())
    assert p.CodeResult("ci_1", True, "", "code_interpreter", "upstream") in out


def test_a_refused_key_is_told_as_one_also_where_the_status_says_less() -> None:
    error = from_http(
        400, {"code": "Client specified an invalid argument", "error": "Incorrect API key provided."}
    )
    assert error.kind == "authentication"


def test_an_error_in_plain_words_is_an_error() -> None:
    m = message(particles(DIALECT, [b"event: error\ndata: upstream connect error\n\n"], OPENAI))
    assert (end(m).reason, m.error and m.error.message) == ("issue-dialect", "upstream connect error")


def test_ids_that_change_on_the_way_mean_one_item() -> None:
    m = read(
        CREATED,
        added(msg(id="tmp_1")),
        text("Hi", id="msg_9"),
        done(msg("Hi", id="msg_1")),
        completed(msg("Hi", id="msg_1")),
    )
    assert (m.text, codes(m)) == ("Hi", [])
    m = read(CREATED, added(fc(id="tmp_1")), done(fc("{}", id="fc_1")), completed(fc("{}", id="fc_2")))
    assert calls(m) == [("call_1", "f", "{}")]


def test_a_final_list_with_more_in_it_and_other_ids_doubles_nothing() -> None:
    final = completed(
        rs("hm", id="rs_9"), msg("Hi", id="msg_9"), fc("{}", "fc_8", "b", "g"), fc("{}", "fc_9", "a")
    )
    calls_before = (added(fc(id="fc_1", call_id="a"), 1), added(fc(id="fc_2", call_id="b", name="g"), 2))
    m = read(CREATED, added(msg()), text("Hi"), *calls_before, final)
    assert (m.text, m.reasoning, codes(m)) == ("Hi", "hm", [])
    assert calls(m) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_an_item_that_is_announced_twice_is_one() -> None:
    m = read(CREATED, added(fc()), added(fc()), done(fc("{}")), done(fc("{}")), completed(fc("{}")))
    assert calls(m) == [("call_1", "f", "{}")]


def test_a_stream_without_a_beginning_is_an_answer() -> None:
    m = read(text("Hi"), completed())
    assert (m.text, end(m).stop) == ("Hi", "ok")


def test_two_messages_are_one_text_and_reasoning_between_them_is_apart() -> None:
    output = [msg("Let me look. "), rs("hm"), msg("Six.", id="msg_2")]
    m = read(CREATED, completed(*output))
    assert (m.text, m.reasoning) == ("Let me look. Six.", "hm")


def test_an_event_in_a_list_of_one_is_read() -> None:
    assert read([CREATED], [text("Hi")], completed()).text == "Hi"


@pytest.mark.parametrize("path", sorted(WIRE.glob("*/response.bin")), ids=lambda path: path.parent.name)
def test_values_of_any_type_anywhere_and_any_order_end_once_and_never_raise(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.startswith("data: {")]
    events = [json.loads(line.removeprefix("data: ")) for line in lines] or [json.loads(path.read_text())]
    chance = random.Random(path.parent.name)
    for round in range(60):
        damaged = [json.loads(json.dumps(e)) for e in events]
        for _ in range(3):
            _damage(chance.choice(damaged), chance)
        if round % 3 == 0:
            chance.shuffle(damaged)
        out = particles(DIALECT, [sse(*damaged)], XAI if round % 2 else OPENAI)
        assert [isinstance(x, p.End) for x in out].count(True) == 1


def _damage(value: Any, chance: random.Random) -> None:
    """Put junk somewhere inside a JSON value."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.6:
            value = inner
            continue
        value[key] = json.loads(json.dumps(chance.choice(JUNK)))
        return


def test_a_thousand_small_events_and_one_large_one_are_the_same_text() -> None:
    words = [f"word {n} " for n in range(1000)]
    many = read(CREATED, added(msg()), *map(text, words), completed(msg("".join(words))))
    one = read(CREATED, completed(msg("".join(words))))
    assert many.text == one.text == "".join(words)
