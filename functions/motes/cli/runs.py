"""`motes runs`: what runs there are, what one says, and its end.

With a gateway's address the caller's own, else those of this machine's store (or of the table that
`MOTES_TABLE` names), everybody's. Must never print what a terminal would obey.
"""

import argparse
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from motes.cli.run_sources import RunSource
    from motes.cli.terminal import Terminal

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * 3600
_HEAD: Final = ("run", "state", "model", "began", "took", "pieces", "can be joined")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "runs",
        help="list, follow, cancel and delete runs",
        description="Runs of this machine's store, or with --url those of your key at that gateway"
        " (MOTES_BASE_URL, MOTES_API_KEY).",
    )
    parser.add_argument("--url", help="a gateway's base URL, with /v1")
    parser.add_argument("--json", action="store_true", help="JSON, one run or particle a line")
    # Both are understood behind the action too.
    again = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    again.add_argument("--url", help="a gateway's base URL, with /v1")
    again.add_argument("--json", action="store_true", help="JSON, one run or particle a line")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the newest runs", parents=[again])
    listing.add_argument("--limit", type=int, default=20, help="how many at most (default: %(default)s)")
    for name, words in (
        ("show", "what is known of one"),
        ("cancel", "stop one; what came is kept"),
        ("delete", "remove one, at its vendor too"),
    ):
        actions.add_parser(name, help=words, parents=[again]).add_argument("id", metavar="ID")
    follow = actions.add_parser("follow", help="print what one says, to its end", parents=[again])
    follow.add_argument("id", metavar="ID")
    follow.add_argument("--after", type=int, default=0, metavar="N", help="begin behind particle N")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do what was asked. 1 where it cannot be done."""
    import asyncio
    import os

    from motes.cli.run_sources import run_source
    from motes.cli.terminal import Terminal
    from motes.errors import MotesError

    terminal = Terminal()

    async def act() -> int:
        url = args.url or os.environ.get("MOTES_BASE_URL")
        async with run_source(url, os.environ.get("MOTES_API_KEY"), os.environ) as source:
            return await _act(args, source, terminal)

    try:
        return asyncio.run(act())
    except MotesError as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1


async def _act(args: argparse.Namespace, source: "RunSource", terminal: "Terminal") -> int:
    match args.action:
        case "list":
            return _list(await source.list(args.limit), terminal, as_json=args.json)
        case "show":
            return _show(await source.show(args.id), terminal, as_json=args.json)
        case "cancel":
            return _show(await source.cancel(args.id), terminal, as_json=args.json)
        case "delete":
            return await _delete(args.id, source, terminal)
    return await _follow(args, source, terminal)


def _list(runs: list[dict[str, Any]], terminal: "Terminal", *, as_json: bool) -> int:
    import time

    if as_json:
        _dump(runs, terminal)
        return 0
    if not runs:
        terminal.word(
            "there are no runs to be joined or stopped: ask for `motes.resumable` or `motes.background`"
        )
        return 0
    rows = [_HEAD, *(_row(run, time.time()) for run in runs)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    for row in rows:
        terminal.line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _row(run: dict[str, Any], now: float) -> tuple[str, ...]:
    ended = run.get("ended_at")
    state = run.get("outcome") or ("cancelling" if run["cancelled"] else run["state"])
    return (
        run["id"],
        state,
        _printed(f"{run['vendor']}/{run['model']}"),
        f"{_span(now - run['created_at'])} ago",
        _span((now if ended is None else ended) - run["created_at"]),
        str(run["last_seq"]),
        "yes" if "resume" in run else "no",
    )


def _span(seconds: float) -> str:
    """A time in two figures' worth of words."""
    if seconds < _MINUTE:
        return f"{max(0, round(seconds))} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.0f} h" if seconds < 2 * _DAY else f"{seconds / _DAY:.0f} days"


def _show(run: dict[str, Any], terminal: "Terminal", *, as_json: bool) -> int:
    if as_json:
        _dump([run], terminal)
        return 0
    for name, value in run.items():
        if isinstance(value, dict):
            for inner, word in value.items():
                terminal.line(f"{name + ' ' + inner:<18}{_printed(str(word))}")
        else:
            terminal.line(f"{name:<18}{_printed(_told(name, value))}")
    return 0


def _told(name: str, value: object) -> str:
    """A value as a person reads it: a point in time as a date, whether as yes or no."""
    from datetime import UTC, datetime

    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_at") and isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
    return str(value)


async def _delete(id: str, source: "RunSource", terminal: "Terminal") -> int:
    if await source.delete(id):
        terminal.word(f"run {id} is gone")
        return 0
    terminal.error(f"the vendor's copy of run {id} could not be deleted yet: cleaning up tries again")
    return 1


async def _follow(args: argparse.Namespace, source: "RunSource", terminal: "Terminal") -> int:
    """The answer to standard output, or every particle; 1 where the run did not come to a good end."""
    from contextlib import aclosing

    from motes import particles as p
    from motes.codec import to_wire

    completed = False
    async with aclosing(source.follow(args.id, args.after)) as particles:
        async for particle in particles:
            if args.json and not isinstance(particle, p.Heartbeat):
                _dump([to_wire(particle)], terminal)
            elif isinstance(particle, p.Text):
                terminal.piece(particle.text)
                terminal.flush()
            elif isinstance(particle, p.Issue):
                terminal.error(particle.text)
            if isinstance(particle, p.End):
                completed = particle.stop is not None
    if not args.json:
        terminal.line()
    return 0 if completed else 1


def _dump(values: list[dict[str, Any]], terminal: "Terminal") -> None:
    from motes import jsontext

    for value in values:
        terminal.line(jsontext.dumps(value))


def _printed(text: str) -> str:
    """One piece of one line: what a terminal would obey is written as its escape."""
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)
