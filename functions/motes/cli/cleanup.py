"""`motes cleanup`: one round of cleaning up on this machine, or in the table that `MOTES_TABLE` names.

Must never change anything where only a look was asked for.
"""

import argparse
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from motes.cli.terminal import Terminal
    from motes.hosts.upkeep import Upkeep

_SHOWN: Final = 1000


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "cleanup",
        help="delete what is left at vendors of runs whose time is over",
        description="Marks runs as abandoned whose process is gone, has vendors delete the copies of runs"
        " whose time is over, and removes their journals.",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--retry-parked", action="store_true", help="also try again what was given up on, after it was mended"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it. 1 where the settings are wrong, the store fails, or something could not be cleaned up."""
    import asyncio
    import os
    from pathlib import Path

    from motes.cli.terminal import Terminal
    from motes.errors import PrepareError, StoreError
    from motes.hosts.log import log_to_stderr
    from motes.hosts.upkeep import Upkeep
    from motes.settings import load_settings

    terminal = Terminal()
    try:
        upkeep = Upkeep(load_settings(os.environ, Path.cwd()), os.environ)
        if args.dry_run:
            return asyncio.run(_preview(upkeep, terminal))
        log_to_stderr()
        return asyncio.run(_clean(upkeep, terminal, retries_parked=args.retry_parked))
    except (PrepareError, StoreError) as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1


async def _clean(upkeep: "Upkeep", terminal: "Terminal", *, retries_parked: bool) -> int:
    if retries_parked:
        terminal.word(f"{await upkeep.unpark()} runs that were given up on are tried again")
    counts = (await upkeep.round(lambda: True)).counts()
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if name != "is_done" and count)
    terminal.line(told or "nothing was due")
    return 0 if counts["is_done"] and not counts["parked"] else 1


async def _preview(upkeep: "Upkeep", terminal: "Terminal") -> int:
    import time

    from motes.cleaning import intended

    due = await upkeep.due(_SHOWN)
    now = time.time()
    for run in due:
        late = round(now - (run.due_at or now))
        done = ", ".join(intended(run, now))
        terminal.line(f"{run.id}\t{run.vendor}/{run.model}\t{run.state}\tdue for {late} s\t{done}")
    if not due:
        terminal.word("nothing is due")
    elif len(due) == _SHOWN:
        terminal.word(f"only the first {_SHOWN} are shown")
    return 0
