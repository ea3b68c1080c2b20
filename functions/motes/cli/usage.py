"""`motes usage`: what the runs of this machine's gateway, or of the table's, used and cost.

Must never show more of a caller than his key's id and his own label.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motes.cli.terminal import Terminal
    from motes.store.usage_report import Report


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser("usage", help="what runs used and cost")
    parser.add_argument(
        "--by",
        default="model",
        metavar="NAMES",
        help="key, vendor, model, day, finish, source or context, or several with commas between (model)",
    )
    parser.add_argument("--since", metavar="TIME", help="a date, an ISO time, or 7d or 24h ago (30d)")
    parser.add_argument("--until", metavar="TIME", help="likewise; a date is that whole day (now)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated values, all columns")
    form.add_argument("--json", action="store_true", help="one JSON object, as the operators' API has it")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do what was asked. 1 where the settings are wrong or the store fails, 2 where the question is."""
    import asyncio
    import os
    import time
    from pathlib import Path

    from motes.aws import AWS
    from motes.cli.terminal import Terminal
    from motes.errors import InvalidRequest, PrepareError, StoreError
    from motes.settings import load_settings
    from motes.store.opening import open_stores
    from motes.store.usage_report import dimensions, period, report

    terminal = Terminal()
    try:
        by = dimensions(args.by)
        since, until = period(args.since, args.until, time.time())
        store = open_stores(load_settings(os.environ, Path.cwd()), AWS()).usage
        made = asyncio.run(report(store, since=since, until=until, by=by))
    except InvalidRequest as error:
        terminal.error(f"--{error.message}")
        return 2
    except (PrepareError, StoreError) as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1
    _show(args, made, terminal)
    return 0


def _show(args: argparse.Namespace, made: "Report", terminal: "Terminal") -> None:
    if args.json:
        from motes import jsontext

        terminal.line(jsontext.dumps(made.json()))
    elif args.csv:
        _show_csv(made, terminal)
    elif made.total.runs:
        _show_table(made, terminal)
    else:
        terminal.word("no run ended in that time")


def _show_csv(made: "Report", terminal: "Terminal") -> None:
    import csv
    import io

    from motes.store.usage_report import COLUMNS

    text = io.StringIO()
    writer = csv.DictWriter(text, (*made.by, *COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(made.rows())
    terminal.line(text.getvalue().rstrip("\n"))


def _show_table(made: "Report", terminal: "Terminal") -> None:
    """What fits into a terminal; a star marks a cost of which a part is estimated."""
    head = [*made.by, "runs", "in", "cached", "out", "USD"]
    rows = [[*(_printed(row[name]) for name in made.by), *_figures(row)] for row in made.rows()]
    if len(rows) > 1:
        rows.append(["total", *("" for _ in made.by[1:]), *_figures(made.json()["total"])])
    widths = [max(len(line[at]) for line in (head, *rows)) for at in range(len(head))]
    for line in (head, *rows):
        names = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)][: len(made.by)]
        figures = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)][len(made.by) :]
        terminal.line("  ".join([*names, *figures]).rstrip())
    total = made.total
    if total.partial + total.estimated:
        terminal.word(f"* {total.partial + total.estimated} of {total.runs} runs are estimated, or in part")
    if total.unpriced:
        terminal.word(f"{total.unpriced} runs have no price: set one under [prices] in motes.toml")


def _figures(row: dict[str, object]) -> list[str]:
    star = "*" if row["partial"] or row["estimated"] else " "
    counts = [f"{row[name]:,}" for name in ("runs", "tokens_in", "tokens_cached", "tokens_out")]
    return [*counts, f"{row['cost']:.4f}{star}"]


def _printed(name: object) -> str:
    """A name as one piece of one line: what a terminal would obey is written as its escape."""
    text = str(name)
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)
