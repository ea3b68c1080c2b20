"""The caller's messages as the Messages API wants them: its block names, and results first in a user's turn.

Must never send a blank block. The rest is the skeleton's. Source: "Messages API", "Tool use" and "Extended
thinking" (platform.claude.com/docs, read 2026-11-29).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from motes.chat import Content, SystemMessage, ToolMessage
from motes.dialects.anthropic_messages.parts import Block, blocks_of, text_block
from motes.dialects.block_turns import BlockTurns, CallIds, Kind

FORMAT: Final = "anthropic-claude-v1"
"""The `format` of a reasoning detail whose signature is of this dialect."""
_BAD_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
_KINDS: Final[Mapping[str, Kind]] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "tool_use": "call",
    "tool_result": "result",
}


class Turns(BlockTurns):
    """A conversation under construction."""

    def __init__(self, notes: list[str], *, reasons: bool = True) -> None:
        super().__init__(notes, CallIds(_BAD_ID), reasons=reasons)

    def _kind(self, block: Block) -> Kind:
        return _KINDS.get(block["type"], "other")

    def _text(self, text: str) -> list[Block]:
        return text_block(text)

    def _blocks(self, content: Content) -> list[Block]:
        return blocks_of(content)

    def _marked(self, blocks: list[Block], mark: Any) -> list[Block]:
        """It stands on the last block; reasoning takes none."""
        if isinstance(mark, dict) and blocks and self._kind(blocks[-1]) != "reasoning":
            blocks[-1]["cache_control"] = mark
        return blocks

    def _signed(self, detail: dict[str, Any]) -> Block | None:
        return _signed(detail)

    def _use(self, call_id: str, name: str, arguments: dict[str, Any]) -> Block:
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}

    def _on_system(self, message: SystemMessage, mark: Any) -> None:
        """System text stands apart."""
        blocks = blocks_of(message.content)
        if self.messages and blocks:
            self._notes.append("a later system message was moved to the head of the conversation")
        self.system += self._marked(blocks, mark)

    def _result(self, message: ToolMessage) -> list[Block]:
        block: Block = {"type": "tool_result", "tool_use_id": self._ids.of_result(message.tool_call_id)}
        content = blocks_of(message.content)
        marks = [mark for inner in content if (mark := inner.pop("cache_control", None))]
        if content:
            block["content"] = content
        if message.is_error:
            block["is_error"] = True
        return self._marked([block], marks[-1] if marks else None)

    def _finish(self) -> None:
        """The first turn is the user's, and results stand before anything else a user says."""
        if not self.messages or self.messages[0]["role"] != "user":
            self._begin_with_user()
        for message in self.messages:
            if message["role"] == "user" and len(message["content"]) > 1:
                message["content"].sort(key=lambda block: self._kind(block) != "result")
        self._trim_begun_answer()


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
