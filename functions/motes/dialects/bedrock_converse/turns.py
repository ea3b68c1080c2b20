"""The caller's messages as Converse wants them: what may share a turn with what, and its block names.

Must never send a blank block. The rest is the skeleton's. Source: Amazon Bedrock API reference, "Message",
"ToolUseBlock", "ToolResultBlock", "ReasoningContentBlock" (read 2026-11-29).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from motes.chat import Content, SystemMessage, ToolMessage
from motes.dialects.bedrock_converse.families import Family
from motes.dialects.bedrock_converse.parts import Block, blocks_of, cache_point, text_block
from motes.dialects.bedrock_converse.signatures import signed
from motes.dialects.block_turns import NO_TEXT, BlockTurns, CallIds, Kind
from motes.own_names import OwnNames

_BAD_ID: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
_LONGEST_ID: Final = 64
_MEDIA: Final = ("document", "video")
_KINDS: Final[Mapping[str, Kind]] = {
    "text": "text",
    "cachePoint": "mark",
    "reasoningContent": "reasoning",
    "toolUse": "call",
    "toolResult": "result",
}


class Turns(BlockTurns):
    """A conversation under construction."""

    def __init__(self, notes: list[str], family: Family, *, reasons: bool = True) -> None:
        super().__init__(notes, CallIds(_BAD_ID, _LONGEST_ID), reasons=reasons and family.signed)
        self.called: list[str] = []
        """The tools that are called in it."""
        self._family = family
        self._names = OwnNames()

    def _kind(self, block: Block) -> Kind:
        """Its one member tells."""
        return _KINDS.get(next(iter(block)), "other")

    def _text(self, text: str) -> list[Block]:
        return text_block(text)

    def _blocks(self, content: Content) -> list[Block]:
        return blocks_of(content)

    def _marked(self, blocks: list[Block], mark: Any) -> list[Block]:
        """It stands behind them."""
        if isinstance(mark, dict) and blocks and self._kind(blocks[-1]) != "mark":
            return [*blocks, cache_point(mark)]
        return blocks

    def _signed(self, detail: dict[str, Any]) -> Block | None:
        return signed(detail, self._family)

    def _use(self, call_id: str, name: str, arguments: dict[str, Any]) -> Block:
        self.called.append(name)
        return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}

    def _on_system(self, message: SystemMessage, mark: Any) -> None:
        """System text stands apart; from the first part that is no text on, it is the user's to say."""
        blocks = blocks_of(message.content)
        texts = next((i for i, b in enumerate(blocks) if not b.keys() & {"text", "cachePoint"}), len(blocks))
        if self.messages and texts:
            self._notes.append("a later system message was moved to the head of the conversation")
        self.system += self._marked(blocks[:texts], mark if texts == len(blocks) else None)
        if blocks[texts:]:
            self._notes.append("an image or file in a system message was moved to a user turn")
            self._append("user", blocks[texts:], mark)

    def _append(self, role: str, blocks: list[Block], mark: Any = None) -> None:
        for block in blocks:
            if "document" in block:
                block["document"]["name"] = self._unique_name(block["document"]["name"])
        super()._append(role, blocks, mark)

    def _unique_name(self, name: str) -> str:
        """Documents are told apart by their names."""
        return self._names.take(name, lambda n: f"{name[:190]} {n}")

    def _result(self, message: ToolMessage) -> list[Block]:
        content = blocks_of(message.content)
        marks = [block for block in content if "cachePoint" in block]
        content = [block for block in content if "cachePoint" not in block] or [{"text": NO_TEXT}]
        result: Block = {"toolUseId": self._ids.of_result(message.tool_call_id), "content": content}
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
            self._begin_with_user()
        self.messages = [turn for message in self.messages for turn in self._settled(message)]
        self._trim_begun_answer()

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
        if heavy and not self._has(message, "text"):
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
