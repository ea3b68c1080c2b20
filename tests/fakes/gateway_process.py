"""Gateways in processes of their own, that a test may kill: forked from one that has everything loaded.

Run as a script it is that one; `Processes` speaks to it. Must never touch a process that it did not make.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Gateway:
    """One process that serves."""

    pid: int
    url: str

    def kill(self) -> None:
        """As the kernel does when memory is short, or a platform when time is over."""
        os.kill(self.pid, signal.SIGKILL)


class Processes:
    """`with Processes() as processes:` then `start` as many as are wanted; all are gone behind it."""

    def __enter__(self) -> "Processes":
        self._pids: list[int] = []
        self._mother = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.close()
        self._mother.wait(10)
        self._mother.stdout.close()

    def start(self, home: Path, **environ: str) -> Gateway:
        """A gateway with that home, its settings and its store."""
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write(json.dumps({"home": str(home), "environ": environ}) + "\n")
        self._mother.stdin.flush()
        told = json.loads(self._mother.stdout.readline())
        return Gateway(told["pid"], told["url"])


def _mother() -> None:
    """Fork a gateway for each line; when there are no more, end those that are left."""
    from motes.hosts.local import base_url, bind

    _load()
    children: list[int] = []
    for line in sys.stdin:
        order = json.loads(line)
        listener = bind()
        pid = os.fork()
        if pid == 0:
            _child(order, listener)
        children.append(pid)
        url = base_url(listener)
        listener.close()
        print(json.dumps({"pid": pid, "url": url}), flush=True)  # noqa: T201
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _load() -> None:
    import sqlite3  # noqa: F401

    import uvicorn.lifespan.on
    import uvicorn.protocols.http.h11_impl  # noqa: F401

    from motes.dialects.registry import resolve

    for name in ("openai-responses", "gemini-interactions", "openai-chat"):
        resolve(name)  # type: ignore[arg-type]


def _child(order: dict[str, Any], listener: socket.socket) -> None:
    import asyncio

    from motes.api.app import create_app
    from motes.api.gateway import open_gateway
    from motes.executor.policy import Backoff, Policy
    from motes.hosts.local import serve
    from motes.hosts.log import LogObserver, log_to_stderr
    from motes.settings import load_settings

    home = Path(order["home"])
    os.dup2(os.open(home / f"log-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    log_to_stderr()
    environ = {"MOTES_HOME": str(home), "MOTES_API_KEY": "test-key-of-the-caller", **order["environ"]}
    settings = load_settings(environ, home)
    policy = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
    gateway = open_gateway(settings, environ, observer=LogObserver(), policy=policy)
    asyncio.run(serve(create_app(gateway), listener, lambda: None, gateway.runs.stop))
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    _mother()
