"""The small chunks of a chunked body, whose heads are made once: most pieces of a live answer are one each.

Source: RFC 9112, 7.1. Pure. Must never take for a whole chunk what may be anything else.
"""

from functools import cache
from typing import Final

CRLF: Final = b"\r\n"
SMALL: Final = 1024
"""What is known here is shorter."""
HEADS: Final = tuple(b"%x\r\n" % size for size in range(SMALL))
"""By the size of the chunk's data: its size and the end of the line."""
# Longer than any chunk it could stand for, so that no length comes out right with it.
_NONE: Final = bytes(SMALL + 1)


@cache
def heads_by_length(*, is_upper: bool) -> tuple[bytes, ...]:
    """The heads of chunks by the length of all of a chunk: head, data, and the end of the line behind them.
    No two sizes have the same; where none has it, what stands there begins no chunk.
    """
    found = [_NONE] * SMALL
    for size, head in enumerate(HEADS[1:], start=1):
        length = len(head) + size + len(CRLF)
        if length < SMALL:
            found[length] = head.upper() if is_upper else head
    return tuple(found)


def heads_behind(read: bytes, data: bytes) -> tuple[bytes, ...] | None:
    """The heads that the next chunks may have (see `heads_by_length`), where it is sure that the read ends
    with the end of a chunk: `data` are the last of a body's bytes in it, as a parser found them. None where
    it is not sure, which says nothing.
    """
    # Behind the data comes an end of line and nothing else: had a head followed, the data would end as it
    # does, with a digit; and had nothing followed, as in a body without chunks, the data would be ends of
    # lines only.
    ends = read.endswith(data + CRLF) and data.endswith(b"\n") and bool(data.strip(CRLF))
    return heads_by_length(is_upper=read.partition(CRLF)[0].isupper()) if ends else None
