"""What an invocation is: an HTTP request for the app, or an event of the platform for a function here.

The two are told apart by the request context alone, which only the platform writes. Must never look into a
body to do so: whatever a client sends, it stays a request.

Source: AWS Lambda developer guide, "Invoking Lambda function URLs", request payload (read 2026-11-29).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from mangum.handlers.api_gateway import HTTPGateway
from mangum.types import LambdaConfig, LambdaContext
from starlette.types import Scope

from motes import __version__

# Mangum only hands it on to apps that know where they run. Ours does not.
_NO_CONTEXT: Final = cast(LambdaContext, None)
_NOT_ASGI: Final = ("aws.event", "aws.context")
_CONFIG: Final = LambdaConfig(api_gateway_base_path="/", text_mime_types=[], exclude_headers=[])


class UnknownEvent(Exception):
    """An event that nothing here is for."""


def is_http(event: Any) -> bool:
    """Whether it came through the function's URL."""
    if not isinstance(event, dict) or event.get("version") != "2.0":
        return False
    context = event.get("requestContext")
    return isinstance(context, dict) and isinstance(context.get("http"), dict)


def request_of(event: Mapping[str, Any]) -> tuple[Scope, bytes]:
    """The ASGI scope and the body of an HTTP request."""
    handler = HTTPGateway(dict(event), _NO_CONTEXT, _CONFIG)
    scope = {name: value for name, value in handler.scope.items() if name not in _NOT_ASGI}
    scope["raw_path"] = str(event.get("rawPath", "")).encode()
    return scope, handler.body


def answer_to(event: Any) -> Any:
    """The answer to an event that is not HTTP. Raises UnknownEvent."""
    kind = event.get("motes") if isinstance(event, dict) else None
    known = _EVENTS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise UnknownEvent("neither an HTTP request nor an event this function knows")
    return known()


def _ping() -> Any:
    """For a schedule that keeps an environment warm, and for a person who wants to know whether it runs."""
    return {"status": "ok", "version": __version__}


_EVENTS: Final[Mapping[str, Callable[[], Any]]] = MappingProxyType({"ping": _ping})
