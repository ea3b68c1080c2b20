"""Every recording of ours: however it is read the same particles, wherever it is cut one honest end."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.recordings import RESET, Recording, in_reads, merged, message, offsets, ours, particles
from fakes.wire_values import values_of
from motes import particles as p

RECORDINGS = [r for r in ours() if not r.failed]
IDS = [r.name for r in RECORDINGS]


def whole(recording: Recording) -> list[p.Particle]:
    return particles(recording.dialect, [recording.body], recording.quirks)


def facts(run: list[p.Particle]) -> tuple[Any, ...]:
    m = message(run)
    calls = [(c.id, c.name, c.arguments) for c in m.tool_calls]
    return m.text, m.reasoning, m.refusal, calls, m.end.stop if m.end else None


def test_there_are_ten_recordings_a_dialect() -> None:
    names = [r.meta["dialect"] for r in RECORDINGS]
    assert all(names.count(d) >= 10 for d in ("openai-chat", "anthropic-messages", "gemini-generate"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=IDS)
@pytest.mark.parametrize("size", [1, 7])
def test_reads_of_any_size_give_the_same_particles(recording: Recording, size: int) -> None:
    assert merged(particles(recording.dialect, in_reads(recording.body, size), recording.quirks)) == merged(
        whole(recording)
    )


@pytest.mark.parametrize("recording", RECORDINGS, ids=IDS)
def test_two_reads_split_anywhere_give_the_same_particles(recording: Recording) -> None:
    expected = merged(whole(recording))
    body = recording.body
    for at in offsets(body, recording.name):
        assert merged(particles(recording.dialect, [body[:at], body[at:]], recording.quirks)) == expected, at


@pytest.mark.parametrize("recording", RECORDINGS, ids=IDS)
@pytest.mark.parametrize("failure", [None, RESET], ids=["closed", "reset"])
def test_a_cut_anywhere_is_the_whole_answer_or_one_error_and_never_half_a_success(
    recording: Recording, failure: Any
) -> None:
    expected = facts(whole(recording))
    for at in offsets(recording.body, recording.name):
        run = particles(recording.dialect, [recording.body[:at]], recording.quirks, failure)
        ends = [x for x in run if isinstance(x, p.End)]
        assert len(ends) == 1, at
        assert run[-1] is ends[0], at
        if ends[0].stop is not None:
            assert facts(run) == expected, at
        else:
            assert any(isinstance(x, p.Issue) for x in run), at


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_chunking_of_any_recording_gives_the_same_particles(data: Any) -> None:
    recording = data.draw(st.sampled_from(RECORDINGS))
    body = recording.body
    at = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    reads = [body[i:j] for i, j in zip([0, *at], [*at, len(body)], strict=True)]
    assert merged(particles(recording.dialect, reads, recording.quirks)) == merged(whole(recording))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_bytes_never_raise_and_end_once(data: Any) -> None:
    recording = data.draw(st.sampled_from(RECORDINGS))
    body = bytearray(recording.body)
    for _ in range(data.draw(st.integers(1, 8))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    run = particles(recording.dialect, [bytes(body)], recording.quirks)
    assert [isinstance(x, p.End) for x in run].count(True) == 1


JUNK = st.sampled_from(
    [None, 0, -1, 1.5, "", "x", [], {}, [None], [[]], {"a": None}, True, [{}], {"text": 1}]
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_values_of_any_type_in_any_place_never_raise_and_end_once(data: Any) -> None:
    recording = data.draw(st.sampled_from(RECORDINGS))
    values, put = values_of(recording.body)
    at = data.draw(st.integers(0, len(values) - 1))
    _damage(values[at], data)
    run = particles(recording.dialect, [put(at, values[at])], recording.quirks)
    assert [isinstance(x, p.End) for x in run].count(True) == 1


def _damage(value: Any, data: Any) -> None:
    """Put junk somewhere inside a JSON value."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = value[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
            value = inner
            continue
        value[key] = data.draw(JUNK)
        return
