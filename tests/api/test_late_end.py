"""The end of a vendor's body that comes after the end of its answer: nobody waits for it, and the line serves on."""

import pytest

from bench.wires import DIALECTS, Script
from fakes.live_stand import live, live_stand, move_clock, turn

CHAT = "/v1/chat/completions"
BODY = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


def lines(stand):
    """The gateway's lines to vendors."""
    return stand.gateway.http.engine.pool.connections


async def answered(stand, dialect="openai-chat"):
    """A whole answer whose body goes on; gives the vendor's side of it."""
    answer = DIALECTS[dialect](Script(n=3), b"")
    client, call = await stand.asked(CHAT, BODY, b"".join([*answer.head, *answer.middle, *answer.tail]))
    assert b"[DONE]" in await client.rest()
    return call


async def idle(stand):
    while not all(line.is_idle() for line in lines(stand)):
        await turn()


# The end of a Gemini answer is the end of its body.
@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic-messages"])
@live
async def test_a_line_whose_body_ends_after_its_answer_serves_on(tmp_path, dialect):
    async with live_stand(tmp_path, dialect=dialect) as stand:
        first = await answered(stand, dialect)
        for _ in range(3):
            first.say(end=True)
            await idle(stand)
            call = await answered(stand, dialect)
            assert call.writer is first.writer
            first = call


@live
async def test_a_process_that_stood_still_meanwhile_loses_no_line(tmp_path):
    async with live_stand(tmp_path) as stand:
        first = await answered(stand)
        first.say(end=True)
        move_clock(900)
        await idle(stand)
        assert (await answered(stand)).writer is first.writer


@live
async def test_what_comes_before_that_end_is_thrown_away(tmp_path):
    async with live_stand(tmp_path) as stand:
        first = await answered(stand)
        for _ in range(5):
            first.say(b": still here\n\n")
            await turn()
        first.say(b": and now\n\n", end=True)
        await idle(stand)
        assert (await answered(stand)).writer is first.writer


@pytest.mark.parametrize(
    "rest", [b"", b"7\r\n: ping\n\r\n", b"x" * (1 << 20)], ids=["silence", "a ping", "much"]
)
@live
async def test_a_body_that_does_not_end_is_not_waited_for_long(tmp_path, rest):
    async with live_stand(tmp_path) as stand:
        call = await answered(stand)
        call.writer.write(b"%x\r\n" % len(rest) + rest if len(rest) > 100 else rest)
        await turn()
        assert len(lines(stand)) == 1
        move_clock(0.06)
        await call.gone()
        assert not lines(stand)


@pytest.mark.parametrize(
    "rest", [b"nonsense\r\n", b"0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"]
)
@live
async def test_a_line_that_goes_on_wrongly_is_closed(tmp_path, rest):
    async with live_stand(tmp_path) as stand:
        call = await answered(stand)
        call.writer.write(rest)
        await call.gone()
        assert not lines(stand)


@live
async def test_a_line_that_is_closed_by_its_vendor_is_gone(tmp_path):
    async with live_stand(tmp_path) as stand:
        call = await answered(stand)
        call.leave()
        while lines(stand):
            await turn()


@live
async def test_who_leaves_in_the_middle_has_the_line_closed_at_once(tmp_path):
    answer = DIALECTS["openai-chat"](Script(n=3), b"")
    async with live_stand(tmp_path) as stand:
        client, call = await stand.asked(CHAT, BODY, b"".join([*answer.head, answer.middle[0]]))
        await client.until(b"000000")
        client.leave()
        await call.gone()
        assert not lines(stand)
