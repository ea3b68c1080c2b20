"""`motes keys`: the callers' keys of this machine's gateway, or of the table that `MOTES_TABLE` names.

Must never show a key but once, to who makes it.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motes.callers import KeyRing
    from motes.cli.terminal import Terminal


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser("keys", help="make, list and disable API keys")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    new = actions.add_parser("new", help="make a key and show it once")
    new.add_argument("name", nargs="?", default=None, metavar="NAME", help="a name to know it by")
    new.add_argument("--name", dest="named", default="unnamed", metavar="NAME", help="the same")
    new.add_argument(
        "--set",
        dest="choices",
        action="append",
        default=[],
        metavar="CHOICE=WORD",
        help="what every answer to this key is like, such as reasoning_field=reasoning; may be repeated",
    )
    actions.add_parser("list", help="list the keys, without their secrets")
    disable = actions.add_parser("disable", help="refuse a key from now on")
    disable.add_argument("key", metavar="ID", help="the key's id or name")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do what was asked. 1 where the settings are wrong, the store fails, or no key is meant."""
    import asyncio
    import os
    from pathlib import Path

    from motes.aws import AWS
    from motes.callers import open_keys
    from motes.cli.terminal import Terminal
    from motes.errors import PrepareError, StoreError
    from motes.settings import load_settings
    from motes.store.opening import open_stores

    terminal = Terminal()
    try:
        settings = load_settings(os.environ, Path.cwd())
        keys = open_keys(settings, os.environ, open_stores(settings, AWS()))
        return asyncio.run(_act(args, keys, terminal))
    except (PrepareError, StoreError) as error:
        for line in error.message.splitlines():
            terminal.error(line)
        return 1


async def _act(args: argparse.Namespace, keys: "KeyRing", terminal: "Terminal") -> int:
    if args.action == "new":
        choices = _choices(args.choices, terminal)
        if choices is None:
            return 1
        key, secret = await keys.new(args.name or args.named, choices)
        terminal.word(f"key {key.id} ({_printed(key.name)}): shown this once, only its hash is kept")
        terminal.line(secret)
        return 0
    if args.action == "disable":
        return await _disable(args.key, keys, terminal)
    known = await keys.list()
    for key in known:
        state = "disabled" if key.disabled else "enabled"
        chosen = "".join(f"\t{_printed(f'{name}={word}')}" for name, word in key.choices.items())
        terminal.line(f"{key.id}\t{state}\t{key.created or '-'}\t{_printed(key.name)}{chosen}")
    if not known:
        terminal.word("there are no keys: `motes keys new` makes one, and so does the first `motes serve`")
    return 0


def _choices(given: list[str], terminal: "Terminal") -> dict[str, str] | None:
    """The choices by name, or None where one is none, which is told."""
    from motes.api.choices import TABLE, checked
    from motes.errors import InvalidRequest

    pairs = [pair.partition("=") for pair in given]
    for name, mark, _ in pairs:
        if not mark:
            terminal.error(f"--set {name}: write CHOICE=WORD; the choices are {', '.join(TABLE)}")
            return None
    try:
        return checked({name.strip(): word.strip() for name, _, word in pairs})
    except InvalidRequest as error:
        terminal.error(f"--set: {error.message}")
        return None


def _printed(name: str) -> str:
    """A name as one piece of one line: what a terminal would obey is written as its escape."""
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in name)


async def _disable(id: str, keys: "KeyRing", terminal: "Terminal") -> int:
    from motes.callers import ENVIRONMENT_KEY

    if await keys.disable(id):
        return 0
    if any(key.id == ENVIRONMENT_KEY and key.is_called(id) for key in await keys.list()):
        terminal.error("that key is no stored one: it opens the gateway for as long as MOTES_API_KEY is set")
    else:
        terminal.error(f"there is no key {id!r}: see `motes keys list`")
    return 1
