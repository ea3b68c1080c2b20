"""The particle stream as it travels."""

import json

import pytest

from fakes.particle_runs import ANSWER
from motes import particles as p
from motes.codec import from_wire
from motes.egress.particles import EventEncoder, LineEncoder

RUN = [particle for particle in ANSWER if not isinstance(particle, p.Heartbeat)]


def test_every_particle_is_one_line_of_json():
    encoder = LineEncoder()
    lines = b"".join(encoder.encode(particle) for particle in ANSWER).splitlines()
    assert [from_wire(json.loads(line)) for line in lines] == RUN


def test_every_particle_is_one_event_with_its_number_from_one():
    encoder = EventEncoder()
    raw = b"".join(encoder.encode(particle) for particle in ANSWER)
    blocks = raw.decode().split("\n\n")[:-1]
    assert [block.split("\n")[0] for block in blocks] == [f"id: {n}" for n in range(1, len(RUN) + 1)]
    data = [json.loads(block.split("\n")[1].removeprefix("data: ")) for block in blocks]
    assert [from_wire(item) for item in data] == RUN


@pytest.mark.parametrize("text", ["a\nb\r\u2028\u0085", "\ud83d"])
def test_no_text_can_break_a_line(text):
    assert LineEncoder().encode(p.Text(text)).count(b"\n") == 1
    assert EventEncoder().encode(p.Text(text)).count(b"\n") == 3


def test_a_heartbeat_is_a_particle_without_a_number():
    assert LineEncoder().keepalive().decode() == '{"p":"❤"}\n'
    encoder = EventEncoder()
    assert encoder.keepalive().decode() == 'data: {"p":"❤"}\n\n'
    assert encoder.encode(p.Text("a")).startswith(b"id: 1\n")
