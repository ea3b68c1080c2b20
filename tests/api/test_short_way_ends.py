"""While words take the short way: who leaves, what stops a run, how it is counted, and what is written in silence.

Over real sockets, one piece a read; see `fakes.live_stand`.
"""

import asyncio
import json
import math
import sqlite3
from contextlib import closing

import pytest

from fakes.live_stand import live, live_stand, move_clock, turn
from fakes.serving import ASK, STREAM
from fakes.upstream import DONE, chat_chunk, chat_usage
from motes import particles as p
from motes.api.envelope import BODY_PIECES
from motes.api.streaming import StreamWriter
from motes.executor.run import Lane
from motes.store.sqlite_usage import FILE_NAME, SqliteUsage

CHAT, PARTICLES = "/v1/chat/completions", "/v1/particles"
RESUMABLE = {"motes": {"resumable": True}}
FINISH = (chat_chunk({}, "stop"), chat_usage(5, 2), DONE)
FORMS = {
    "chat": (CHAT, STREAM),
    "lines": (PARTICLES, ASK),
    "chat that can be joined": (CHAT, STREAM | RESUMABLE),
    "lines that can be joined": (PARTICLES, ASK | RESUMABLE),
}
forms = pytest.mark.parametrize("form", FORMS)


def word(n):
    return b"w%03d " % n


def said(n):
    return chat_chunk({"content": word(n).decode()})


async def talking(stand, form, words=10, **asking):
    """A stream that has said so many words, each one a read."""
    path, body = FORMS[form]
    client, call = await stand.asked(path, body, said(0), **asking)
    await client.until(word(0))
    for n in range(1, words):
        call.say(said(n))
        await client.until(word(n))
    return client, call


def lines_with(words, told):
    return [line for line in told.splitlines() if words in line]


async def record_of(stand, client):
    """What is known of the client's run."""
    return json.loads(await (await stand.ask(f"/v1/runs/{client.run_id}", None, "GET")).rest_of_length())


@forms
@live
async def test_a_run_that_is_cancelled_tells_no_word_more(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, form)
        told = await (await stand.ask(f"/v1/runs/{client.run_id}/cancel", {}, "POST")).rest_of_length()
        assert json.loads(told)["cancelled"]
        call.say(said(999))
        told = await client.rest()
        await call.gone()
        assert client.is_whole
        assert word(999) not in told
        assert len(lines_with(b"the run was cancelled", told)) == 1
        assert told.count(b"terminationReason") == (FORMS[form][0] == PARTICLES)


@forms
@live
async def test_a_gateway_that_is_shut_down_says_so_to_who_hears_words(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, form)
        for live_run in stand.gateway.runs.keeper.runs.values():
            live_run.shut_down()
        call.say(said(999))
        told = await client.rest()
        await call.gone()
        assert client.is_whole
        assert word(999) not in told
        assert len(lines_with(b"the gateway was shut down", told)) == 1
        assert told.count(b"terminationReason") == (FORMS[form][0] == PARTICLES)


@pytest.mark.parametrize("is_silent", [True, False], ids=["a silent vendor", "a vendor that goes on"])
@forms
@live
async def test_a_server_that_stops_lets_no_stream_go_without_its_end(tmp_path, form, is_silent):
    async with live_stand(tmp_path, grace=0.05) as stand:
        client, call = await talking(stand, form)
        asyncio.get_running_loop().let_go()
        stand.server.stop()
        rest = asyncio.create_task(client.rest())
        while not (is_silent or rest.done()):
            call.say(said(10))
            await asyncio.wait({rest}, timeout=0.005)
        told = await rest
        await call.gone()
        assert client.is_whole
        assert len(lines_with(b"the gateway was shut down", told)) == 1
        assert told.count(b"terminationReason") == (FORMS[form][0] == PARTICLES)
        assert (b"[DONE]" in told) == (FORMS[form][0] == CHAT)


@live
async def test_a_server_that_stops_lets_a_stream_end_by_itself_in_its_grace(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, "chat")
        asyncio.get_running_loop().let_go()
        stand.server.stop()
        call.say(*FINISH, end=True)
        told = await client.rest()
        assert client.is_whole
        assert b"shut down" not in told
        assert b'"finish_reason":"stop"' in told


@pytest.mark.parametrize("form", ["chat", "lines"])
@live
async def test_a_client_that_leaves_closes_his_vendors_line_and_what_he_had_is_counted(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, form, 40)
        client.leave()
        call.say(said(41))
        await call.gone()
        await stand.gateway.runs.settled()
        await stand.gateway.ledger.write()
        rows = SqliteUsage(tmp_path / FILE_NAME, 400).between(0, 1e12)
        (row,) = [row async for some in rows for row in some]
        # Four letters and a blank are about a token.
        assert (row.finish, row.source) == ("cancelled", "estimated")
        assert 30 <= row.tokens_out <= 60


@forms
@live
async def test_a_run_that_a_server_cuts_off_when_it_stops_is_kept_and_counted_by_then(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        client, _ = await talking(stand, form, 40)
        stand.server.config.timeout_graceful_shutdown = 0
        stand.server.stop()
        asyncio.get_running_loop().let_go()
        await client.rest()
    # At once, as where the process is gone now.
    ((_, finish, tokens),) = rows_in(tmp_path / FILE_NAME, "SELECT run, finish, tokens_out FROM usage")
    assert finish in ("cancelled", "failed")
    assert 30 <= tokens <= 60
    assert rows_in(tmp_path / "motes.sqlite", "SELECT id FROM runs") == [(client.run_id,)]


def rows_in(path, question):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(question).fetchall()


@live
async def test_a_client_that_has_no_more_to_say_hears_what_was_said_until_then(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, "chat")
        client.writer.write_eof()
        await client.rest()
        await call.gone()
        assert [n for n in range(20) if word(n) in client.body] == [*range(10)]


@live
async def test_no_sign_of_life_stands_between_words_and_one_follows_a_silence(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, "chat", 1)
        for n in range(1, 20):
            move_clock(3.0)
            call.say(said(n))
            await client.until(word(n))
        assert b"keepalive" not in client.body
        call.say(said(20))
        await client.until(word(20))
        move_clock(10.0)
        await client.until(b": keepalive")
        assert client.body.count(b": keepalive") == 1


@live
async def test_thoughts_that_are_not_told_right_after_words_are_no_silence(tmp_path):
    async with live_stand(tmp_path) as stand:
        body = STREAM | {"motes": {"reasoning_field": "none"}}
        client, call = await stand.asked(CHAT, body, said(0))
        await client.until(word(0))
        for n in range(1, 20):
            move_clock(6.0)
            call.say(said(n))
            await client.until(word(n))
            call.say(chat_chunk({"reasoning_content": "hm"}))
        assert b"keepalive" not in client.body


@forms
@live
async def test_what_is_known_of_a_run_says_how_much_it_has_told(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, form, 1)
        before = (await record_of(stand, client))["last_seq"]
        for n in range(1, 30):
            call.say(said(n))
            await client.until(word(n))
        assert (await record_of(stand, client))["last_seq"] == before + 29
        call.say(*FINISH, end=True)
        await client.rest()


class Choosy:
    """An encoder with a bug for one text."""

    def open(self):
        return b"open\n"

    def encode(self, particle):
        if particle == p.Text("bad"):
            raise RecursionError("deep")
        return f"{getattr(particle, 'text', type(particle).__name__)}\n".encode()

    def words(self, text):
        return self.encode(p.Text(text))

    def texts(self, some):
        return map(self.encode, some)

    def keepalive(self):
        return b""


class Pieces:
    """A server's short way, which notes what was written."""

    def __init__(self):
        self.written, self.has_room = [], True

    def can_begin(self):
        return True

    def is_open(self):
        return self.has_room

    def write(self, data):
        self.written.append(data)


async def test_words_that_cannot_be_written_end_the_stream_once_and_whatever_follows():
    pieces, lane, taken = Pieces(), Lane(), []
    lane.open_until = math.inf

    async def send(message):
        if message["type"] == "http.response.body":
            pieces.written.append(message["body"])

    async def source():
        for batch in ([p.Text("a")], [p.Text("b"), p.Text("bad")], [p.Text("c")]):
            is_one = len(batch) == 1
            taken.append(lane.says(batch[0].text, 0.0) if is_one else lane.passes(batch, 0.0))
            if not taken[-1]:
                yield batch

    writer = StreamWriter(send, Choosy(), 10, {BODY_PIECES: pieces})
    await writer.start("text/plain", [])
    await writer.pour(source(), lane)
    issue = b"the gateway failed to write the answer (RecursionError)\n"
    assert b"".join(pieces.written) == b"open\na\nb\n" + issue + b"End\n"
    assert taken == [True, False]
    assert not lane.passes([p.Text("d")], 0.0)
    assert not lane.says("d", 0.0)


async def test_the_last_words_and_the_end_of_the_response_are_one_message():
    told = []

    async def send(message):
        told.append((message.get("body"), message.get("more_body")))

    async def source():
        yield [p.Text("a")]
        yield [p.Metrics(), p.End("done-dialect", "ok")]
        yield []

    writer = StreamWriter(send, Choosy(), 0, {})
    await writer.start("text/plain", [])
    await writer.pour(source())
    assert told == [(None, None), (b"open\n", True), (b"a\n", True), (b"Metrics\nEnd\n", False)]


@live
async def test_a_client_that_leaves_between_two_requests_at_once_breaks_nothing(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await talking(stand, "chat")
        await stand.ask(CHAT, STREAM, client=client)
        await turn()
        client.leave()
        for n in range(5):
            call.say(said(n))
            await turn()
        await call.gone()
        assert stand.vendor.calls.empty()
