"""The content-encoding of an answer is undone piece by piece, and only one that is read."""

import gzip
import zlib

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes.executor.decoding import MAX_PIECE, Decoder
from motes.executor.policy import Backoff, Policy

PLAIN = b"".join(GOOD) * 50
ONCE = Policy(http=Backoff(1, 0.01), connection=Backoff(1, 0.01))


def bare_deflate(data):
    squeeze = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeeze.compress(data) + squeeze.flush()


ENCODED = {
    "identity": PLAIN,
    "": PLAIN,
    "gzip": gzip.compress(PLAIN[:999]) + gzip.compress(PLAIN[999:]) + bytes(20),
    " X-GZIP ": gzip.compress(PLAIN),
    "deflate": zlib.compress(PLAIN),
    "Deflate": bare_deflate(PLAIN),
}


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("encoding", ENCODED)
def test_however_the_bytes_are_cut_the_same_comes_out(encoding, size):
    decoder, data = Decoder(encoding), ENCODED[encoding]
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    assert b"".join(part for piece in pieces for part in decoder.pieces(piece)) == PLAIN


@pytest.mark.parametrize("squeeze", [gzip.compress, bare_deflate, zlib.compress])
def test_a_bomb_comes_out_in_bounded_pieces(squeeze):
    encoding = "gzip" if squeeze is gzip.compress else "deflate"
    sizes = [len(piece) for piece in Decoder(encoding).pieces(squeeze(bytes(20_000_000)))]
    assert max(sizes) <= MAX_PIECE
    assert sum(sizes) == 20_000_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_not_in_its_encoding_is_an_error(encoding):
    with pytest.raises(httpx.DecodingError):
        list(Decoder(encoding).pieces(b"\xff\xffnonsense"))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "identity, identity", "?"])
def test_an_encoding_that_is_not_read_is_told_by_name(encoding):
    @in_virtual_time
    async def told():
        said = await said_by(Upstream(Answer(GOOD, headers={"content-encoding": encoding})))
        assert (said.issue.error.kind, said.issue.error.code) == ("protocol", "bad_content_encoding")
        assert encoding in said.issue.error.message

    told()


@in_virtual_time
async def test_a_bomb_of_one_line_ends_at_the_limit_of_an_event():
    bomb = gzip.compress(bytes(200_000_000), 1)
    said = await said_by(Upstream(Answer([bomb], headers={"content-encoding": "gzip"})), policy=ONCE)
    assert said.end.stop != "ok"
    assert said.issue.error.kind == "protocol"


@in_virtual_time
async def test_the_words_of_a_failure_are_read_in_gzip_too():
    body = gzip.compress(b'{"error":{"message":"the model is gone"}}')
    answer = Answer([body], status=404, headers={"content-encoding": "gzip"})
    assert "the model is gone" in (await said_by(Upstream(answer))).issue.error.message


@in_virtual_time
async def test_the_status_counts_where_the_words_cannot_be_read():
    answer = Answer([line(error="x")], status=404, headers={"content-encoding": "br"})
    assert (await said_by(Upstream(answer))).issue.error.http_status == 404
