"""A conversation as turns of blocks: the skeleton that Claude's own protocol and Converse share.

System apart, roles in turn, calls with their results directly behind them, ids unique and of the allowed
characters, and only signed reasoning goes back. A house says what its blocks are called. Must never send an
empty turn, and never raise for arguments that are no JSON.
"""

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Literal

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    ToolCallItem,
    ToolMessage,
    UserMessage,
)
from motes.own_names import OwnNames

Block = dict[str, Any]
Kind = Literal["text", "mark", "reasoning", "call", "result", "other"]
"""What a block is; `mark` is a cache mark that is a block of its own."""

NO_TEXT: Final = "[no text]"
GO_ON: Final = "Continue."
_UNSIGNED: Final = "earlier reasoning without a signature of this vendor was left out"


class CallIds:
    """The ids of calls: of allowed characters, and no two alike, for callers count anew in every turn."""

    def __init__(self, forbidden: re.Pattern[str], longest: int | None = None) -> None:
        self._forbidden = forbidden
        self._longest = longest
        self._names = OwnNames()
        self._open: dict[str, deque[str]] = {}

    def of_call(self, call_id: str) -> str:
        """The id of a new call."""
        base = self._allowed(call_id) or "call"
        stem = base if self._longest is None else base[: self._longest - 6]
        made = self._names.take(base, lambda n: f"{stem}_{n}")
        self._open.setdefault(call_id, deque()).append(made)
        return made

    def of_result(self, call_id: str) -> str:
        """The id of the call that a result answers: the first of that name that has none yet."""
        waiting = self._open.get(call_id)
        return waiting.popleft() if waiting else self._allowed(call_id)

    def _allowed(self, call_id: str) -> str:
        return self._forbidden.sub("_", call_id)[: self._longest]


class BlockTurns(ABC):
    """A conversation under construction."""

    def __init__(self, notes: list[str], ids: CallIds, *, reasons: bool) -> None:
        self.system: list[Block] = []
        self.messages: list[dict[str, Any]] = []
        self._notes = notes
        self._ids = ids
        self._reasons = reasons

    def add_all(self, messages: Sequence[Message]) -> None:
        """Every message of a caller, mended where vendors are strict."""
        normal, notes = history.normalise(messages)
        self._notes += notes
        for message in normal:
            self._add(message)
        self._finish()

    @property
    def replays(self) -> bool:
        """Whether signed reasoning goes back."""
        for message in self.messages:
            if message["role"] == "assistant" and self._has(message, "reasoning"):
                return True
        return False

    @property
    def bare_loop(self) -> bool:
        """Whether the last turn answers calls of a turn that does not begin with its reasoning."""
        if len(self.messages) < 2 or not self._has(self.messages[-1], "result"):
            return False
        return self._kind(self.messages[-2]["content"][0]) != "reasoning"

    def end_with_user(self) -> None:
        """Append a turn of the user where the assistant has the last word in text."""
        if self.messages[-1]["role"] == "assistant" and not self._has(self.messages[-1], "call"):
            self._notes.append("a last user turn was added: this model does not go on from a begun answer")
            self._append("user", self._text(GO_ON))

    # What a house says.

    @abstractmethod
    def _kind(self, block: Block) -> Kind: ...

    @abstractmethod
    def _text(self, text: str) -> list[Block]:
        """A text block, or none where there is nothing to read."""

    @abstractmethod
    def _blocks(self, content: Content) -> list[Block]:
        """The blocks of a message's content, in order."""

    @abstractmethod
    def _marked(self, blocks: list[Block], mark: Any) -> list[Block]:
        """The blocks, with the cache mark of their whole message."""

    @abstractmethod
    def _signed(self, detail: dict[str, Any]) -> Block | None:
        """A reasoning detail as the block it was, or None where nobody here signed it or it is not whole."""

    @abstractmethod
    def _use(self, call_id: str, name: str, arguments: dict[str, Any]) -> Block:
        """The block of a call."""

    @abstractmethod
    def _result(self, message: ToolMessage) -> list[Block]:
        """The block of a result, and what belongs to it."""

    @abstractmethod
    def _on_system(self, message: SystemMessage, mark: Any) -> None: ...

    @abstractmethod
    def _finish(self) -> None:
        """All messages were added: what stands where."""

    # How it is done.

    def _add(self, message: Message) -> None:
        extra = message.model_extra
        mark = extra.get("cache_control") if extra else None
        if message.name and not isinstance(message, ToolMessage):
            self._notes.append("names of participants were left out")
        match message:
            case SystemMessage():
                self._on_system(message, mark)
            case UserMessage():
                self._append("user", self._blocks(message.content), mark)
            case AssistantMessage():
                self._on_assistant(message, mark)
            case ToolMessage():
                self._append("user", self._result(message), mark)

    def _on_assistant(self, message: AssistantMessage, mark: Any) -> None:
        blocks = self._blocks(message.content) or self._text(message.refusal or "")
        texts = [block for block in blocks if self._kind(block) in ("text", "mark")]
        others = [block for block in blocks if self._kind(block) not in ("text", "mark")]
        calls = [self._call(call) for call in message.tool_calls or []]
        # A turn may not end in reasoning: with nothing behind it, it is blank.
        reasoning = self._reasoning(message) if texts or calls else []
        self._append("assistant", [*reasoning, *texts, *calls], mark)
        if message.audio:
            self._notes.append("the assistant's earlier audio was left out")
        if others:
            self._notes.append("images of the assistant were moved to the user turn behind it")
            self._append("user", others)

    def _append(self, role: str, blocks: list[Block], mark: Any = None) -> None:
        if not blocks:
            self._notes.append(f"a blank {role} turn was left out")
            return
        blocks = self._marked(blocks, mark)
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"] += blocks
        else:
            self.messages.append({"role": role, "content": blocks})

    def _reasoning(self, message: AssistantMessage) -> list[Block]:
        """The signed blocks, in order. Any other is refused, so it stays here."""
        blocks: list[Block] = []
        for detail in message.reasoning_details or []:
            block = self._signed(detail) if self._reasons else None
            if block is None:
                self._notes.append(_UNSIGNED)
            else:
                blocks.append(block)
        if not message.reasoning_details and (message.reasoning_content or message.reasoning):
            self._notes.append(_UNSIGNED)
        return blocks

    def _call(self, call: ToolCallItem) -> Block:
        arguments = jsontext.as_object(call.arguments) if call.arguments.strip() else {}
        if call.custom is not None:
            arguments = {"input": call.custom.input}
        if arguments is None:
            self._notes.append(f"arguments of a call of {call.name[:60]!r} are no JSON object: sent as {{}}")
        return self._use(self._ids.of_call(call.id), call.name, arguments or {})

    def _begin_with_user(self) -> None:
        """Put a turn of the user before all others."""
        self._notes.append("a first user turn was added: the conversation began without one")
        self.messages.insert(0, {"role": "user", "content": self._text(NO_TEXT)})

    def _trim_begun_answer(self) -> None:
        """A begun answer that ends in white space is refused."""
        last = self.messages[-1]
        if last["role"] == "assistant" and self._kind(last["content"][-1]) == "text":
            last["content"][-1]["text"] = last["content"][-1]["text"].rstrip()

    def _has(self, message: dict[str, Any], kind: Kind) -> bool:
        return kind in map(self._kind, message["content"])
