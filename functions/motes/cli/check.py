"""`motes check`: what is wrong with the settings and how to mend it; with `--probe`, whether a model answers.

Must never show a key, only where it was looked for.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motes.cli.terminal import Terminal


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="name what is wrong with the settings, and how to mend it",
        description="Validates the environment and motes.toml. With --probe, sends one word to a model and"
        " reports status, time to first byte and the usage seen.",
    )
    parser.add_argument("--probe", metavar="VENDOR/MODEL", help="also send one word to this model")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what was found; 1 if anything is wrong."""
    import os
    from pathlib import Path

    from motes.cli.inspection import inspect
    from motes.cli.terminal import Terminal

    terminal = Terminal()
    found = inspect(os.environ, Path.cwd())
    for line in found.facts:
        terminal.line(line)
    for line in found.doubts:
        terminal.line(f"warning: {line}", "yellow")
    for line in found.faults:
        terminal.line(f"wrong: {line}", "bold red")
    if found.faults:
        return 1
    terminal.line("settings: nothing is wrong", "green")
    return _probe(args.probe, terminal) if args.probe else 0


def _probe(model: str, terminal: "Terminal") -> int:
    import asyncio
    import os
    from pathlib import Path

    from motes.cli.probe import probe
    from motes.errors import MotesError

    try:
        answer = asyncio.run(probe(model, os.environ, Path.cwd()))
    except MotesError as error:
        terminal.line(f"cannot be probed: {error.message}", "bold red")
        return 1
    for line in answer.lines():
        terminal.line(line)
    return 1 if answer.failure else 0
