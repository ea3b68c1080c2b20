"""Reasoning on an OpenAI stream: its text, the tags around it if asked for, its signatures and parcels.

Pure; gives deltas, the encoder frames them. Must never tell an entry of `reasoning_details` twice, nor two
under one index: an accumulator joins what shares one. Blocks begin and end as in the reassembler. Where the
vendor may send details in its own form, at the end, ours wait for them.
"""

from typing import Any, Final

from motes import particles as p
from motes.egress.reply import GEMINI_FORMAT, UNKNOWN_FORMAT, Reply, encrypted, signed_text, told_details

Delta = dict[str, Any]

_MEMBERS: Final = {
    "reasoning_content": ("reasoning_content",),
    "reasoning": ("reasoning",),
    "both": ("reasoning_content", "reasoning"),
    "none": (),
}


class ReasoningTrack:
    """The reasoning of one response. Every method gives the deltas to send, often none."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._tags = reply.reasoning_field == "think-tags"
        self._hidden = reply.reasoning_field == "none"
        self._thinking = False
        self._block: list[str] | None = None
        self._signature: str | None = None
        self._entries = 0
        self._waits = reply.signature_format == UNKNOWN_FORMAT
        self._waiting: list[dict[str, Any]] = []

    def text(self, particle: p.Reasoning) -> list[Delta]:
        """More reasoning."""
        out = self._signed()
        if self._block is None or particle.restart:
            self._block = []
        self._block.append(particle.text)
        if not particle.text or self._hidden:
            return out
        if self._tags:
            opening, self._thinking = "" if self._thinking else "<think>", True
            return [*out, {"content": opening + particle.text}]
        return [*out, dict.fromkeys(_MEMBERS[self._reply.reasoning_field], particle.text)]

    def signature(self, signature: str) -> None:
        """The block's signature, held until the block is over: a later one replaces it."""
        self._signature = signature

    def parcel(self, data: str) -> list[Delta]:
        """One encrypted parcel."""
        out = self._signed()
        self._block = []
        return out + self._own(encrypted(data, self._reply.signature_format))

    def call_signature(self, signature: str, call_id: str | None) -> list[Delta]:
        """Gemini's signature of the part before it; a call's is needed even where reasoning is hidden."""
        return self.kept(encrypted(signature, GEMINI_FORMAT, call_id))

    def kept(self, entry: dict[str, Any]) -> list[Delta]:
        """What only its vendor can read or use, told even where reasoning is hidden."""
        return [*self._signed(), self._entry(entry)]

    def details(self, rows: list[dict[str, Any]]) -> list[Delta]:
        """The vendor's own details of the whole answer, which replace ours."""
        out = self._signed()
        if not self._waits:
            return out
        self._waiting = []
        return out + [self._entry(row) for row in told_details(rows, self._hidden)]

    def close(self) -> list[Delta]:
        """The answer is over."""
        out = self.leave()
        return out + [self._entry(entry) for entry in self._waiting]

    def leave(self) -> list[Delta]:
        """Another part begins: the block before it is whole."""
        out = self._signed()
        self._block = None
        if self._thinking:
            self._thinking = False
            out.append({"content": "</think>"})
        return out

    def _signed(self) -> list[Delta]:
        if self._signature is None:
            return []
        text = "".join(self._block or ())
        signature, self._signature, self._block = self._signature, None, None
        return self._own(signed_text(text, signature, self._reply.signature_format))

    def _own(self, entry: dict[str, Any]) -> list[Delta]:
        if self._waits and not self._hidden:
            self._waiting.append(entry)
        return [] if self._waits or self._hidden else [self._entry(entry)]

    def _entry(self, entry: dict[str, Any]) -> Delta:
        self._entries += 1
        return {"reasoning_details": [entry | {"index": self._entries - 1}]}
