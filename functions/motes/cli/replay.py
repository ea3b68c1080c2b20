"""`motes replay`: recorded upstream bytes in; messages, particles or OpenAI's forms out. No network.

One result a recording, in the order given, also for one that cannot be read. Must never stop at a bad
recording, and exits 0 only if all could be read.
"""

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motes.cli.rows import Run
    from motes.cli.terminal import Terminal


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        help="read recorded upstream answers, without network",
        description="Feeds recorded upstream bytes through demuxer, parser and transmitter, without network."
        " A recording is a folder with response.bin and meta.json, or a bare file of body bytes.",
    )
    parser.add_argument(
        "--vendor", metavar="V", help="lend this vendor's quirks (and dialect, if none is told)"
    )
    parser.add_argument("--dialect", metavar="D", help="read by this dialect")
    parser.add_argument(
        "--as",
        dest="form",
        choices=("message", "particles", "openai", "openai-json"),
        default="message",
        help="what to print (default: message, one JSON line a recording)",
    )
    parser.add_argument("--chunk", type=_positive, metavar="N", help="feed reads of N bytes")
    parser.add_argument(
        "--cut", type=_natural, metavar="N", help="stop after N bytes, as a closed connection"
    )
    parser.add_argument("recordings", nargs="+", metavar="RECORDING")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every recording in the form asked for."""
    from motes.cli.recording import Unreadable
    from motes.cli.rows import FORMS
    from motes.cli.terminal import OutputLost, Terminal

    terminal = Terminal()
    form = FORMS[args.form]
    status = 0
    for path in args.recordings:
        # As it was given, byte for byte: the locale may not know how to read it.
        name = os.fsencode(path).decode("utf-8", "replace")
        try:
            terminal.data(form.of(_run_of(path, name, args, terminal)))
        except Unreadable as error:
            terminal.error(f"{name}: {error}")
            terminal.data(form.unreadable(name, str(error)))
            status = 1
        except OutputLost:
            raise
        except Exception as bug:
            # The boundary: one recording that nobody thought of does not stop the others.
            reason = f"it cannot be read ({type(bug).__name__})"
            terminal.error(f"{name}: {reason}")
            terminal.data(form.unreadable(name, reason))
            status = 1
    terminal.flush()
    return status


def _run_of(path: str, name: str, args: argparse.Namespace, terminal: "Terminal") -> "Run":
    from motes.cli.playback import play
    from motes.cli.reading import reading_of
    from motes.cli.recording import load
    from motes.cli.rows import Run

    has_options = args.dialect is not None or args.vendor is not None
    recording = load(path, terminal.word if has_options else None)
    reading = reading_of(recording, args.vendor, args.dialect, terminal.word)
    return Run(
        path=name,
        vendor=args.vendor or recording.vendor or reading.dialect.name,
        model=recording.model or "unknown",
        dialect=reading.dialect.name,
        particles=play(recording, reading, recording.pieces(args.chunk, args.cut)),
    )


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value
