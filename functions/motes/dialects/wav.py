"""Raw samples as a sound file: 16-bit PCM, which some vendors send bare, with the header that makes it WAV.

Must never raise: what is no base64 is no sound, and stays as it came.
"""

import binascii
import struct
from typing import Final

from motes import particles as p

DEFAULT_RATE: Final = 24_000
_BYTES_A_SAMPLE: Final = 2
_MAX_RATE: Final = 768_000
_MAX_CHANNELS: Final = 32


def clip(mime: str, data: str, rate: int | None, channels: int | None) -> p.Audio:
    """The base64 of bare samples as a WAV file; an unlikely rate or number of channels is the usual one."""
    try:
        samples = binascii.a2b_base64(data)
    except ValueError:
        return p.Audio(mime, data)
    rate = rate if rate and rate <= _MAX_RATE else DEFAULT_RATE
    channels = channels if channels and channels <= _MAX_CHANNELS else 1
    return wrapped(samples, rate, channels)


def wrapped(samples: bytes, rate: int = DEFAULT_RATE, channels: int = 1, label: str | None = None) -> p.Audio:
    """Bare samples as a WAV file."""
    encoded = binascii.b2a_base64(_header(len(samples), rate, channels) + samples, newline=False)
    frames = len(samples) // (channels * _BYTES_A_SAMPLE)
    return p.Audio("audio/wav", encoded.decode("ascii"), label, duration_ms=frames * 1000 // rate)


def joined(pieces: list[str]) -> str:
    """One base64 text of several, each of which was encoded, and perhaps padded, on its own."""
    if len(pieces) == 1:
        return pieces[0]
    whole = b"".join(_bytes(piece) for piece in pieces)
    return binascii.b2a_base64(whole, newline=False).decode("ascii")


def _bytes(piece: str) -> bytes:
    try:
        return binascii.a2b_base64(piece)
    except ValueError:
        return b""


def _header(size: int, rate: int, channels: int) -> bytes:
    """The 44 bytes before samples in a RIFF file: size, then format 1 (PCM), then the data's own size."""
    block = channels * _BYTES_A_SAMPLE
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * block, block, 8 * _BYTES_A_SAMPLE)
    most = 0xFFFF_FFFF - 36
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + min(size, most), b"WAVE")
        + form
        + struct.pack("<4sI", b"data", min(size, most))
    )
