"""`motes explain`: the upstream request an OpenAI chat request becomes. Sends nothing, needs no key.

Must never show a secret: the real key is not even read, and what else looks like one is masked.
"""

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from motes.dispatch import Dispatch
    from motes.vendors.catalogue import Catalogue

MASK: Final = "***"
_REFUSED: Final = 2
_SECRET_WORDS: Final = ("auth", "key", "token", "secret", "cookie", "password", "credential")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="show the upstream request that a chat request becomes, without sending it",
        description="Reads an OpenAI chat request from standard input and prints the request its vendor"
        " would get: method, url, headers (secrets as ***), body, and warnings of what was changed.",
    )
    parser.add_argument("--model", metavar="VENDOR/MODEL", help="default: the request's own")
    parser.add_argument(
        "--trait",
        action="append",
        default=[],
        choices=("reasoning-model",),
        help="what is known of the model beyond its name",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the request, or the error object of a refusal."""
    from motes import jsontext
    from motes.cli.terminal import Terminal
    from motes.errors import MotesError

    status = 0
    try:
        shown = shown_request(_dispatch(sys.stdin.buffer.read(), args.model, args.trait))
    except MotesError as error:
        status, shown = _REFUSED, refusal(error)
    terminal = Terminal()
    terminal.data(jsontext.dump_bytes(shown) + b"\n")
    terminal.flush()
    return status


def shown_request(dispatch: "Dispatch") -> dict[str, Any]:
    """What would be sent, with nothing secret in it."""
    from datetime import UTC, datetime

    from motes import jsontext

    request = dispatch.sign(dispatch.request, datetime.now(UTC))
    # What is made when a request is sent differs each time.
    made = request.headers.keys() - dispatch.request.headers.keys()
    return {
        "method": request.method,
        "url": _masked(request.url),
        "headers": {
            name: MASK if name in made or _is_secret(name) else value
            for name, value in request.headers.items()
        },
        "body": jsontext.loads(request.body),
        "warnings": list(dispatch.warnings),
    }


def refusal(error: Any) -> dict[str, Any]:
    """A refusal in OpenAI's error shape, as the gateway answers it."""
    kind = "invalid_request_error" if error.status_hint < 500 else "server_error"
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}


def _dispatch(body: bytes, model: str | None, traits: list[str]) -> "Dispatch":
    from motes import dispatch
    from motes.dialects.base import NO_TRAITS, Traits
    from motes.intake import parse_request
    from motes.vendors.catalogue import speaking

    request = parse_request(body)
    route = _catalogue().resolve(model or request.model)
    known = Traits(reasoning=True) if "reasoning-model" in traits else NO_TRAITS
    vendor = speaking(route.vendor, request.motes.dialect, route.model)
    secret = f"{MASK}:{MASK}" if vendor.auth.kind == "sigv4" else MASK
    return dispatch.generate(request, vendor, route.model, secret=secret, traits=known)


def _catalogue() -> "Catalogue":
    """Every row; one whose address must be set first stands at a host that says so."""
    import os
    from dataclasses import replace
    from pathlib import Path

    from motes.settings import load_settings
    from motes.vendors.catalogue import build_catalogue
    from motes.vendors.table import ALIASES, VENDORS

    catalogue = build_catalogue(VENDORS, ALIASES, load_settings(os.environ, Path.cwd()))
    rows = catalogue.vendors.values()
    placed = [
        row if row.base_url else replace(row, base_url=f"https://{row.id}.invalid{row.base_path or '/v1'}")
        for row in rows
    ]
    return replace(catalogue, vendors={row.id: row for row in placed})


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET_WORDS)


def _masked(url: str) -> str:
    """The URL without a password in front of its host; the key in a query is a mask already, but quoted."""
    return re.sub(r"//[^/@]*@", f"//{MASK}@", url).replace(quote(MASK, safe=""), MASK)
