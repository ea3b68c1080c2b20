"""What a stream holds while it goes on: of its request no more than somebody may still ask for."""

import gc
import json
import socket
import time
from collections import Counter
from contextlib import contextmanager
from secrets import token_hex
from urllib.parse import urlsplit

import pytest

from fakes.serving import KEY, STREAM
from fakes.upstream import SSE_HEAD, UntilGone, chat_chunk
from motes.chat import ChatRequest, MotesOptions, UserMessage

HEARD = b"Hal"
PATHS = ("/v1/chat/completions", "/v1/particles")


@contextmanager
def streaming(base_url, path, body, header=""):
    """While an answer goes on of which something is told."""
    written = json.dumps(body).encode()
    fields = (
        "host: motes",
        f"authorization: Bearer {KEY}",
        f"x-word: {header}",
        f"content-length: {len(written)}",
    )
    head = "\r\n".join((f"POST {path} HTTP/1.1", *fields, "", "")).encode()
    del body, fields, header
    where = urlsplit(base_url)
    with socket.create_connection((where.hostname, where.port), timeout=20) as line:
        line.sendall(head + written)
        del head, written
        told = b""
        while HEARD not in told:
            told += line.recv(65536)
        yield


def parsed(word):
    """How many there are of what the request with that word was parsed into."""
    found = Counter({ChatRequest: 0, MotesOptions: 0, UserMessage: 0})
    for one in gc.get_objects():
        kind = type(one)
        if kind is MotesOptions:
            found[kind] += one.conversation == word
        elif kind is UserMessage or kind is ChatRequest:
            message = one if kind is UserMessage else one.messages[0]
            found[kind] += getattr(message, "content", None) == word
    return found


def settled(look, wanted):
    """What is seen once it is as wanted, or after a while: who hears the first word may look before whoever
    told it has done so.
    """
    until = time.monotonic() + 10
    while (found := look()) != wanted and time.monotonic() < until:
        gc.collect()
    return found


def holders(word, but=()):
    """The texts and bytes with that word in them which anything in the process holds."""
    told, left_out = word.encode(), {id(one) for one in (*but, word)}
    found = {}
    for one in gc.get_objects():
        referents = gc.get_referents(one)
        # A dict of nothing but texts is none of the collector's.
        referents += [held for some in referents if type(some) is dict for held in gc.get_referents(some)]
        for held in referents:
            if (type(held) is str and word in held) or (type(held) is bytes and told in held):
                found[id(held)] = held
    return [held for known, held in found.items() if known not in left_out]


def held_as(word, but=()):
    return sorted(type(one).__name__ for one in holders(word, but))


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_holds_its_messages_and_nothing_else_of_the_parsed_request(served, upstream, path):
    upstream.play(SSE_HEAD, chat_chunk({"content": HEARD.decode()}), UntilGone())
    word = token_hex()
    messages = {"messages": [{"role": "user", "content": word}], "motes": {"conversation": word}}
    # The message is for an estimate of its tokens, should the vendor count none.
    wanted = {ChatRequest: 0, MotesOptions: 0, UserMessage: 1}
    with streaming(served, path, STREAM | messages):
        assert settled(lambda: parsed(word), wanted) == wanted


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_holds_its_prompt_twice_as_it_is_counted_and_as_it_was_sent(served, upstream, path):
    upstream.play(SSE_HEAD, chat_chunk({"content": HEARD.decode()}), UntilGone())
    upstream.received.clear()
    word = token_hex()
    body = STREAM | {"messages": [{"role": "user", "content": f"{word} {word}"}]}
    with streaming(served, path, body):
        del body
        sent = [one.body for one in upstream.received]
        assert settled(lambda: held_as(word, sent), ["bytes", "str"]) == ["bytes", "str"]


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_holds_the_headers_as_they_came_and_no_copy_of_them(served, upstream, path):
    upstream.play(SSE_HEAD, chat_chunk({"content": HEARD.decode()}), UntilGone())
    word = token_hex()
    with streaming(served, path, STREAM, word):
        assert settled(lambda: held_as(word), ["bytes"]) == ["bytes"]
