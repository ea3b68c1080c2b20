"""`motes demo`: a gateway and a demo vendor on free loopback ports, and one answer in each dialect.

What is printed comes from a client that parsed the gateway's stream over a real socket. Must never touch
the user's own settings, keys or state, and leaves nothing running.
"""

import argparse


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="see it work: a gateway, a demo vendor, and one answer in each dialect",
        description="Starts a gateway and a demo vendor on free ports of this machine and streams one answer"
        " in each dialect to the terminal. Needs no key and no network.",
    )
    parser.add_argument("question", nargs="?", default="What is a mote?", help="default: %(default)s")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Stream the answers; 1 if anything did not come."""
    from motes.cli.rehearsal import rehearse
    from motes.cli.terminal import Terminal

    return rehearse(args.question, Terminal())
