"""The guard between a caller's URL and this machine's network, over real sockets on loopback."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from fakes.upstream import Sleep, UntilGone, Upstream, answer
from motes.executor.public_fetch import Allowance, NotFetched, Rules, fetch_public

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


@pytest.fixture
def web() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


def here(web: Upstream, **changes: Any) -> Rules:
    """This test's own server counts as the open web, and nothing else does."""
    return Rules(ports={"http": frozenset({web.port})}, is_allowed=lambda a: a == "127.0.0.1", **changes)


async def refusal(url: str, rules: Rules, allowance: int = 1000) -> str:
    with pytest.raises(NotFetched) as caught:
        await fetch_public(url, rules, Allowance(allowance))
    return str(caught.value)


async def test_a_file_comes_with_its_type_and_nobodys_headers(web: Upstream) -> None:
    web.play(answer(200, PNG, content_type="image/PNG; x=y"))
    file = await fetch_public(f"http://127.0.0.1:{web.port}/a.png?x=1", here(web), Allowance(1000))
    assert (file.mime, file.data) == ("image/png", PNG)
    (asked,) = web.received
    assert (asked.method, asked.path) == ("GET", "/a.png?x=1")
    assert asked.headers["user-agent"].startswith("motes/")
    assert not {"authorization", "cookie", "x-api-key"} & set(asked.headers)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0"]
)
async def test_by_default_no_spelling_of_this_machine_is_reached(web: Upstream, host: str) -> None:
    rules = Rules(ports={"http": frozenset({web.port})})
    said = await refusal(f"http://{host}:{web.port}/", rules)
    assert "public internet" in said or "cannot be resolved" in said
    assert web.received == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/a",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://",
        "http:///a",
        "http://exa mple.com/",
        "http://user:pass@127.0.0.1/",
        "http://127.0.0.1:notaport/",
        "http://127.0.0.1:22/",
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "http://127.0.0.1/" + "a" * 9000,
        "http://127.0.0.1/\r\nx: y",
    ],
)
async def test_an_address_that_is_none_of_the_web_is_refused(web: Upstream, url: str) -> None:
    assert await refusal(url, here(web))
    assert await refusal(url, Rules())
    assert web.received == []


async def test_every_redirect_is_judged_anew(web: Upstream) -> None:
    for target in (
        f"http://127.0.0.2:{web.port}/",
        "http://169.254.169.254/latest/meta-data/",
        f"http://localhost.:{web.port + 1}/",
        "file:///etc/passwd",
    ):
        web.forget()
        web.play(answer(302, b"", location=target))
        assert await refusal(f"http://127.0.0.1:{web.port}/", here(web))
        assert len(web.received) == 1


async def test_a_redirect_on_the_web_is_followed_a_few_times(web: Upstream) -> None:
    web.play(answer(301, b"", location="/next"))
    web.play(answer(200, PNG, content_type="image/png"))
    file = await fetch_public(f"http://127.0.0.1:{web.port}/", here(web), Allowance(1000))
    assert file.data == PNG
    assert [asked.path for asked in web.received] == ["/", "/next"]
    web.forget()
    web.play(answer(302, b"", location="/again"))
    assert "more than 3 times" in await refusal(f"http://127.0.0.1:{web.port}/", here(web))
    assert len(web.received) == 4


async def test_a_file_may_not_be_larger_than_allowed_whatever_its_server_declares(web: Upstream) -> None:
    body = b"x" * 5000
    web.play(answer(200, body))
    assert "too large" in await refusal(f"http://127.0.0.1:{web.port}/", here(web))
    web.forget()
    web.play(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", *[b"y" * 100] * 20, UntilGone())
    assert "too large" in await refusal(f"http://127.0.0.1:{web.port}/", here(web))


async def test_it_may_not_take_longer_than_allowed(web: Upstream) -> None:
    web.play(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", *[b"y", Sleep(0.05)] * 100)
    began = time.monotonic()
    assert "0.3 s" in await refusal(f"http://127.0.0.1:{web.port}/", here(web, seconds=0.3))
    assert time.monotonic() - began < 2
    web.wait_until_gone()


@pytest.mark.parametrize("status", [204, 304, 401, 404, 500])
async def test_only_a_plain_success_is_a_file(web: Upstream, status: int) -> None:
    web.play(answer(status, b""))
    assert str(status) in await refusal(f"http://127.0.0.1:{web.port}/", here(web))


@pytest.mark.parametrize(
    "body", [b"\x00\x01\x02\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", b""]
)
async def test_garbage_is_told_in_our_words(web: Upstream, body: bytes) -> None:
    web.play(body)
    assert (
        await refusal(f"http://127.0.0.1:{web.port}/", here(web))
        == "its server could not be reached, or broke off"
    )


async def test_what_is_compressed_unasked_is_refused(web: Upstream) -> None:
    web.play(answer(200, b"\x1f\x8b", content_encoding="gzip"))
    assert "compresses" in await refusal(f"http://127.0.0.1:{web.port}/", here(web))
