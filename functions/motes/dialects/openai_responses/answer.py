"""What the items of one answer share: how text, reasoning and sources are said, and the vendor's own state.

Must never hold back text but for a directive that may be a leak, and never put two blocks of reasoning, each
with its own encrypted content, into one.
"""

from typing import Final

from motes import particles as p
from motes.dialects.openai_responses.citations import source_of
from motes.dialects.openai_responses.fields import NOTHING, Json, text
from motes.dialects.openai_responses.leaks import Leaks
from motes.dialects.openai_responses.said import Said
from motes.quirks import Quirks
from motes.transmitter import Emitter

_UNKNOWN: Final = "unknown_annotation"


class Answer:
    """One answer of one upstream."""

    def __init__(self, quirks: Quirks) -> None:
        self.hosted_prefixes = quirks.hosted_custom_tools
        self.image_tool: Json = NOTHING
        """How the image tool was configured, where the vendor repeats it."""
        self.created_ms: int | None = None
        self.spoke = False
        """Whether answer text was said."""
        self.refused = False
        self._origin = quirks.reasoning_origin
        self._tagged = quirks.think_tags
        self._leaks = Leaks() if quirks.citation_leaks else None
        self._spoken = 0
        self._thought: Said | None = None
        self._sources: set[tuple[str, str, int | None, int | None]] = set()

    def say(self, part: Said, words: str, out: Emitter) -> None:
        """More answer text."""
        if part.start is None:
            part.start = self._spoken
        self._say(self._leaks.feed(words) if self._leaks else words, out)

    def finish_part(self, out: Emitter) -> None:
        """A text is over: what was held back is told."""
        if self._leaks:
            self._say(self._leaks.close(), out)

    def think(self, part: Said, words: str, out: Emitter) -> None:
        """More reasoning; each part of a summary, and each item, is a block of its own."""
        another = self._thought is not None and self._thought is not part
        self._thought = part
        out.reasoning(words, restart=another)

    def refuse(self, words: str, out: Emitter) -> None:
        """More of a refusal."""
        self.refused = True
        out.refusal(words)

    def cite(self, annotation: Json, index: int | None, part: Said, out: Emitter) -> None:
        """One source, told once however often it comes."""
        found = source_of(annotation, index, part.start or 0)
        if found is None:
            out.warn(_UNKNOWN, "an annotation that names no source was skipped")
            return
        if isinstance(found, p.Citation):
            key = ("citation", found.url or found.document or "", found.start, found.end)
        else:
            key = (found.kind, found.file_id or "", None, None)
        if key not in self._sources:
            self._sources.add(key)
            out.add(found)

    def keep_reasoning(self, item: Json, thought: Said | None, out: Emitter) -> None:
        """The encrypted content of a whole reasoning item, for the next turn; it hangs on its block."""
        data, id = text(item, "encrypted_content"), text(item, "id")
        known = {"id": id, "encryptedContent": data} if id else {"encryptedContent": data}
        if thought is None or thought is not self._thought:
            self.think(thought or Said(), "", out)
        else:
            out.reasoning("")
        out.add(p.VendorState(self._origin, {"reasoningItem": known}))

    def enter_phase(self, phase: str, out: Emitter) -> None:
        """The next text is commentary, or the final answer; models want to hear it again."""
        out.add(p.VendorState(self._origin, {"messagePhase": phase}))

    def _say(self, words: str, out: Emitter) -> None:
        if not words:
            return
        self.spoke = True
        self._spoken += len(words)
        if self._tagged:
            self._tagged = out.tagged_text(words)
        else:
            out.text(words)
