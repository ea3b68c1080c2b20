"""Plays a recording through the pump: recorded bytes in, the particles of the whole run out.

The same demuxer, parser and transmitter as for a live answer, and no network. Must never raise for what
a recording's body holds; the last particle is always the one `End`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Final

import httpx

from motes import particles as p
from motes import vendor_errors
from motes.cli.reading import Reading
from motes.cli.recording import Recording
from motes.demux.base import MAX_EVENT_BYTES
from motes.errors import VendorError
from motes.executor.decoding import Decoder, unread
from motes.executor.failures import while_reading
from motes.executor.refusal import MAX_BODY
from motes.pump import Pump
from motes.transmitter import Continue, Retry, Transmitter
from motes.vendor_errors import recoded
from motes.vendors.vendor import DEFAULT_TIMEOUTS

_FIRST_FAILURE: Final = 300


def play(recording: Recording, reading: Reading, pieces: Iterable[bytes]) -> Iterator[p.Particle]:
    """The particles of the run, `End` last. `pieces` are the body as it is to arrive, still encoded."""
    dialect = reading.dialect
    ids = count(1)
    out = Transmitter(lambda: f"call_motes_{next(ids)}")
    pump = Pump(dialect.demuxer(MAX_EVENT_BYTES), dialect.parser(reading.quirks), out)
    if recording.status >= _FIRST_FAILURE:
        failure = recoded(_failure(recording, pieces), reading.quirks.error_kinds)
        yield from pump.fail("dispatch-fetch", failure)
    else:
        yield from _pumped(pump, recording, pieces)
    yield from _settled(pump)


def _pumped(pump: Pump, recording: Recording, pieces: Iterable[bytes]) -> Iterator[p.Particle]:
    failure = reset() if recording.reset else None
    encoding = recording.headers.get("content-encoding", "")
    try:
        for piece in decoded(pieces, encoding):
            yield from pump.feed(piece)
            if pump.verdict is not None:
                return
    except httpx.DecodingError as error:
        failure = while_reading(error, pump.received, DEFAULT_TIMEOUTS)
    except ValueError:
        failure = unread(encoding)
    yield from pump.close(failure)


def _settled(pump: Pump) -> Iterator[p.Particle]:
    """The end of a run that nobody retries or continues."""
    verdict = pump.verdict
    if isinstance(verdict, Continue):
        pump.transmitter.leave_paused()
        yield from pump.transmitter.drain()
    if isinstance(verdict, Retry):
        yield from pump.fail("dialect-issue", verdict.error)
    end = pump.transmitter.end()
    if end is not None:
        yield end


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The body without its content-encoding, by the decoder that reads live answers: as early as it can be
    known, and never much of it at once. Raises ValueError for an encoding that is not read, and
    httpx.DecodingError where the body is not in it.
    """
    decoder = Decoder(encoding)
    for piece in pieces:
        yield from decoder.pieces(piece)


def reset() -> VendorError:
    """The error of a connection that broke after the last byte."""
    return VendorError(
        message="the upstream's connection broke before the answer was complete",
        kind="stream_truncated",
        retryable=True,
    )


def _failure(recording: Recording, pieces: Iterable[bytes]) -> VendorError:
    """What a refusal says, read as far as a live one is."""
    body = bytearray()
    with suppress(ValueError, httpx.DecodingError):
        for piece in decoded(pieces, recording.headers.get("content-encoding", "")):
            body += piece
            if len(body) >= MAX_BODY:
                break
    head = bytes(body[:MAX_BODY])
    return vendor_errors.read_failure(recording.status, recording.headers, head, _now(recording.headers))


def _now(headers: Mapping[str, str]) -> datetime:
    """When the answer was given, as far as it says so: a Retry-After date counts from there."""
    try:
        return parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError, OverflowError):
        return datetime.now(UTC)
