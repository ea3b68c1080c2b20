"""`motes capture`: a vendor's raw answer as a recording, and what has changed at the vendor since.

Asks vendors directly, with their keys from the environment. Must never write a key: not one that was sent,
not one that the vendor repeats.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motes.cli.terminal import Terminal


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "capture",
        help="record a vendor's raw answer, or tell what has changed since",
        description="Sends one small request (or --request FILE) to each model, without a gateway, and writes"
        " the raw answer as a recording for `motes replay` and the tests: response.bin, meta.json with the"
        " time and size of every read, request.json and expected.json; keys are masked. With --against, the"
        " request of every recording below DIR is sent again and the shape of the answers compared: events,"
        " members and their types, order, finish words, place of usage. Exit 0: nothing changed, 1: something"
        " did, or could not be asked.",
    )
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="VENDOR/MODEL",
        help="ask this model; may be given several times. With --against: only its recordings",
    )
    parser.add_argument("-o", "--out", metavar="DIR", help="write recordings below this folder")
    parser.add_argument("--request", metavar="FILE", help="an OpenAI chat request (JSON) to send instead")
    parser.add_argument("--against", metavar="DIR", help="compare with the recordings below this folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Record, or compare. 1 where something failed or changed, 2 for a command that cannot be meant."""
    import asyncio
    import os
    from pathlib import Path

    from motes.cli.recapture import compare, record
    from motes.cli.terminal import Terminal
    from motes.errors import MotesError
    from motes.settings import load_settings

    terminal = Terminal()
    if args.out is None and args.against is None:
        return _meant_otherwise(terminal, "give -o DIR to record, or --against DIR to compare")
    if args.against is None and not args.model:
        return _meant_otherwise(terminal, "give -m VENDOR/MODEL, once or more")
    try:
        settings = load_settings(os.environ, Path.cwd())
        work = record if args.against is None else compare
        return asyncio.run(work(args, settings, os.environ, terminal))
    except MotesError as error:
        for line in error.message.splitlines():
            terminal.error(line)
    except OSError as error:
        terminal.error(f"{error.filename or 'the recording'}: {error.strerror or error}")
    return 1


def _meant_otherwise(terminal: "Terminal", cure: str) -> int:
    terminal.error(cure)
    return 2
