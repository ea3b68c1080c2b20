"""The shared client keeps keys where they belong."""

import logging
import ssl

import httpx

from fakes.virtual_time import in_virtual_time
from motes.dispatch import OWN_HEADERS
from motes.executor.connection import open_client


def client_of(handler, **changes):
    return open_client(transport=httpx.MockTransport(handler), **changes)


@in_virtual_time
async def test_it_names_itself_honestly_and_asks_for_plain_bytes():
    async with client_of(lambda _: httpx.Response(200)) as http:
        request = http.build_request("GET", "http://a.invalid/")
    assert request.headers["user-agent"] == OWN_HEADERS["user-agent"] == "motes/0.1.0"
    assert request.headers["accept-encoding"] == "identity"


@in_virtual_time
async def test_it_follows_no_redirect():
    async with client_of(lambda _: httpx.Response(302, headers={"location": "http://b.invalid"})) as http:
        assert (await http.get("http://a.invalid/")).status_code == 302


@in_virtual_time
async def test_a_vendors_cookies_are_not_kept():
    seen = []

    def handler(request):
        seen.append(request.headers.get("cookie"))
        return httpx.Response(200, headers={"set-cookie": "session=of-another-caller; Path=/"})

    async with client_of(handler) as http:
        await http.get("http://a.invalid/")
        await http.get("http://a.invalid/")
    assert seen == [None, None]


@in_virtual_time
async def test_no_url_reaches_a_log(caplog):
    caplog.set_level(logging.DEBUG)
    async with client_of(lambda _: httpx.Response(200)) as http:
        await http.get("http://a.invalid/?key=sk-secret")
    assert "sk-secret" not in caplog.text


@in_virtual_time
async def test_certificates_are_checked_and_the_context_is_made_once(monkeypatch):
    made = []
    real = httpx.create_ssl_context

    def counted(**options):
        made.append(real(**options))
        return made[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    from motes.executor import connection

    connection.ssl_context.cache_clear()
    for _ in range(3):
        async with open_client(trust_env=False):
            pass
    (context,) = made
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
