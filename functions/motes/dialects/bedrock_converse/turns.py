"""The caller's messages as Converse wants them: system apart, roles in turn, results first.

Calls keep their results directly behind them, ids are unique and of the allowed characters, and only signed
reasoning of this service goes back. Must never send a blank block or an empty turn, and never raise for
arguments that are no JSON. Source: Amazon Bedrock API reference, "Message", "ToolUseBlock",
"ToolResultBlock", "ReasoningContentBlock" (read 2026-11-29).
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
from motes.dialects.bedrock_converse.families import Family
from motes.dialects.bedrock_converse.parts import Block, blocks_of, cache_point, text_block
from motes.dialects.bedrock_converse.signatures import signed
from motes.own_names import OwnNames

NO_TEXT: Final = "[no text]"
GO_ON: Final = "Continue."
_BAD_ID: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
_LONGEST_ID: Final = 64
_MEDIA: Final = ("document", "video")


class Turns:
    """A conversation under construction."""

    def __init__(self, notes: list[str], family: Family, *, reasons: bool = True) -> None:
        self.system: list[Block] = []
        self.messages: list[dict[str, Any]] = []
        self.called: list[str] = []
        """The tools that are called in it."""
        self._notes = notes
        self._family = family
        self._reasons = reasons and family.signed
        self._ids = OwnNames()
        self._open: dict[str, deque[str]] = {}
        self._names = OwnNames()

    def add_all(self, messages: Sequence[Message]) -> None:
        """Every message of a caller, mended where the service is strict."""
        normal, notes = history.normalise(messages)
        self._notes += notes
        for message in normal:
            self._add(message)
        self._finish()

    @property
    def replays(self) -> bool:
        """Whether signed reasoning goes back."""
        return any("reasoningContent" in block for m in self.messages for block in m["content"])

    @property
    def bare_loop(self) -> bool:
        """Whether the last turn answers calls of a turn that does not begin with its reasoning."""
        if len(self.messages) < 2 or not _has(self.messages[-1], "toolResult"):
            return False
        return "reasoningContent" not in self.messages[-2]["content"][0]

    def end_with_user(self) -> None:
        """Append a turn of the user where the assistant has the last word in text."""
        if self.messages[-1]["role"] == "assistant" and not _has(self.messages[-1], "toolUse"):
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
                self._append("user", self._result(message), mark)

    def _on_system(self, message: SystemMessage, mark: Any) -> None:
        """System text stands apart; from the first part that is no text on, it is the user's to say."""
        blocks = blocks_of(message.content)
        texts = next((i for i, b in enumerate(blocks) if not b.keys() & {"text", "cachePoint"}), len(blocks))
        if self.messages and texts:
            self._notes.append("a later system message was moved to the head of the conversation")
        self.system += _with_mark(blocks[:texts], mark if texts == len(blocks) else None)
        if blocks[texts:]:
            self._notes.append("an image or file in a system message was moved to a user turn")
            self._append("user", blocks[texts:], mark)

    def _on_assistant(self, message: AssistantMessage, mark: Any) -> None:
        blocks = blocks_of(message.content) or text_block(message.refusal or "")
        texts = [b for b in blocks if "text" in b or "cachePoint" in b]
        calls = [self._call(call) for call in message.tool_calls or []]
        # A turn may not end in reasoning: with nothing behind it, it is blank.
        reasoning = self._reasoning(message) if texts or calls else []
        self._append("assistant", [*reasoning, *texts, *calls], mark)
        if message.audio:
            self._notes.append("the assistant's earlier audio was left out")
        if len(texts) < len(blocks):
            self._notes.append("images of the assistant were moved to the user turn behind it")
            self._append("user", [b for b in blocks if b not in texts])

    def _append(self, role: str, blocks: list[Block], mark: Any = None) -> None:
        if not blocks:
            self._notes.append(f"a blank {role} turn was left out")
            return
        for block in blocks:
            if "document" in block:
                block["document"]["name"] = self._unique_name(block["document"]["name"])
        blocks = _with_mark(blocks, mark)
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"] += blocks
        else:
            self.messages.append({"role": role, "content": blocks})

    def _unique_name(self, name: str) -> str:
        """Documents are told apart by their names."""
        return self._names.take(name, lambda n: f"{name[:190]} {n}")

    def _reasoning(self, message: AssistantMessage) -> list[Block]:
        """The signed blocks, in order. What has no signature of this service is refused, so it stays here."""
        blocks: list[Block] = []
        for detail in message.reasoning_details or []:
            block = signed(detail, self._family) if self._reasons else None
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
        made = self._unique_id(call.id)
        self._open.setdefault(call.id, deque()).append(made)
        self.called.append(call.name)
        return {"toolUse": {"toolUseId": made, "name": call.name, "input": arguments or {}}}

    def _unique_id(self, call_id: str) -> str:
        """An id of allowed characters and length that no earlier call has."""
        base = _BAD_ID.sub("_", call_id)[:_LONGEST_ID] or "call"
        return self._ids.take(base, lambda n: f"{base[: _LONGEST_ID - 6]}_{n}")

    def _result(self, message: ToolMessage) -> list[Block]:
        waiting = self._open.get(message.tool_call_id)
        made = waiting.popleft() if waiting else _BAD_ID.sub("_", message.tool_call_id)[:_LONGEST_ID]
        content = blocks_of(message.content)
        marks = [block for block in content if "cachePoint" in block]
        content = [block for block in content if "cachePoint" not in block] or [{"text": NO_TEXT}]
        result: Block = {"toolUseId": made, "content": content}
        if message.is_error and self._family.status:
            result["status"] = "error"
        elif message.is_error:
            content.insert(0, {"text": "[ERROR]"})
        return [{"toolResult": result}, *marks[-1:]]

    def _finish(self) -> None:
        """Whose turn it is first, what stands where in a turn, and what may not share one."""
        if not self._family.system and self.system:
            self._notes.append("system text was moved into the first user turn: this model takes none apart")
            self._prepend([block for block in self.system if "text" in block])
            self.system = []
        first = self.messages[0]["role"] if self.messages else None
        if first is None or (first != "user" and not self._family.leading_assistant):
            self._notes.append("a first user turn was added: the conversation began without one")
            self.messages.insert(0, {"role": "user", "content": text_block(NO_TEXT)})
        self.messages = [turn for message in self.messages for turn in self._settled(message)]
        last = self.messages[-1]
        if last["role"] == "assistant" and "text" in last["content"][-1]:
            # A begun answer that ends in white space is refused.
            last["content"][-1]["text"] = last["content"][-1]["text"].rstrip()

    def _prepend(self, blocks: list[Block]) -> None:
        if self.messages and self.messages[0]["role"] == "user":
            self.messages[0]["content"][:0] = blocks
        else:
            self.messages.insert(0, {"role": "user", "content": blocks})

    def _settled(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        content = message["content"]
        if message["role"] != "user":
            return [message]
        results = _results_of(content)
        others = [block for block in content if not any(block is result for result in results)]
        heavy = any(name in block for block in others for name in _MEDIA)
        if heavy and not _has(message, "text"):
            self._notes.append("a line of text was added: a document may not stand alone")
            others.insert(0, {"text": "See the attached document."})
        alone = self._family.alone == "anything" or (heavy and self._family.alone == "documents")
        if not (results and others and alone):
            return [{"role": "user", "content": results + others}]
        self._notes.append("a turn was parted: this model takes results of tools apart from the rest")
        between = {"role": "assistant", "content": text_block(NO_TEXT)}
        return [{"role": "user", "content": results}, between, {"role": "user", "content": others}]


def _results_of(content: list[Block]) -> list[Block]:
    """The results of a turn, each with the cache mark behind it."""
    out: list[Block] = []
    for before, block in zip([{}, *content], content, strict=False):
        if "toolResult" in block or ("cachePoint" in block and "toolResult" in before):
            out.append(block)
    return out


def _has(message: dict[str, Any], kind: str) -> bool:
    return any(kind in block for block in message["content"])


def _with_mark(blocks: list[Block], mark: Any) -> list[Block]:
    """A cache mark of a whole message stands behind it."""
    if isinstance(mark, dict) and blocks and "cachePoint" not in blocks[-1]:
        return [*blocks, cache_point(mark)]
    return blocks
