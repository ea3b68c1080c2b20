"""The caller's messages as the Messages API wants them: system apart, roles in turn, results first.

Calls keep their results directly behind them, ids are unique and of the allowed characters, and only signed
reasoning of this dialect goes back. Must never send a blank block or an empty turn, and never raise for
arguments that are no JSON. Source: "Messages API", "Tool use" and "Extended thinking"
(platform.claude.com/docs, read 2026-11-29).
"""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallItem,
    ToolMessage,
    UserMessage,
)
from motes.dialects.anthropic_messages.parts import Block, blocks_of, text_block
from motes.own_names import OwnNames

FORMAT: Final = "anthropic-claude-v1"
"""The `format` of a reasoning detail whose signature is of this dialect."""
NO_TEXT: Final = "[no text]"
GO_ON: Final = "Continue."
_BAD_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
_REASONING: Final = ("thinking", "redacted_thinking")


class Turns:
    """A conversation under construction."""

    def __init__(self, notes: list[str], *, reasons: bool = True) -> None:
        self.system: list[Block] = []
        self.messages: list[dict[str, Any]] = []
        self._notes = notes
        self._reasons = reasons
        self._ids = OwnNames()
        self._open: dict[str, deque[str]] = {}

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
        return any(block["type"] in _REASONING for m in self.messages for block in m["content"])

    @property
    def bare_loop(self) -> bool:
        """Whether the last turn answers calls of a turn that does not begin with its reasoning."""
        if len(self.messages) < 2 or not _has(self.messages[-1], "tool_result"):
            return False
        return self.messages[-2]["content"][0]["type"] not in _REASONING

    def end_with_user(self) -> None:
        """Append a turn of the user where the assistant has the last word in text."""
        if self.messages[-1]["role"] == "assistant" and not _has(self.messages[-1], "tool_use"):
            self._notes.append("a last user turn was added: this model does not go on from a begun answer")
            self._append("user", text_block(GO_ON))

    def _add(self, message: Message) -> None:
        mark = (message.model_extra or {}).get("cache_control")
        if getattr(message, "name", None) and not isinstance(message, ToolMessage):
            self._notes.append("names of participants were left out")
        match message:
            case SystemMessage():
                self._on_system(message, mark)
            case UserMessage():
                self._append("user", blocks_of(message.content), mark)
            case AssistantMessage():
                self._on_assistant(message, mark)
            case ToolMessage():
                self._append("user", [self._result(message)], mark)

    def _on_system(self, message: SystemMessage, mark: Any) -> None:
        """System text stands apart."""
        blocks = blocks_of(message.content)
        if self.messages and blocks:
            self._notes.append("a later system message was moved to the head of the conversation")
        _set_mark(blocks, mark)
        self.system += blocks

    def _on_assistant(self, message: AssistantMessage, mark: Any) -> None:
        blocks = blocks_of(message.content) or text_block(message.refusal or "")
        texts = [b for b in blocks if b["type"] == "text"]
        calls = [self._call(call) for call in message.tool_calls or []]
        # A turn may not end in reasoning: with nothing behind it, it is blank.
        reasoning = self._reasoning(message) if texts or calls else []
        self._append("assistant", [*reasoning, *texts, *calls], mark)
        if message.audio:
            self._notes.append("the assistant's earlier audio was left out")
        if len(texts) < len(blocks):
            self._notes.append("images of the assistant were moved to the user turn behind it")
            self._append("user", [b for b in blocks if b["type"] != "text"])

    def _append(self, role: str, blocks: list[Block], mark: Any = None) -> None:
        if not blocks:
            self._notes.append(f"a blank {role} turn was left out")
            return
        _set_mark(blocks, mark)
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"] += blocks
        else:
            self.messages.append({"role": role, "content": blocks})

    def _reasoning(self, message: AssistantMessage) -> list[Block]:
        """The signed blocks, in order. What has no signature of this dialect is refused, so it stays here."""
        blocks: list[Block] = []
        for detail in message.reasoning_details or []:
            block = _signed(detail) if self._reasons else None
            if block is None:
                self._notes.append("earlier reasoning without a signature of this vendor was left out")
            else:
                blocks.append(block)
        if not message.reasoning_details and (message.reasoning_content or message.reasoning):
            self._notes.append("earlier reasoning without a signature of this vendor was left out")
        return blocks

    def _call(self, call: ToolCallItem) -> Block:
        arguments = jsontext.as_object(call.arguments) if call.arguments.strip() else {}
        if call.custom is not None:
            arguments = {"input": call.custom.input}
        if arguments is None:
            self._notes.append(f"arguments of a call of {call.name[:60]!r} are no JSON object: sent as {{}}")
        made = self._unique(call.id)
        self._open.setdefault(call.id, deque()).append(made)
        return {"type": "tool_use", "id": made, "name": call.name, "input": arguments or {}}

    def _unique(self, call_id: str) -> str:
        """An id of allowed characters that no earlier call has; callers count anew in every turn."""
        base = _BAD_ID.sub("_", call_id) or "call"
        return self._ids.take(base, lambda n: f"{base}_{n}")

    def _result(self, message: ToolMessage) -> Block:
        waiting = self._open.get(message.tool_call_id)
        made = waiting.popleft() if waiting else _BAD_ID.sub("_", message.tool_call_id)
        block: Block = {"type": "tool_result", "tool_use_id": made}
        content = blocks_of(message.content)
        marks = [mark for inner in content if (mark := inner.pop("cache_control", None))]
        if content:
            block["content"] = content
        if message.is_error:
            block["is_error"] = True
        _set_mark([block], marks[-1] if marks else None)
        return block

    def _finish(self) -> None:
        """The first turn is the user's, and results stand before anything else a user says."""
        if not self.messages or self.messages[0]["role"] != "user":
            self._notes.append("a first user turn was added: the conversation began without one")
            self.messages.insert(0, {"role": "user", "content": text_block(NO_TEXT)})
        for message in self.messages:
            message["content"].sort(
                key=lambda block: message["role"] == "user" and block["type"] != "tool_result"
            )
        last = self.messages[-1]
        if last["role"] == "assistant" and last["content"][-1]["type"] == "text":
            # A begun answer that ends in white space is refused.
            last["content"][-1]["text"] = last["content"][-1]["text"].rstrip()


def _has(message: dict[str, Any], kind: str) -> bool:
    return any(block["type"] == kind for block in message["content"])


def _set_mark(blocks: list[Block], mark: Any) -> None:
    """A cache mark of a whole message stands on its last block; reasoning takes none."""
    if isinstance(mark, dict) and blocks and blocks[-1]["type"] not in _REASONING:
        blocks[-1]["cache_control"] = mark


def _signed(detail: dict[str, Any]) -> Block | None:
    """A reasoning detail as the block it was, or None where it is not this dialect's or not whole."""
    if detail.get("format") not in (FORMAT, None):
        return None
    kind, signature, data = detail.get("type"), detail.get("signature"), detail.get("data")
    text = detail.get("text")
    if kind == "reasoning.text" and isinstance(signature, str) and signature:
        return {"type": "thinking", "thinking": text if isinstance(text, str) else "", "signature": signature}
    if kind == "reasoning.encrypted" and isinstance(data, str) and data:
        return {"type": "redacted_thinking", "data": data}
    return None
