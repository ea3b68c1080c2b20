"""The app: routes, errors and the envelope around them, for any ASGI host.

Must never keep anything outside the `Gateway` it is made with.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from motes import __version__
from motes.api.afterwards import Afterwards, Chore
from motes.api.boundary import Bugs, Refusals, Teller
from motes.api.envelope import Envelope
from motes.api.errors import on_bug, on_http_error, on_motes_error, on_store_error
from motes.api.gateway import Gateway
from motes.api.models import Models
from motes.api.openai import ChatCompletions
from motes.api.particles import ParticleStream
from motes.api.resources import Resources
from motes.chat import ChatRequest, no_options
from motes.errors import MotesError, StoreError


def create_app(gateway: Gateway, *, is_always_on: bool = False) -> Starlette:
    """The app of one gateway; it closes the gateway's HTTP client when it shuts down. After its last byte a
    request waits for what is kept of it, but where the process `is_always_on` and keeps it on its own disk.
    """
    chores = gateway.chores
    if gateway.is_remote or not is_always_on:
        chores += gateway.keeping
    # Before the first request rather than in it: on Lambda the start has a whole processor.
    ChatRequest.prepare()
    no_options()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await gateway.runs.close()
        await gateway.ledger.write()
        await gateway.http.aclose()
        # A server may end the process by the signal that stopped it: what still waits for others is written.
        for handler in logging.getLogger().handlers:
            handler.flush()

    return _App(gateway, chores, lifespan)


class _App(Starlette):
    """Starlette with nothing but our own around its router."""

    def __init__(self, gateway: Gateway, chores: Sequence[Chore], lifespan: Lifespan["_App"]) -> None:
        super().__init__(routes=_routes(gateway), lifespan=lifespan)
        self.router.redirect_slashes = False
        self._chores = chores

    def build_middleware_stack(self) -> ASGIApp:
        """The way of a request, from the last to the first."""
        routes = [route for route in self.routes if isinstance(route, Route)]
        inner = Refusals(Paths(self.router, routes), _TELLERS)
        return Bugs(Afterwards(Envelope(inner, routes), self._chores), on_bug)


class Paths:
    """What a request asks for: at once where a path names it, else by Starlette's router, which tries one
    pattern after another.
    """

    def __init__(self, router: ASGIApp, routes: Sequence[Route]) -> None:
        self._router = router
        plain = [route for route in routes if not route.param_convertors]
        self._named = {(method, one.path): one.app for one in reversed(plain) for method in one.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        app = None
        if scope["type"] == "http" and not scope.get("root_path"):
            app = self._named.get((scope["method"], scope["path"]))
        await (app or self._router)(scope, receive, send)


def _routes(gateway: Gateway) -> list[Route]:
    """Every path with and without `/v1`: base URLs are configured both ways."""
    models, chat, particles = Models(gateway), ChatCompletions(gateway), ParticleStream(gateway)
    resources = Resources(gateway)
    routes = [
        Route("/healthz", _health, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
    ]
    for prefix in ("/v1", ""):
        routes += [
            Route(f"{prefix}/chat/completions", chat, methods=["POST"]),
            Route(f"{prefix}/particles", particles, methods=["POST"]),
            Route(f"{prefix}/models", models.list, methods=["GET"]),
            Route(f"{prefix}/models/{{id:path}}", models.get, methods=["GET"]),
            *_run_routes(gateway, prefix),
            Route(f"{prefix}/resources/{{vendor}}/{{kind}}/{{name:path}}", resources, methods=["GET"]),
        ]
    return routes


def _run_routes(gateway: Gateway, prefix: str) -> list[Route]:
    later = partial(_Later, gateway)
    return [
        Route(f"{prefix}/runs", later("list"), methods=["GET"]),
        Route(f"{prefix}/runs/{{id}}", later("get"), methods=["GET"]),
        Route(f"{prefix}/runs/{{id}}", later("delete"), methods=["DELETE"]),
        Route(f"{prefix}/runs/{{id}}/cancel", later("cancel"), methods=["POST"]),
        Route(f"{prefix}/runs/{{id}}/particles", later("particles"), methods=["GET"]),
        Route(f"{prefix}/chat/completions/{{id}}", later("chunks"), methods=["GET"]),
    ]


class _Later:
    """An endpoint that is loaded when it is first asked: a new run needs none of it."""

    def __init__(self, gateway: Gateway, name: str) -> None:
        self._gateway = gateway
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        from motes.api.runs import ENDPOINTS

        await ENDPOINTS[self._name](self._gateway, scope, receive, send)


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


async def _openapi(_: Request) -> Response:
    # Its models are made for nobody but who asks for it.
    from motes.api.openapi import body

    return Response(body(), media_type="application/json")


async def _on_departure(_: Request, __: Exception) -> Response:
    """The client left while it was sending; nobody reads this."""
    return Response(status_code=499)


_TELLERS: Final[Mapping[type[Exception], Teller]] = {
    MotesError: on_motes_error,
    StoreError: on_store_error,
    HTTPException: on_http_error,
    ClientDisconnect: _on_departure,
}
