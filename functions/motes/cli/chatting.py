"""A chat: where to ask, what to say, and turns until the user leaves.

The prompt is read between two runs of the event loop, and an interrupt ends the run that is on. Must never
lose what came of an answer that was interrupted.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from motes import jsontext
from motes.cli.conversation import Conversation, Manner, Outcome
from motes.cli.terminal import Terminal
from motes.cli.transcript import Transcript
from motes.cli.views import MessageView, ParticleView, TextView, View
from motes.client import AsyncClient
from motes.errors import InvalidRequest
from motes.intake import parse_request

DEMO_MODEL: Final = "demo/hello"
_PROMPT: Final = "you> "
_INTERRUPTED: Final = 130
_STATUS: Final[Mapping[Outcome, int]] = {"completed": 0, "failed": 1, "interrupted": _INTERRUPTED}


def chat(args: argparse.Namespace, terminal: Terminal) -> int:
    """Answer once, or go on talking. Raises MotesError or OSError."""
    url = None if args.direct else args.url or os.environ.get("MOTES_BASE_URL")
    if args.resume and url is None:
        raise InvalidRequest("--resume needs the gateway that keeps the run: give --url, or MOTES_BASE_URL")
    base = _base(args.request)
    question = None if args.resume else _question(args.prompt)
    transcript = Transcript(Path(args.transcript)) if args.transcript else None
    manner = Manner(
        view=_view(args, terminal),
        word=terminal.word,
        directory=Path(args.save),
        transcript=transcript,
        is_resumable=args.resumable,
    )
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            client, models = runner.run(stack.enter_async_context(_client(args, url)))
            talk = Conversation(client, models, base, manner)
            if args.resume:
                return _STATUS[runner.run(talk.resume(args.resume))]
            if question is not None:
                return _STATUS[runner.run(talk.ask(question))]
            where = url or "the vendors directly"
            names = ", ".join(name or "the gateway's default model" for name in models)
            terminal.line(f"{names}; asks {where}. Ctrl-C ends an answer, and leaves at the prompt.", "dim")
            return _converse(talk, runner, terminal)
        finally:
            runner.run(stack.aclose())


def _converse(talk: Conversation, runner: "asyncio.Runner", terminal: Terminal) -> int:
    with suppress(ImportError):
        # Lines can be edited, and earlier ones had again.
        import readline  # noqa: F401
    while True:
        try:
            question = input(_PROMPT).strip()
        except (EOFError, KeyboardInterrupt):
            terminal.line()
            return 0
        if question:
            runner.run(talk.ask(question))


@asynccontextmanager
async def _client(
    args: argparse.Namespace, url: str | None
) -> AsyncIterator[tuple[AsyncClient, list[str | None]]]:
    """Who is asked, and which models; a gateway may have a default one."""
    if url is not None:
        async with AsyncClient(url) as client:
            yield client, list(args.model) or [None]
        return
    from motes.cli.reach import demo_vendors
    from motes.client.direct import DirectDesk
    from motes.settings import load_settings

    settings = load_settings(os.environ, Path.cwd())
    models = list(args.model) or [settings.default_model or DEMO_MODEL]
    async with (
        demo_vendors(settings, models) as rows,
        AsyncClient.at(DirectDesk(os.environ, rows)) as client,
    ):
        yield client, models


def _view(args: argparse.Namespace, terminal: Terminal) -> View:
    if args.form == "particles":
        return ParticleView(terminal)
    if args.form == "message":
        return MessageView(terminal)
    if terminal.console is None:
        return TextView(terminal)
    from motes.cli.live import LiveView

    return LiveView(terminal.console, unfold=args.reasoning)


def _question(words: list[str]) -> str | None:
    """What is asked once; None where there is somebody to talk to. Raises InvalidRequest."""
    if not words and _is_screen(sys.stdin) and _is_screen(sys.stdout):
        return None
    said = " ".join(_input() if word == "-" else word for word in words or ["-"]).strip()
    if not said:
        raise InvalidRequest("there is nothing to ask: give a prompt, or write one to standard input")
    return said


def _is_screen(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip() if sys.stdin is not None else ""


def _base(path: str | None) -> dict[str, Any]:
    """The request that a chat begins from. Raises InvalidRequest or OSError."""
    if path is None:
        return {}
    try:
        base = jsontext.loads(Path(path).read_bytes())
    except ValueError as error:
        raise InvalidRequest(f"{path}: is not valid JSON{jsontext.place(error)}") from None
    if not isinstance(base, dict) or not isinstance(base.get("messages", []), list):
        raise InvalidRequest(f"{path}: holds no chat request")
    base = {**base, "messages": base.get("messages", [])}
    parse_request({**base, "messages": [*base["messages"], {"role": "user", "content": "?"}]})
    return base
