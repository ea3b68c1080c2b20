"""The shared client keeps keys where they belong."""

import asyncio
import logging
import ssl
import threading

import httpx
import pytest

from fakes.virtual_time import in_virtual_time
from motes.dispatch import OWN_HEADERS
from motes.executor import connection
from motes.executor.connection import open_client
from motes.executor.failures import before_the_answer
from motes.vendors.vendor import Timeouts


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


@pytest.fixture
def no_context():
    """As in a process that has not read its CA certificates yet."""
    connection._made.cache_clear()
    yield
    connection._made.cache_clear()


def test_certificates_are_read_once_and_beside_the_loop_when_https_is_first_asked(monkeypatch, no_context):
    made, threads = [], []
    real = httpx.create_ssl_context

    def counted(**options):
        threads.append(threading.current_thread())
        made.append(real(**options))
        return made[-1]

    async def work():
        async with open_client(trust_env=False) as one, open_client(trust_env=False) as other:
            with pytest.raises(httpx.ConnectError):
                await one.get("http://127.0.0.1:1/")
            assert made == []
            asked = [client.get("https://127.0.0.1:1/") for client in (one, other, one)]
            told = await asyncio.gather(*asked, return_exceptions=True)
            assert [type(each) for each in told] == [httpx.ConnectError] * 3

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    asyncio.run(work())
    (context,) = made
    assert threads != [threading.main_thread()]
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_certificates_that_are_not_there_are_named_with_where_they_were_looked_for(monkeypatch, no_context):
    async def work():
        async with open_client() as http:
            with pytest.raises(httpx.ConnectError) as raised:
                await http.get("https://127.0.0.1:1/")
        return before_the_answer(raised.value, Timeouts())

    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/ca.pem")
    error = asyncio.run(work())
    assert (error.code, error.retryable) == ("no_certificates", False)
    assert "SSL_CERT_FILE" in error.message
