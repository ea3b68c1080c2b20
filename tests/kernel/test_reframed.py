"""Every recording whose house reads server-sent events, framed anew in every way the format allows.

What the vendor said does not change by where its spaces, line ends and comments are, so the particles may not.
"""

import json
from collections.abc import Callable

import pytest

from fakes.recordings import Recording, in_reads, merged, ours, particles
from motes import particles as p

HEADS = (b"data:", b"event:", b"id:", b"retry:", b":")
RECORDINGS = [one for one in ours() if not one.failed and one.body.lstrip().startswith(HEADS)]


def lines_of(body: bytes) -> list[bytes]:
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def each_datum(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """A change of every line of data, by its value."""

    def changed(line: bytes) -> bytes:
        return change(line[5:].removeprefix(b" ")) if line.startswith(b"data:") else line

    return lambda body: b"\n".join(changed(line) for line in lines_of(body))


def over_lines(value: bytes) -> bytes:
    """One datum over as many lines of data as its JSON has members."""
    try:
        text = json.dumps(json.loads(value), indent=1, ensure_ascii=False)
    except ValueError:
        return b"data: " + value
    return b"\n".join(b"data: " + line.encode("utf-8", "surrogatepass") for line in text.split("\n"))


REFRAMED: dict[str, Callable[[bytes], bytes]] = {
    "no space": each_datum(lambda value: b"data:" + value),
    "one space": each_datum(lambda value: b"data: " + value),
    "LF": lambda body: b"\n".join(lines_of(body)),
    "CRLF": lambda body: b"\r\n".join(lines_of(body)),
    "CR": lambda body: b"\r".join(lines_of(body)),
    "byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "no blank line at the end": lambda body: body.rstrip(b"\r\n"),
    "data over several lines": each_datum(over_lines),
    "comments and blocks without data": each_datum(
        lambda value: b": ping\nretry: 1000\nx-unknown: 1\ndata: " + value
    ),
}


def said(recording: Recording, reads: list[bytes]) -> list[p.Particle]:
    return merged(particles(recording.dialect, reads, recording.quirks))


def test_every_house_that_reads_such_events_is_here() -> None:
    assert {one.dialect.name for one in RECORDINGS} == {
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "gemini-generate",
        "gemini-interactions",
        "cohere-chat",
    }


@pytest.mark.parametrize("way", REFRAMED)
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_however_it_is_framed_the_particles_are_the_same(recording: Recording, way: str) -> None:
    expected = said(recording, [recording.body])
    body = REFRAMED[way](recording.body)
    assert said(recording, [body]) == expected
    assert said(recording, in_reads(body, 5)) == expected
