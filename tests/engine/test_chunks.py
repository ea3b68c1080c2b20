"""Chunks that are known whole by their length: what is read is what the parser alone would read, whatever a
body looks like and wherever it is cut, and of a live answer the parser sees next to nothing.
"""

import asyncio
import random

import httptools
import pytest

from fakes.live_stand import Calls
from motes.chunks import CRLF, HEADS, SMALL, heads_behind, heads_by_length
from motes.engine.connection import Connection

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
# Bodies that look like framing, and framing that looks like a body.
WORDS = (
    b"5\r\nhello\r\n",
    b"\r\n",
    b"\n",
    b"f\r\n",
    b"\r\n1\r\n",
    b"0\r\n\r\n",
    b"data: a\n\n",
    b"a",
    b"10\r\n",
    b"\r",
)


class Line:
    """A transport without a socket."""

    def __init__(self):
        self.is_open = True

    def writelines(self, _):
        pass

    def is_closing(self):
        return not self.is_open

    def get_write_buffer_size(self):
        return 0

    def abort(self):
        self.is_open = False

    def pause_reading(self):
        pass

    resume_reading = pause_reading


class Whole:
    """The parser alone."""

    def __init__(self, reads):
        self.body, self.is_complete = b"", False
        parser = httptools.HttpResponseParser(self)
        for read in reads:
            parser.feed_data(read)

    def on_body(self, data):
        self.body += data

    def on_message_complete(self):
        self.is_complete = True


async def heard(reads, takes=lambda: True):
    """What a reader has of the reads who waits for each of them; `takes`: whether he need not be woken."""
    connection, told = Connection(), []
    connection.connection_made(Line())
    connection.send(b"GET / HTTP/1.1\r\n\r\n", b"")

    def on_data(data):
        told.append(data)
        return takes()

    for read in reads:
        connection.on_data = on_data
        waiter = connection.waiting(None)
        connection.data_received(read)
        # One who was woken takes what there is, and only then waits again.
        if waiter is None or waiter.done():
            told.append(connection.take() or b"")
    return b"".join(told), connection.take() == b""


def chunk(data, is_upper=False, extension=b"", zeros=0):
    size = b"%x" % len(data)
    return b"0" * zeros + (size.upper() if is_upper else size) + extension + CRLF + data + CRLF


def cut(chance, whole):
    """In a few places, and mostly between chunks, as vendors' writes are."""
    places = sorted(chance.sample(range(1, len(whole)), min(len(whole) - 1, chance.randrange(6))))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_comes_is_read_as_the_parser_reads_it(seed):
    chance = random.Random(seed)

    async def work():
        for _ in range(60):
            is_upper = chance.random() < 0.3
            reads = [HEAD]
            for _ in range(chance.randrange(1, 12)):
                data = b"".join(chance.choices(WORDS, k=chance.choice((1, 2, 3, 40, 110))))
                extension = chance.choice((b"", b"", b"", b"", b";x=1", b";a="))
                one = chunk(data, is_upper, extension, zeros=chance.choice((0, 0, 0, 0, 2)))
                reads += [one] if chance.random() < 0.6 else cut(chance, one)
            if chance.random() < 0.3:
                at = chance.randrange(len(reads))
                reads[at : at + 2] = [b"".join(reads[at : at + 2])]
            if is_whole := chance.random() < 0.7:
                reads.append(b"0\r\n\r\n")
            plain = Whole(reads)
            assert await heard(reads, lambda: chance.random() < 0.7) == (plain.body, is_whole)
            assert plain.is_complete == is_whole

    asyncio.run(work())


@pytest.mark.parametrize("is_upper", [False, True])
def test_of_a_live_answer_the_parser_sees_the_first_chunk_alone(is_upper):
    events = [b"data: %s\n\n" % (b"x" * size) for size in (*range(1, 300), 10, 900, 15, 255)]
    reads = [HEAD, *[chunk(event, is_upper) for event in events], b"0\r\n\r\n"]

    async def work():
        with Calls() as calls:
            assert await heard(reads) == (b"".join(events), True)
        # The head, the first chunk, the last; and with capital letters the first one that has a letter.
        assert calls.of["_parse"] <= 3 + is_upper

    asyncio.run(work())


def test_a_body_of_known_length_has_no_chunks_whatever_it_looks_like():
    body = b"\r\n" + chunk(b"data: a\n\n") * 5
    reads = [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n\r\n" % len(body)]
    reads += [chunk(b"data: a\n\n")] * 5
    assert asyncio.run(heard(reads)) == (body, True)


def test_no_two_sizes_have_chunks_of_one_length_and_no_other_length_begins_with_a_head():
    for is_upper in (False, True):
        heads = heads_by_length(is_upper=is_upper)
        assert len(heads) == SMALL
        for size in range(1, 1010):
            whole = chunk(b"\r" * size, is_upper)
            assert whole.startswith(heads[len(whole)])
            assert int(heads[len(whole)], 16) == size
        # The last chunk has no data, and no chunk is as long as these.
        for length in (0, 1, 5, 21, 262):
            assert len(heads[length]) > length
    assert HEADS[255] == b"ff\r\n"


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (b"a\r\n\r\n\r\n", b"\r\n\r\n"),
        (b"8\r\n\r\nff\r\nff\r\nff\r\n", b"\r\nff\r\nff"),
        (b"ff\r\ndata: a\n\n", b"data: a\n\n"),
        (b"9\r\ndata: a\n\n\r", b"data: a\n\n"),
        (b"9\r\ndata: a\n\n\r\nff\r\n", b"data: a\n\n"),
    ],
)
def test_where_it_is_not_sure_that_a_chunk_has_ended_the_parser_goes_on(read, data):
    assert heads_behind(read, data) is None
