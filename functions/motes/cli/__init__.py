"""The command `motes`: one module a command, each loaded in full only when it is the one that runs.

Must never import a room of the gateway at the top: `motes --help` answers at once. A command module offers
`add_to(commands)`, which declares its options and names its `run(args) -> exit status`.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from motes import __version__

COMMANDS: Final = (
    "demo",
    "serve",
    "chat",
    "keys",
    "runs",
    "usage",
    "capture",
    "replay",
    "explain",
    "check",
    "cleanup",
)
_INTERRUPTED: Final = 130
_AWS_PACKAGES: Final = frozenset({"aws_lambda_powertools", "boto3", "botocore", "fastapi", "mangum"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Gives the exit status; 2 is a command line that cannot be meant."""
    words = sys.argv[1:] if argv is None else argv
    # Of the other commands nothing is loaded, unless they are to be told about.
    known = words[:1] if words and words[0] in COMMANDS else COMMANDS
    parser = _parser(known)
    args = parser.parse_args(words)
    run = getattr(args, "run", None)
    if run is None:
        parser.print_help()
        return 2

    from motes.cli.terminal import OutputLost, Terminal

    try:
        return int(run(args))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        package = (error.name or __package__).partition(".")[0]
        if package == "motes":
            raise
        extra = "aws" if package in _AWS_PACKAGES else "gateway"
        Terminal().error(f"this needs {package}, which is not installed: pip install 'motes[{extra}]'")
        return 1
    except OutputLost as lost:
        # Python must not try to flush again what could not be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(lost.__cause__, BrokenPipeError):
            Terminal().error(f"cannot write to standard output: {getattr(lost.__cause__, 'strerror', '')}")
        # A reader that has gone (`motes replay … | head`) wants to hear no more.
        return 1


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="motes", description="One stream of small messages out of every language-model vendor's own."
    )
    parser.add_argument("--version", action="version", version=f"motes {__version__}")
    # Told `prog`, argparse does not load what it would measure the terminal with to find it out.
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="motes")
    for name in names:
        import_module(f"motes.cli.{name}").add_to(commands)
    return parser
