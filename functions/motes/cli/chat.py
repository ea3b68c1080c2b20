"""`motes chat`: talk to one model, or to several side by side, in the terminal or through a pipe.

Must never need a key where the demo vendor is asked, nor show one.
"""

import argparse


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "chat",
        help="talk to a model, or to several side by side",
        description="Asks a gateway where --url or MOTES_BASE_URL names one (with the key in MOTES_API_KEY),"
        " else the vendors directly, with their keys from the environment and motes.toml. Without -m it asks"
        " default_model, or demo/hello, which needs no key. With a prompt, or where standard input is no"
        " terminal, it answers once: the answer on standard output, everything else on standard error; exit"
        " 1 if an answer failed, 130 if it was interrupted. Otherwise it goes on talking: Ctrl-C ends an"
        " answer and keeps what came, Ctrl-C or Ctrl-D at the prompt leaves.",
    )
    parser.add_argument("prompt", nargs="*", help="what to say; - stands for standard input")
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="VENDOR/MODEL",
        help="ask this model; several times: all of them at once, side by side",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--url", metavar="URL", help="ask the gateway there (default: MOTES_BASE_URL)")
    where.add_argument("--direct", action="store_true", help="ask the vendors, whatever MOTES_BASE_URL says")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", dest="form", action="store_const", const="particles", help="one JSON line a particle"
    )
    form.add_argument(
        "--json-message", dest="form", action="store_const", const="message", help="one JSON line a message"
    )
    parser.add_argument(
        "--resume", metavar="RUN", help="read a run that the gateway keeps, from its beginning"
    )
    parser.add_argument("--resumable", action="store_true", help="have the gateway keep the runs")
    parser.add_argument(
        "--request",
        metavar="FILE",
        help="a chat request (JSON) to begin from: system text, tools, parameters",
    )
    parser.add_argument("--reasoning", action="store_true", help="show all reasoning, not a line of it")
    parser.add_argument("--transcript", metavar="FILE", help="add what is said to this file, as Markdown")
    parser.add_argument("--save", default=".", metavar="DIR", help="where pictures and files go (default: .)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Talk. 1 where something failed, 2 for a command that cannot be meant."""
    from motes.cli.chatting import chat
    from motes.cli.terminal import Terminal
    from motes.errors import MotesError

    terminal = Terminal()
    try:
        return chat(args, terminal)
    except MotesError as error:
        for line in error.message.splitlines():
            terminal.error(line)
    except OSError as error:
        terminal.error(f"{error.filename or 'chat'}: {error.strerror or error}")
    return 1
