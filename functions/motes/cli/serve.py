"""`motes serve`: the gateway on this machine, and the demo vendor beside it.

Nothing listens without a key: the first start makes one and shows it once. Must never write a key to a log
or a file.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from motes.callers import KeyRing
    from motes.cli.terminal import Terminal
    from motes.settings import Settings


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "serve",
        help="run the gateway on this machine",
        description="Serves OpenAI's chat completions and the particle stream. The first start makes an API"
        " key and shows it once.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=8000, help="the port, 0 for a free one (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted. 1 where the settings or the address do not allow it."""
    import asyncio
    import os
    from pathlib import Path

    from motes.cli.terminal import Terminal
    from motes.errors import PrepareError, StoreError
    from motes.hosts.local import bind
    from motes.hosts.log import log_to_stderr
    from motes.settings import load_settings

    terminal = Terminal()
    try:
        settings = load_settings(os.environ, Path.cwd())
        listener = bind(args.host, args.port)
        log_to_stderr()
        asyncio.run(_serve(settings, listener, terminal))
    except (PrepareError, StoreError) as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1
    except OSError as error:
        terminal.error(f"cannot listen on {args.host}:{args.port}: {error.strerror or error}")
        return 1
    return 0


async def _serve(settings: "Settings", listener: "socket.socket", terminal: "Terminal") -> None:
    import os

    from motes.api.app import create_app
    from motes.api.gateway import open_gateway
    from motes.demo.rows import demo_rows
    from motes.demo.server import DemoServer
    from motes.hosts.local import base_url, serve
    from motes.hosts.log import LogObserver

    async with DemoServer() as demo:
        rows = demo_rows(demo.base_urls).values()
        gateway = open_gateway(settings, os.environ, rows=rows, observer=LogObserver())
        secret = await _first_key(gateway.keys)
        model = settings.default_model or "demo/hello"
        await serve(
            create_app(gateway),
            listener,
            lambda: _greet(terminal, base_url(listener), secret, model),
        )


async def _first_key(keys: "KeyRing") -> str | None:
    """The secret of a key made now, where there was none; None where there are keys already."""
    return None if await keys.list() else (await keys.new("first"))[1]


def _greet(terminal: "Terminal", url: str, secret: str | None, model: str) -> None:
    terminal.line(f"motes serves at  {url}")
    if secret is None:
        terminal.line("API key          one you have (`motes keys list`; `motes keys new` makes another)")
    else:
        terminal.line(f"API key          {secret}")
        terminal.line("                 shown this once: only its hash is kept")
    terminal.line("Try it:")
    body = f'{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"What is a mote?"}}]}}'
    terminal.line(
        f"  curl -N {url}/chat/completions -H 'Authorization: Bearer {secret or '$MOTES_API_KEY'}'"
        f" -H 'Content-Type: application/json' -d '{body}'"
    )
