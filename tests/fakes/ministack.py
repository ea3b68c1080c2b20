"""DynamoDB as other people wrote it (MiniStack), in a process of its own, over a real socket."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_START_SECONDS = 30


@contextmanager
def running(command: str, folder: Path) -> Iterator[str]:
    """The server for as long as the block lasts; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "SERVICES": "dynamodb"}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [command], cwd=folder, env=os.environ | environ, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _await(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(_START_SECONDS)


def _await(port: int, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError("MiniStack did not start")
