"""`motes explain`: the upstream request an OpenAI chat request becomes. Sends nothing, needs no key.

Must never show a secret: the real key is not even read, and what else looks like one is masked.
"""

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from motes.dispatch import Dispatch
    from motes.vendors.catalogue import Catalogue

_REFUSED: Final = 2


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
        shown = _shown(sys.stdin.buffer.read(), args.model, args.trait)
    except MotesError as error:
        status, shown = _REFUSED, refusal(error)
    terminal = Terminal()
    terminal.data(jsontext.dump_bytes(shown) + b"\n")
    terminal.flush()
    return status


def shown_request(dispatch: "Dispatch") -> dict[str, Any]:
    """What would be sent, with nothing secret in it; of the headers, all but those of the connection."""
    from datetime import UTC, datetime

    from motes import jsontext
    from motes.cli.redaction import is_secret, masked_url
    from motes.dispatch import OWN_HEADERS
    from motes.secrecy import MASK

    request = dispatch.sign(dispatch.request, datetime.now(UTC))
    # What is made when a request is sent differs each time.
    made = request.headers.keys() - dispatch.request.headers.keys()
    headers = {**OWN_HEADERS, **request.headers}
    return {
        "method": request.method,
        "url": masked_url(request.url),
        "headers": {
            name: MASK if name in made or is_secret(name) else value for name, value in headers.items()
        },
        "body": jsontext.loads(request.body),
        "warnings": list(dispatch.warnings),
    }


def refusal(error: Any) -> dict[str, Any]:
    """A refusal in OpenAI's error shape, as the gateway answers it."""
    kind = "invalid_request_error" if error.status_hint < 500 else "server_error"
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}


def _shown(body: bytes, model: str | None, traits: list[str]) -> dict[str, Any]:
    """The request a body becomes. A vendor that cannot be asked from here stands at a host that says so."""
    from motes import dispatch
    from motes.cli.absent import absence, placed
    from motes.dialects.base import NO_TRAITS, Traits
    from motes.intake import parse_request
    from motes.secrecy import MASK
    from motes.vendors.catalogue import speaking

    request = parse_request(body)
    route = _catalogue().find(model or request.model)
    known = Traits(reasoning=True) if "reasoning-model" in traits else NO_TRAITS
    vendor = speaking(placed(route.vendor), request.motes.dialect, route.model)
    secret = f"{MASK}:{MASK}" if vendor.auth.kind == "sigv4" else MASK
    shown = shown_request(dispatch.generate(request, vendor, route.model, secret=secret, traits=known))
    missing = absence(route.vendor)
    told = [] if missing is None else [f"vendor {vendor.id!r} {missing}"]
    return shown | {"warnings": [*told, *shown["warnings"]]}


def _catalogue() -> "Catalogue":
    import os
    from pathlib import Path

    from motes.cli.absent import whole_catalogue
    from motes.settings import load_settings

    return whole_catalogue(load_settings(os.environ, Path.cwd()))
