"""Undoes the content-encoding of an answer, a bounded piece at a time.

motes asks for none; a vendor that compresses all the same is read where it is gzip or deflate, once. Must
never hold more of what comes out than one piece: a few bytes may stand for gigabytes.
"""

import zlib
from collections.abc import Iterator
from typing import Final

import httpx

from motes.errors import VendorError
from motes.vendor_errors import excerpt

MAX_PIECE: Final = 64 * 1024

_GZIP: Final = 16 + zlib.MAX_WBITS
_MAGIC: Final = 0x1F
_NAME_CHARS: Final = 60


class Decoder:
    """The body of one answer. Raises ValueError for an encoding that is not read."""

    def __init__(self, encoding: str) -> None:
        self._name = _plain_name(encoding)
        self.is_plain = self._name == "identity"
        self.received = 0
        """Bytes of the body as it was sent."""
        self._inflate: zlib._Decompress | None = None
        self._members = 0
        self._has_ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the bytes stand for. Raises httpx.DecodingError where they are not in that encoding."""
        if self.is_plain:
            yield data
            return
        self.received += len(data)
        while data and not self._is_over(data):
            inflate = self._inflate = self._inflate or self._begin(data)
            try:
                piece = inflate.decompress(data, MAX_PIECE)
            except zlib.error:
                raise httpx.DecodingError(f"the body is no {self._name}") from None
            data = inflate.unconsumed_tail
            if inflate.eof:
                data, self._inflate = inflate.unused_data, None
                self._members += 1
            if piece:
                yield piece

    def _is_over(self, data: bytes) -> bool:
        """Whether these bytes are no more than padding: another member of gzip begins like the first."""
        if self._inflate is not None or not self._members:
            return False
        self._has_ended = self._has_ended or self._name == "deflate" or data[0] != _MAGIC
        return self._has_ended

    def _begin(self, data: bytes) -> "zlib._Decompress":
        if self._name == "gzip":
            return zlib.decompressobj(_GZIP)
        # RFC 9110, 8.4.1.2: some send the bare deflate format without the zlib header, whose method is 8.
        return zlib.decompressobj(zlib.MAX_WBITS if data[0] & 15 == 8 else -zlib.MAX_WBITS)


def unread(encoding: str) -> VendorError:
    """The error of an answer in an encoding that is not read."""
    return VendorError(
        message="the upstream's answer has a content-encoding that was not asked for and is not read: "
        + excerpt(encoding, _NAME_CHARS),
        kind="protocol",
        code="bad_content_encoding",
    )


def _plain_name(encoding: str) -> str:
    name = encoding.strip().lower().removeprefix("x-") or "identity"
    if name not in ("identity", "gzip", "deflate"):
        raise ValueError(name)
    return name


NOT_ENCODED: Final = Decoder("")
"""Of an answer that is sent as it is. It keeps nothing."""
