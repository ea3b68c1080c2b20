"""What is started as the runtime's process, and how its answers are read."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx

from fakes import lambda_apps
from fakes.aws_lambda import FakeLambda
from fakes.serving import AUTH

GATEWAY = [sys.executable, "-m", "motes.hosts.stream"]


def odd(service: str = "odd") -> list[str]:
    """A service of `lambda_apps`."""
    return [sys.executable, lambda_apps.__file__, service]


def caller(function: FakeLambda, **options: Any) -> httpx.Client:
    """A client of the Function URL, with the right key."""
    return httpx.Client(base_url=function.url, headers=AUTH, timeout=30, trust_env=False, **options)


def events(text: str) -> list[Any]:
    """The data of server-sent events; `[DONE]` as it stands."""
    datas = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def http_event(path: str, method: str = "GET", **members: Any) -> dict[str, Any]:
    """The least a Function URL tells of a request."""
    context = {"http": {"method": method, "path": path, "sourceIp": "192.0.2.7", "protocol": "HTTP/1.1"}}
    headers = {"host": "abc123.lambda-url.eu-north-1.on.aws", "x-forwarded-proto": "https", **AUTH}
    event = {"version": "2.0", "rawPath": path, "rawQueryString": "", "headers": headers}
    return {**event, "requestContext": context, "isBase64Encoded": False, **members}


def until(happened: Callable[[], object]) -> None:
    """Wait for something that happens elsewhere."""
    limit = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.002)
