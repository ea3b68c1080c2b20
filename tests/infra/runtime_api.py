"""As little of the Lambda Runtime API as it takes to start an artefact and see what it says, and when."""

import json
import os
import queue
import socket
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

PATIENCE = 20.0
SECONDS = 60_000


@dataclass
class Response:
    """What was answered to one event; a chunk can be taken as soon as it is there, and None ends it."""

    chunks: "queue.Queue[bytes | None]" = field(default_factory=queue.Queue)

    def next(self) -> bytes | None:
        return self.chunks.get(timeout=PATIENCE)

    def rest(self) -> bytes:
        return b"".join(iter(self.next, None))


class RuntimeAPI:
    """`with RuntimeAPI() as api:` listens on loopback. `asked` is set once an event was asked for."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._events: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._responses: dict[str, Response] = {}

    def __enter__(self) -> "RuntimeAPI":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def invoke(self, event: dict[str, Any]) -> Response:
        """Hand an event over; gives the response, which is still to come."""
        id, response = str(uuid.uuid4()), Response()
        self._responses[id] = response
        self._events.put((id, event))
        return response

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as request:
            path = request.readline().split()[1].decode()
            headers = dict(_lines(request))
            if path.endswith("/invocation/next"):
                self.asked.set()
                connection.sendall(_invocation(*self._events.get()))
                return
            response = self._responses.setdefault(path.split("/")[-2], Response())
            for chunk in _body(request, headers):
                response.chunks.put(chunk)
            response.chunks.put(None)
            connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")


def _lines(request: BinaryIO) -> Iterator[tuple[str, str]]:
    while line := request.readline().decode().strip():
        name, _, value = line.partition(":")
        yield name.lower(), value.strip()


def _body(request: BinaryIO, headers: dict[str, str]) -> Iterator[bytes]:
    if "content-length" in headers:
        yield request.read(int(headers["content-length"]))
        return
    while size := int(request.readline(), 16):
        yield request.read(size)
        request.readline()
    dict(_lines(request))


def _invocation(id: str, event: dict[str, Any]) -> bytes:
    body = json.dumps(event).encode()
    deadline = int(time.time() * 1000) + SECONDS
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nLambda-Runtime-Aws-Request-Id: {id}\r\n"
        f"Lambda-Runtime-Deadline-Ms: {deadline}\r\n\r\n"
    )
    return head.encode() + body


def http_event(method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    """An HTTP request as a function URL hands it over."""
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "x.lambda-url.us-east-1.on.aws", "content-type": "application/json", **headers},
        "requestContext": {
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"},
            "requestId": "r",
            "stage": "$default",
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def bare_python(folder: Path, *options: str) -> Path:
    """A Python that knows no site-packages, so that only what the artefact carries can be imported."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -S {" ".join(options)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@contextmanager
def started(
    artefact: Path, api: RuntimeAPI, python: Path, log: Path, **environment: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """The streaming function, started as the managed runtime starts it: by the wrapper, with its own client's
    name as the second argument.
    """
    inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    told = {
        "AWS_LAMBDA_RUNTIME_API": api.address,
        "AWS_LAMBDA_FUNCTION_NAME": "motes-stream",
        "LAMBDA_TASK_ROOT": str(artefact),
        "MOTES_HOME": str(log.parent / "home"),
        "MOTES_API_KEY": "mk-test",
    }
    command = [str(artefact / "bootstrap"), str(python), "/var/runtime/bootstrap.py"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=artefact, env={**inherited, **told, **environment}, stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
