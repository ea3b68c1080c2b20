"""`motes serve`: the gateway on this machine, and the demo vendor beside it.

Nothing listens without a key: the first start makes one and shows it once. Must never write a key to a log
or a file.
"""

import argparse
import shlex
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket

    from motes.callers import KeyRing
    from motes.cli.terminal import Terminal
    from motes.settings import Settings

_LAST_PORT: Final = 65535
_MODEL: Final = "demo/hello"
_VARIABLE: Final = "MOTES_API_KEY"
# As often as on Lambda.
_ROUNDS_SECONDS: Final = 15 * 60.0


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
        "--port", type=_port, default=8000, help="the port, 0 for a free one (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_LAST_PORT}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted. 1 where the settings or the address do not allow it."""
    import gc
    import os
    from pathlib import Path

    # What an import makes stays: looking for garbage among it costs a tenth of the start.
    gc.disable()
    from motes.cli.terminal import Terminal
    from motes.errors import PrepareError, StoreError
    from motes.hosts.local import run_here
    from motes.hosts.log import log_to_stderr
    from motes.settings import load_settings

    terminal = Terminal()
    try:
        settings = load_settings(os.environ, Path.cwd())
        listener = _listener(args.host, args.port)
        log_to_stderr()
        run_here(_serve(settings, listener, terminal))
    except (PrepareError, StoreError) as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1
    except OSError as error:
        terminal.error(f"cannot serve: {error.strerror or error}")
        return 1
    finally:
        gc.enable()
    return 0


def _listener(host: str, port: int) -> "socket.socket":
    """A socket that listens there. Raises PrepareError."""
    from motes.errors import PrepareError
    from motes.hosts.local import bind

    try:
        return bind(host, port)
    except OSError as error:
        # Python adds the address, which is told already.
        reason = (error.strerror or str(error)).partition(" (while")[0]
    except (UnicodeError, TypeError):
        reason = "that is no host name"
    raise PrepareError(f"cannot listen on {host}:{port}: {reason}")


async def _serve(settings: "Settings", listener: "socket.socket", terminal: "Terminal") -> None:
    import os

    from motes.hosts.local import base_url, load_httpx, serve

    load_httpx()
    from motes.api.app import create_app
    from motes.api.gateway import open_gateway
    from motes.demo.rows import demo_rows
    from motes.demo.server import DemoServer
    from motes.hosts.log import LogObserver
    from motes.hosts.upkeep import Upkeep

    async with DemoServer() as demo, Upkeep(settings, os.environ).beside(_ROUNDS_SECONDS):
        rows = demo_rows(demo.base_urls).values()
        gateway = open_gateway(settings, os.environ, rows=rows, observer=LogObserver())
        secret, words = await _key(gateway.keys)
        url, model = base_url(listener), settings.default_model or _MODEL
        greeting = [f"motes serves at  {url}", *_key_lines(secret, words), "Try it:"]
        greeting.append(f"  {_curl(url, secret or '$' + _VARIABLE, model)}")
        app, ready = create_app(gateway, is_always_on=True), partial(_begun, terminal, greeting)
        await serve(app, listener, ready, gateway.runs.stop)


def _begun(terminal: "Terminal", greeting: list[str]) -> None:
    from motes.hosts.collector import begin_serving

    terminal.line("\n".join(greeting))
    begin_serving()


async def _key(keys: "KeyRing") -> tuple[str | None, str]:
    """The secret of a key made now, where no key opened the gateway, and what is said beside it."""
    from motes.callers import ENVIRONMENT_KEY

    known = await keys.list()
    enabled = [key for key in known if not key.disabled]
    if any(key.id == ENVIRONMENT_KEY for key in enabled):
        return None, f"the one in {_VARIABLE}"
    if enabled:
        return None, "one you have (`motes keys list`; `motes keys new` makes another)"
    _, secret = await keys.new("another" if known else "first")
    why = "every other key is disabled; " if known else ""
    return secret, f"{why}shown this once: only its hash is kept"


def _key_lines(secret: str | None, words: str) -> list[str]:
    lines = [words] if secret is None else [secret, words]
    return [f"{'' if at else 'API key':<17}{line}" for at, line in enumerate(lines)]


def _curl(url: str, key: str, model: str) -> str:
    """A line for a POSIX shell. The key stands in double quotes: it may be a variable."""
    from motes import jsontext

    asked = {"model": model, "stream": True, "messages": [{"role": "user", "content": "What is a mote?"}]}
    target, body = (shlex.quote(word) for word in (f"{url}/chat/completions", jsontext.dumps(asked)))
    return f'curl -N {target} -H "Authorization: Bearer {key}" -H "Content-Type: application/json" -d {body}'
