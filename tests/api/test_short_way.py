"""Words take the short way to who waits for them, and nothing can be told from the long one but its price.

Over real sockets, one piece a read; see `fakes.live_stand`.
"""

import json
import re

import pytest

from fakes.live_stand import CHUNKED, Calls, live, live_stand, turn
from fakes.serving import ASK, STREAM
from fakes.upstream import DONE, SSE_HEAD, chat_chunk, chat_usage

CHAT, PARTICLES = "/v1/chat/completions", "/v1/particles"
RESUMABLE = {"motes": {"resumable": True}}
EVENTS = {"accept": "text/event-stream"}
FORMS = {
    "chat": (CHAT, STREAM, {}),
    "lines": (PARTICLES, ASK, {}),
    "events": (PARTICLES, ASK, EVENTS),
    "chat that can be joined": (CHAT, STREAM | RESUMABLE, {}),
    "lines that can be joined": (PARTICLES, ASK | RESUMABLE, {}),
    "events that can be joined": (PARTICLES, ASK | RESUMABLE, EVENTS),
}
FINISH = (chat_chunk({}, "stop"), chat_usage(5, 2), DONE)
forms = pytest.mark.parametrize("form", FORMS)


def word(n):
    return b"w%03d " % n


def said(n):
    return chat_chunk({"content": word(n).decode()})


def thought(n):
    return chat_chunk({"reasoning_content": word(n).decode()})


def without_times(body):
    """What differs from run to run, left out."""
    text = re.sub(rb'"dt\w+":\d+', b'"dt":0', body)
    text = re.sub(rb'"created":\d+', b'"created":0', text)
    return re.sub(rb'"(id|runId)":"[\w-]+"', b'"id":""', text)


async def calls_of(stand, form, piece, count):
    """The calls of our own functions while so many pieces come, each one a read."""
    path, body, headers = FORMS[form]
    client, call = await stand.asked(path, body, piece(0), **headers)
    await client.until(word(0))
    with Calls() as calls:
        for n in range(1, count + 1):
            call.say(piece(n))
            await client.until(word(n))
    call.say(*FINISH, end=True)
    await client.rest()
    assert client.is_whole
    return calls.of


@pytest.mark.parametrize("form", ["chat", "lines", "events"])
@live
async def test_words_wake_nobody(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        for piece, times in ((said, 0), (thought, 50)):
            calls = await calls_of(stand, form, piece, 50)
            assert calls["_has_passed"] == 50
            # The stream's task goes on in each of these.
            assert [calls[name] // 50 * 50 for name in ("pour", "batches", "turn")] == [
                times,
                2 * times,
                2 * times,
            ]


@pytest.mark.parametrize("form", ["chat that can be joined", "lines that can be joined"])
@live
async def test_words_of_a_run_that_can_be_joined_wake_its_readers_alone(tmp_path, form):
    async with live_stand(tmp_path) as stand:
        for piece, times in ((said, 0), (thought, 50)):
            calls = await calls_of(stand, form, piece, 50)
            assert calls["pour"] == 50
            assert [calls[name] // 50 * 50 for name in ("_pump", "turn")] == [times, 2 * times]


@pytest.mark.parametrize(
    ("dialect", "first", "piece"),
    [
        (
            "anthropic-messages",
            b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant",'
            b'"model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
            b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
            b'"content_block":{"type":"text","text":""}}\n\n',
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
            b'"delta":{"type":"text_delta","text":"%b"}}\n\n',
        ),
        (
            "gemini-generate",
            b"",
            b'data: {"candidates":[{"content":{"parts":[{"text":"%b"}],"role":"model"},"index":0}]}\r\n\r\n',
        ),
        (
            "openai-responses",
            b'event: response.created\ndata: {"type":"response.created","response":{"id":"r","output":[]}}\n\n',
            b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,'
            b'"content_index":0,"delta":"%b"}\n\n',
        ),
    ],
)
@live
async def test_words_of_other_dialects_wake_nobody_either(tmp_path, dialect, first, piece):
    async with live_stand(tmp_path, dialect) as stand:
        client, call = await stand.asked(CHAT, STREAM, first + piece % word(0))
        await client.until(word(0))
        with Calls() as calls:
            for n in range(1, 21):
                call.say(piece % word(n))
                await client.until(word(n))
        assert (calls.of["_has_passed"], calls.of["pour"], calls.of["turn"]) == (20, 0, 0)


MIXED = (
    said(1),
    chat_chunk({"content": "\u00fc\U0001f600 "}),
    b": ping\n\n",
    thought(2),
    said(3),
    chat_chunk({"content": ""}),
    b"data: {no event\n\n",
    said(4),
    chat_chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a"'}}]}),
    said(5),
    chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
    b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00"}}]}\n\n',
    chat_usage(5, 1),
    said(6),
)


def cuts(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@forms
@live
async def test_however_an_answer_is_cut_into_reads_its_reader_has_the_same(tmp_path, form):
    path, body, headers = FORMS[form]
    whole, found = b"".join(MIXED), []
    async with live_stand(tmp_path) as stand:
        for pieces in ([whole], MIXED, cuts(whole, 100), cuts(whole, 7)):
            client, call = await stand.asked(path, body, said(0), **headers)
            await client.until(word(0))
            for piece in pieces:
                with Calls() as calls:
                    call.say(piece)
                    while not calls.of["data_received"]:
                        await turn()
            call.say(*FINISH, end=True)
            found.append(without_times(await client.rest()))
            assert client.is_whole
    assert found == [found[0]] * 4


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize(
    "head",
    [CHUNKED, SSE_HEAD, b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"],
    ids=["chunked", "until close", "length"],
)
@forms
@live
async def test_last_words_that_come_with_the_end_of_the_body_are_told(tmp_path, form, head, words):
    path, body, headers = FORMS[form]
    first, last = said(0), [said(n) for n in range(1, words + 1)]
    if b"%d" in head:
        head %= len(first + b"".join(last))
    async with live_stand(tmp_path) as stand:
        client, call = await stand.asked(path, body, first, head, **headers)
        await client.until(word(0))
        call.say(*last, end=True)
        told = await client.rest()
        assert [n for n in range(9) if word(n) in told] == [*range(words + 1)]
        assert client.is_whole
        assert b"stream_truncated" in told


@forms
@live
async def test_words_before_a_broken_line_are_told_and_then_the_break(tmp_path, form):
    path, body, headers = FORMS[form]
    async with live_stand(tmp_path) as stand:
        client, call = await stand.asked(path, body, said(0), **headers)
        await client.until(word(0))
        call.say(said(1))
        await client.until(word(1))
        call.reset()
        told = await client.rest()
        assert client.is_whole
        assert told.index(word(0)) < told.index(word(1)) < told.index(b"connection_closed")
        assert told.count(b"terminationReason") == (path == PARTICLES)


@live
async def test_what_a_run_says_has_the_numbers_that_its_journal_has(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await stand.asked(PARTICLES, ASK | RESUMABLE, said(0))
        await client.until(word(0))
        for n in range(1, 40):
            call.say(thought(n) if n % 9 == 0 else said(n))
            await client.until(word(n))
        call.say(*FINISH, end=True)
        told = (await client.rest()).splitlines()
        numbered = [line for line in told if b'"seq"' in line]
        assert [json.loads(line)["seq"] for line in numbered] == [*range(1, len(numbered) + 1)]
        for after in (0, 1, 20, len(numbered) - 1):
            path = f"/v1/runs/{client.run_id}/particles?after={after}"
            later = await (await stand.ask(path, None, "GET")).rest()
            assert later.splitlines() == numbered[after:]


@live
async def test_readers_of_one_run_each_have_all_of_it_however_late_they_come(tmp_path):
    async with live_stand(tmp_path) as stand:
        first, call = await stand.asked(PARTICLES, ASK | RESUMABLE, said(0))
        await first.until(word(0))
        readers = [first]
        for n in range(1, 30):
            call.say(said(n))
            for reader in readers:
                await reader.until(word(n))
            if n % 10 == 0:
                path = f"/v1/runs/{first.run_id}/particles?after=0"
                readers.append(await stand.ask(path, None, "GET"))
                await readers[-1].until(word(n))
            if n == 25:
                readers.pop(1).leave()
        call.say(*FINISH, end=True)
        told = {await reader.rest() for reader in readers}
        assert len(told) == 1


@live
async def test_a_reader_who_does_not_read_stops_his_vendor_and_has_all_in_order_later(tmp_path):
    async with live_stand(tmp_path) as stand:
        client = await stand.connect(receive_buffer=4096)
        client, call = await stand.asked(CHAT, STREAM, said(0), client=client)
        await client.until(word(0))
        client.writer.transport.pause_reading()
        numbers, piece = 0, "x" * 4000
        # A buffer that is not taken on is full of what nobody reads.
        while call.writer.transport.get_write_buffer_size() < 1 << 20:
            numbers += 1
            call.say(chat_chunk({"content": f"<{numbers}>{piece}"}))
            await turn()
        client.writer.transport.resume_reading()
        call.say(*FINISH, end=True)
        told = await client.rest()
        assert client.is_whole
        assert [int(n) for n in re.findall(rb"<(\d+)>", told)] == [*range(1, numbers + 1)]


@live
async def test_requests_that_come_together_are_answered_one_after_the_other(tmp_path):
    async with live_stand(tmp_path) as stand:
        client, call = await stand.asked(CHAT, STREAM, said(0))
        await client.until(word(0))
        await stand.ask(CHAT, STREAM, client=client)
        for n in range(1, 10):
            call.say(said(n))
            await client.until(word(n))
        call.say(*FINISH, end=True)
        assert word(9) in await client.rest()
        call.is_over.set()
        other = client.next()
        call = await stand.vendor.calls.get()
        call.begin()
        for n in range(10):
            call.say(said(n))
            await other.until(word(n))
        call.say(*FINISH, end=True)
        assert b"[DONE]" in await other.rest()
