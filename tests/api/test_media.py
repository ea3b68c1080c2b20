"""Images and files named by their address, for vendors that take them inline only."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.serving import KEY, client, vendor_row
from fakes.upstream import HELLO, Upstream, answer
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.executor.public_fetch import Rules
from motes.hosts.local import running
from motes.settings import load_settings

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
CHAT = "/chat/completions"


@pytest.fixture
def web() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@contextmanager
def gateway(home: Path, upstream: Upstream, web: Upstream | None, head: str = "") -> Iterator[httpx.Client]:
    """A gateway before a vendor that takes images inline only; `web` counts as the open web."""
    inline = vendor_row(upstream.base_url, "inline") + '[vendors.inline.quirks]\nimages = "inline"\n'
    (home / "motes.toml").write_text(head + inline + vendor_row(upstream.base_url, "any"))
    surroundings = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY}
    made = open_gateway(load_settings(surroundings, home), surroundings)
    if web is not None:
        rules = Rules(ports={"http": frozenset({web.port})}, is_allowed=lambda a: a == "127.0.0.1")
        made = replace(made, fetching=rules)
    with running(create_app(made)) as url, client(url) as caller:
        yield caller


def asking(*parts: dict[str, Any], model: str = "inline/m") -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": list(parts)}]}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


def sent_parts(upstream: Upstream) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = upstream.received[0].json["messages"][0]["content"]
    return parts


@pytest.mark.parametrize(
    "declared",
    ["image/png", "application/octet-stream", "", "png", "image/jpeg,x", 'a/b";c=d, e', "image/\xfc"],
)
def test_an_image_is_fetched_once_and_sent_inline(
    tmp_path: Path, upstream: Upstream, web: Upstream, declared: str
) -> None:
    web.play(answer(200, PNG, content_type=declared))
    upstream.play(*HELLO)
    url = f"http://127.0.0.1:{web.port}/a.png"
    with gateway(tmp_path, upstream, web) as caller:
        assert caller.post(CHAT, json=asking(image(url), image(url))).status_code == 200
    data = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert [part["image_url"]["url"] for part in sent_parts(upstream)] == [data, data]
    assert len(web.received) == 1


def test_a_vendor_that_fetches_itself_gets_the_address(
    tmp_path: Path, upstream: Upstream, web: Upstream
) -> None:
    upstream.play(*HELLO)
    url = f"http://127.0.0.1:{web.port}/a.png"
    with gateway(tmp_path, upstream, web) as caller:
        assert caller.post(CHAT, json=asking(image(url), model="any/m")).status_code == 200
    assert sent_parts(upstream)[0]["image_url"]["url"] == url
    assert web.received == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254"])
def test_a_private_address_is_a_mistake_of_the_caller_and_nobody_is_asked(
    tmp_path: Path, upstream: Upstream, web: Upstream, host: str
) -> None:
    text = {"type": "text", "text": "what is it?"}
    with gateway(tmp_path, upstream, None) as caller:
        answered = caller.post(CHAT, json=asking(text, image(f"http://{host}/a.png")))
    assert answered.status_code == 400
    error = answered.json()["error"]
    assert (error["code"], error["param"]) == ("file_not_fetched", "messages.0.content.1")
    assert "not on the public internet" in error["message"]
    assert "data URL" in error["message"]
    assert upstream.received == web.received == []


def test_all_files_of_a_request_share_one_limit(tmp_path: Path, upstream: Upstream, web: Upstream) -> None:
    web.play(answer(200, b"x" * 700_000))
    urls = [f"http://127.0.0.1:{web.port}/{n}" for n in range(3)]
    with gateway(tmp_path, upstream, web, "max_body_bytes = 1500000\n") as caller:
        answered = caller.post(CHAT, json=asking(*map(image, urls)))
    assert answered.status_code == 400
    assert "too large together" in answered.json()["error"]["message"]


def test_more_than_a_few_files_are_not_fetched(tmp_path: Path, upstream: Upstream, web: Upstream) -> None:
    urls = [f"http://127.0.0.1:{web.port}/{n}" for n in range(21)]
    with gateway(tmp_path, upstream, web) as caller:
        answered = caller.post(CHAT, json=asking(*map(image, urls)))
    assert (answered.status_code, answered.json()["error"]["code"]) == (400, "too_many_files")
    assert web.received == []


def test_an_operator_may_forbid_it(tmp_path: Path, upstream: Upstream, web: Upstream) -> None:
    with gateway(tmp_path, upstream, web, "fetch_media = false\n") as caller:
        answered = caller.post(CHAT, json=asking(image(f"http://127.0.0.1:{web.port}/a.png")))
    assert (answered.status_code, answered.json()["error"]["code"]) == (400, "image_address_unsupported")
    assert web.received == []
