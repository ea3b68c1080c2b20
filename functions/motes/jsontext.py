"""JSON text in and out, as vendors write it: fast where it is well formed, forgiving where it is not.

Must never raise anything but ValueError for bad input and must never lose a character: a string that
holds half a surrogate pair, a raw control character or NaN is read (the standard library can, orjson
refuses), because a vendor may cut its text anywhere. So is a text behind a byte order mark, which some
editors and clients write.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

_BYTE_ORDER_MARK: Final = "\ufeff"
_BLANKS: Final = " \t\n\r" + _BYTE_ORDER_MARK
_TOLERANT: Final = json.JSONDecoder(strict=False)
# From here on copying costs more than the room is worth.
_LARGE: Final = 64 * 1024


class TooDeep(ValueError):
    """Nested deeper than can be read or written; how deep that is depends on where it is asked for."""


def loads(text: str | bytes) -> Any:
    """The value of one JSON text. Raises ValueError where even a tolerant reader finds none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _loads_tolerantly(text)


def _loads_tolerantly(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return _TOLERANT.decode(text.removeprefix(_BYTE_ORDER_MARK))
    except RecursionError:
        raise TooDeep("JSON nested too deeply") from None


def place(error: ValueError) -> str:
    """Where a text is no JSON, to go behind "not valid JSON"; nothing of the text."""
    if not isinstance(error, json.JSONDecodeError):
        return ""
    return f" at line {error.lineno}, column {error.colno}" if error.doc.strip() else ": it is empty"


def dumps(value: Any) -> str:
    """Compact JSON text of a value; a lone surrogate becomes U+FFFD, since UTF-8 cannot carry it."""
    return dump_bytes(value).decode()


def cut_to_size(written: bytes) -> bytes:
    """What was written, for who keeps it: orjson's buffer stays as large as it was made, 4 KiB at least."""
    return memoryview(written).tobytes() if len(written) < _LARGE else written


def dump_bytes(value: Any) -> bytes:
    """Compact JSON as UTF-8 bytes, like `dumps`. Raises ValueError where it is nested too deeply."""
    try:
        return orjson.dumps(value)
    except (TypeError, RecursionError):
        return _dump_tolerantly(value)


def dump_each(texts: Sequence[str]) -> Iterator[bytes]:
    """`dump_bytes` of each text. Ask for them one after the other: orjson's buffers are large."""
    try:
        # Half a character in one of them wants tolerance.
        "".join(texts).encode()
    except UnicodeEncodeError:
        return map(dump_bytes, texts)
    return map(orjson.dumps, texts)


def dump_strictly(value: Any) -> bytes | None:
    """The bytes of `dump_bytes` for a value of plain whole texts, None for one that wants tolerance."""
    try:
        return orjson.dumps(value)
    except (TypeError, RecursionError):
        return None


def _dump_tolerantly(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise TooDeep("JSON nested too deeply") from None
    return mend_surrogates(text).encode()


def mend_surrogates(text: str) -> str:
    """Join surrogate halves that stand beside each other; a half that stands alone becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def as_object(text: str) -> dict[str, Any] | None:
    """The JSON object a text holds, or None where it holds anything else."""
    if text.lstrip(_BLANKS)[:1] != "{":
        return None
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
