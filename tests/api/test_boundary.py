"""What stands around the endpoints: headers, paths, refusals and bugs."""

import asyncio

import pytest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.routing import Match, Route

from motes.api.app import Paths, create_app
from motes.api.boundary import STATUS, Bugs, Refusals
from motes.api.gateway import open_gateway
from motes.api.headers import headers_of
from motes.errors import MotesError, StoreError
from motes.settings import load_settings

RAW = [
    (b"host", b"a"),
    (b"x-api-key", b"first"),
    (b"accept", b"caf\xe9"),
    (b"x-api-key", b"second"),
    (b"x", b""),
]


def scope_of(path="/", method="GET", **more):
    return {"type": "http", "method": method, "path": path, "headers": RAW, "query_string": b""} | more


def asked(app, scope):
    """What an app sends, and what it raises."""
    sent, raised = [], None

    async def send(message):
        if message["type"] == "http.response.start":
            scope[STATUS] = message["status"]
        sent.append(message)

    try:
        asyncio.run(app(scope, None, send))
    except Exception as error:
        raised = error
    return [message.get("status", message.get("body")) for message in sent], raised


def raising(error, begun=False):
    async def app(scope, receive, send):
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    return app


def telling(name):
    async def teller(request, error):
        return PlainTextResponse(f"{name}: {type(error).__name__}", 418)

    return teller


def test_headers_are_read_as_starlette_reads_them_and_once():
    scope = scope_of()
    read = headers_of(scope)
    assert {name: read[name] for name in read} == {name: Headers(scope=scope)[name] for name in read}
    assert set(read) == set(Headers(scope=scope).keys())
    assert read.get("authorization") is None
    assert headers_of(scope) is read


def test_a_path_is_found_at_once_where_the_router_would_have_found_it(tmp_path):
    app = create_app(open_gateway(load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path), {}))
    routes = [route for route in app.routes if isinstance(route, Route)]
    named = Paths(app.router, routes)._named
    assert ("POST", "/v1/chat/completions") in named
    for (method, path), found in named.items():
        matching = [one for one in routes if one.matches(scope_of(path, method))[0] is Match.FULL]
        assert matching[0].app is found


def test_a_path_below_another_one_is_the_routers():
    async def endpoint(request):
        return PlainTextResponse("named")

    async def router(scope, receive, send):
        await PlainTextResponse("routed")(scope, receive, send)

    paths = Paths(router, [Route("/a", endpoint)])
    assert asked(paths, scope_of("/a")) == ([200, b"named"], None)
    assert asked(paths, scope_of("/a", "POST")) == ([200, b"routed"], None)
    assert asked(paths, scope_of("/a", root_path="/a")) == ([200, b"routed"], None)


TELLERS = {MotesError: telling("ours"), StoreError: telling("store"), HTTPException: telling("http")}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MotesError("x"), b"ours: MotesError"),
        (StoreError("x"), b"store: StoreError"),
        (HTTPException(404), b"http: HTTPException"),
    ],
)
def test_a_refusal_is_told_by_who_knows_it_best(error, told):
    assert asked(Refusals(raising(error), TELLERS), scope_of()) == ([418, told], None)


def test_nothing_is_refused_behind_the_head_of_an_answer():
    sent, raised = asked(Refusals(raising(MotesError("x"), begun=True), TELLERS), scope_of())
    assert sent == [200]
    assert isinstance(raised, RuntimeError)


def test_a_bug_is_answered_once_and_goes_on_to_the_server():
    bug = KeyError("x")
    assert asked(Refusals(raising(bug), TELLERS), scope_of()) == ([], bug)
    assert asked(Bugs(raising(bug), telling("bug")), scope_of()) == ([418, b"bug: KeyError"], bug)
    assert asked(Bugs(raising(bug, begun=True), telling("bug")), scope_of()) == ([200], bug)
    assert asked(Bugs(raising(bug), telling("bug")), scope_of(type="lifespan")) == ([], bug)
