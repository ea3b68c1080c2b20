"""A caller who brings the vendor's key: it goes to the host of that vendor's row for one request, and nowhere else."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.serving import AUTH, KEY, client, serving, vendor_row
from fakes.upstream import HELLO, SSE_HEAD, Reset, Upstream, answer, chat_chunk, event
from motes.engine.ask import Heading
from motes.settings import AWS_KEY
from motes.vendors.table import VENDORS

OWN = "sk-own-canary-0123456789abcdef"
HEADER = {"x-motes-vendor-key": OWN}
CHAT, PARTICLES = "/chat/completions", "/particles"
ASK: dict[str, Any] = {"model": "fake/m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def vendor() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def base_url(home: Path, vendor: Upstream) -> Iterator[str]:
    keyless = vendor_row(vendor.base_url, "keyless").replace('key = "sk-vendor-secret-1234567890"\n', "")
    open_row = keyless.replace("keyless", "open") + 'auth = "none"\n'
    others = "".join(
        f'[vendors.{name}]\nbase_url = "{vendor.base_url}"\n'
        for name in sorted(VENDORS)
        if name != "cloudflare"
    )
    with serving(home, vendor_row(vendor.base_url) + keyless + open_row + others) as url:
        yield url


@pytest.mark.parametrize("path", [CHAT, PARTICLES])
@pytest.mark.parametrize("model", ["fake/m", "keyless/m"])
def test_it_stands_in_place_of_the_operators_key(
    base_url: str, vendor: Upstream, path: str, model: str
) -> None:
    vendor.forget()
    vendor.play(*HELLO)
    with client(base_url) as caller:
        assert caller.post(path, json=ASK | {"model": model}, headers=HEADER).status_code == 200
        without = caller.post(path, json=ASK)
    assert without.status_code == 200
    sent = [asked.headers["authorization"] for asked in vendor.received]
    assert sent == [f"Bearer {OWN}", "Bearer sk-vendor-secret-1234567890"]
    assert "x-motes-vendor-key" not in vendor.received[0].headers
    assert KEY not in json.dumps(vendor.received[0].headers)


def test_it_is_kept_nowhere(
    base_url: str, vendor: Upstream, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vendor.forget()
    vendor.play(*HELLO)
    with client(base_url) as caller:
        caller.post(CHAT, json=ASK | {"stream": True}, headers=HEADER)
    assert OWN not in caplog.text
    assert not [found for found in gc.get_objects() if type(found) is Heading and OWN.encode() in found.lines]
    kept = [path for path in home.rglob("*") if path.is_file() and OWN.encode() in path.read_bytes()]
    assert kept == []


def test_it_opens_no_door_of_ours(base_url: str) -> None:
    with client(base_url) as caller:
        caller.headers.pop("authorization")
        assert caller.post(CHAT, json=ASK, headers={"x-motes-vendor-key": KEY}).status_code == 401


@pytest.mark.parametrize("key", ["a" * 5000, "sk-\u00e9"])
def test_what_is_no_key_is_the_callers_mistake(base_url: str, vendor: Upstream, key: str) -> None:
    vendor.forget()
    headers = [*AUTH.items(), ("x-motes-vendor-key", key.encode("latin-1"))]
    with client(base_url) as caller:
        refused = caller.post(CHAT, json=ASK, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_vendor_key")
    assert vendor.received == []


def test_a_vendor_that_takes_no_key_is_not_given_one(base_url: str, vendor: Upstream) -> None:
    vendor.forget()
    with client(base_url) as caller:
        refused = caller.post(CHAT, json=ASK | {"model": "open/m"}, headers=HEADER)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unused_vendor_key")
    assert vendor.received == []


ECHO = {"message": f"bad key {OWN}", "code": OWN, "type": f"Bearer {OWN}", "param": OWN}
SCRIPTS: dict[str, tuple[Any, ...]] = {
    "refused": (answer(401, {"error": ECHO}, x_request_id=OWN, retry_after=OWN),),
    "plain refusal": (answer(403, f"no entry for {OWN}".encode(), content_type="text/plain"),),
    "failed": (answer(500, {"error": f"key {OWN}", "message": OWN, "detail": [{"msg": OWN}]}),),
    "redirected": (answer(302, b"", location=f"https://elsewhere.example/?key={OWN}"),),
    "garbage": (answer(200, f"<html>{OWN}</html>".encode(), content_type="text/html"),),
    "no HTTP": (f"{OWN} {OWN}\r\n\r\n".encode(),),
    "error in the stream": (SSE_HEAD, event({"error": ECHO})),
    "error after text": (SSE_HEAD, chat_chunk({"content": "a"}), event({"type": "error", "error": ECHO})),
    "cut after text": (SSE_HEAD, chat_chunk({"content": "a"}), f"data: {OWN}".encode(), Reset()),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_no_vendor_can_bring_it_to_light(
    base_url: str, vendor: Upstream, script: tuple[Any, ...], caplog: pytest.LogCaptureFixture
) -> None:
    asked = 0
    with client(base_url) as caller:
        for name in sorted(VENDORS):
            if VENDORS[name].auth.kind == "none" or VENDORS[name].key_name == AWS_KEY:
                continue
            for path in (CHAT, PARTICLES):
                vendor.forget()
                vendor.play(*script)
                body = ASK | {"model": f"{name}/m", "stream": path == CHAT}
                told = caller.post(path, json=body, headers=HEADER)
                asked += len(vendor.received)
                assert OWN not in told.text + str(told.headers), (name, path)
    assert OWN not in caplog.text
    assert asked > 60
