"""What cannot be sent is our own side's fault, found before anything is sent, and never told with its value."""

import pytest

from motes.chat import ChatRequest, UserMessage
from motes.dispatch import errand, generate, join_url
from motes.errors import PrepareError
from motes.vendors.sendable import address_fault, header_fault, key_fault, shown_address
from motes.vendors.vendor import BEARER, CHAT, NO_AUTH, Auth, Vendor

REQUEST = ChatRequest(messages=[UserMessage(role="user", content="Hi")])


def row(base_url="https://host/v1", **members):
    return Vendor(id="mine", base_url=base_url, surfaces=(CHAT,), **members)


@pytest.mark.parametrize(
    "url",
    [
        "http://host",
        "https://host/v1/",
        "HTTPS://Host:65535/v1?api-version=1",
        "http://[::1]:8000/v1",
        "https://user:pass@host/v1",
        "https://bücher.example/v1",
        "http://host:1",
    ],
)
def test_an_address_is_one(url):
    assert address_fault(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host",
        "ftp://host",
        "http://",
        "http:///v1",
        "http://?x",
        "http://host:0/",
        "http://host:65536/",
        "http://host:99999999999999999999/",
        "http://host:port/",
        "http://host:/v1",
        "http://host:-1/",
        "http://user:pass@/v1",
        "http://[::1",
        "http://ho st/",
        "http://host/v1\n",
        "http://host/v1#part",
    ],
)
def test_an_address_that_is_none_is_a_fault_and_no_exception(url):
    assert address_fault(url)
    if url:
        with pytest.raises(PrepareError, match="vendor 'mine' cannot be asked: its base URL must"):
            generate(REQUEST, row(url), "m", secret="sk")


@pytest.mark.parametrize(
    ("name", "value"),
    [("x-team", "a b\tc"), ("x_y", ""), ("user-agent", "mine/1"), ("x-name", "Grüß")],
)
def test_a_header_may_be_anything_that_http_can_carry(name, value):
    assert header_fault(name, value) is None
    sent = generate(REQUEST, row(headers={name: value}), "m", secret="sk").request
    assert (name.encode(), value.encode("latin-1")) in sent.raw_headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-length", "3"),
        ("Host", "other"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("", "x"),
        ("x y", "x"),
        ("x:y", "x"),
        ("ü", "x"),
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\0b"),
        ("x", " a"),
        ("x", "海"),
        ("x", "\ud800"),
    ],
)
def test_a_header_that_http_cannot_carry_is_a_fault_and_no_exception(name, value):
    assert header_fault(name, value)
    with pytest.raises(PrepareError, match="vendor 'mine' cannot be asked: its header"):
        generate(REQUEST, row(headers={name: value}), "m", secret="sk")
    with pytest.raises(PrepareError):
        errand(row(headers={name: value}), "sk", "models")


SECRETS = ("sk-very secret\nx", "sk-very secret\x7f", "sk-very secret 海", "sk-very secret\udcff")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("auth", [BEARER, Auth("header", "x-key"), Auth("sigv4", "bedrock")])
def test_a_key_that_cannot_be_a_header_is_a_fault_that_does_not_show_it(secret, auth):
    with pytest.raises(PrepareError, match="its key must have no") as caught:
        generate(REQUEST, row(auth=auth), "m", secret=secret)
    assert "very" not in caught.value.message


def test_a_key_in_a_query_may_be_any_text_and_one_that_does_not_travel_anything():
    assert key_fault(Auth("query", "key"), "sk\n海") is None
    assert key_fault(Auth("query", "key"), "sk\udcff")
    assert key_fault(NO_AUTH, "sk\n\udcff") is None


@pytest.mark.parametrize(
    ("base", "path", "in_place_of", "url"),
    [
        ("https://h/v1?a=1", "v1/chat", "", "https://h/v1/chat?a=1"),
        ("https://h/v1/?a=1", "v1/chat", "", "https://h/v1/chat?a=1"),
        ("https://h?a=1&b=/v1", "v1/chat", "", "https://h/v1/chat?a=1&b=/v1"),
        ("https://h/v1beta?a=1", "v1beta/m:stream?alt=sse", "", "https://h/v1beta/m:stream?alt=sse&a=1"),
        (
            "https://h/openai/v1?a=1",
            "anthropic/v1/messages",
            "/openai/v1",
            "https://h/anthropic/v1/messages?a=1",
        ),
        ("https://h/openai/v1/?a=1", "x", "/openai/v1", "https://h/x?a=1"),
        ("https://h/v1?", "v1/chat", "", "https://h/v1/chat"),
    ],
)
def test_a_query_of_the_address_stays_behind_the_path(base, path, in_place_of, url):
    assert join_url(base, path, in_place_of) == url


def test_a_key_in_the_query_goes_behind_the_addresses_own():
    vendor = row("https://h/v1?api-version=2", auth=Auth("query", "key"))
    sent = generate(REQUEST, vendor, "m", secret="a&b").request
    assert sent.url == "https://h/v1/chat/completions?api-version=2&key=a%26b"


def test_an_address_is_shown_without_what_may_be_a_key():
    assert shown_address("https://me:hush@h:8/v1?key=hush") == "https://h:8/v1"
    assert shown_address("http://[::1") == ""
