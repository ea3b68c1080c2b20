"""The grammar: each datum is a whole GenerateContentResponse, and so is a body that is no stream.

There is no terminator. A finish reason (or a block reason) is the evidence of completion, the closed socket
is the end: usage, sources and signatures may follow the reason, and an older endpoint puts STOP on every
datum. Must never take a socket that closed without a reason for an answer.
"""

import re
from operator import itemgetter
from typing import Any, Final, cast

import orjson

from motes import jsontext, vendor_errors
from motes.demux.base import WireEvent
from motes.dialects.gemini_generate.events import Candidate, GenerateContentResponse, UsageMetadata
from motes.dialects.gemini_generate.fields import an_object, count, member, objects, spellings, text
from motes.dialects.gemini_generate.finish import UNSPECIFIED, Finish, block_of, finish_of
from motes.dialects.gemini_generate.grounding import Sources
from motes.dialects.gemini_generate.parts import Parts
from motes.dialects.gemini_generate.plain import plain_text
from motes.emitter import Emitter, Verse
from motes.quirks import NO_QUIRKS, Quirks

_LONGEST_DONE: Final = 64
# The counts, to the member behind them or to the end of the line.
_COUNTS: Final = re.compile(rb'[,{] *"usageMetadata": *({[^\r\n]*?})(?:, *"(?:model|response|create)|}\r?\n)')
_ONE_DIGIT: Final = bytes.maketrans(b"23456789", b"1" * 8)
_MEDIA: Final = ("audio", "image")
# What few responses, candidates and counts have: where there is none, it is not looked for.
_FEEDBACK: Final = spellings("promptFeedback")
_SOURCES: Final = spellings("groundingMetadata", "citationMetadata", "urlContextMetadata")
_MODALITIES: Final = spellings("promptTokensDetails", "candidatesTokensDetails")
_RARE: Final = spellings("toolUsePromptTokenCount", "cachedContentTokenCount", "thoughtsTokenCount")
_PLAIN: Final = {"promptTokenCount", "candidatesTokenCount", "totalTokenCount"}
_plain: Final = itemgetter("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
_DETAILS: Final = frozenset(
    {
        "tokens_cache_read",
        "tokens_out_reasoning",
        *(f"tokens_{way}_{kind}" for way in ("in", "out") for kind in _MEDIA),
    }
)


class GenerateParser:
    """One per attempt. No host of this protocol differs in what it sends, so the quirks are not asked."""

    def __init__(self, _: Quirks = NO_QUIRKS) -> None:
        self._parts = Parts()
        self._sources = Sources()
        self._usage: dict[str, int] = {}
        self._uncounted: UsageMetadata | bytes = {}
        """The counts of the latest data, not yet read: most are replaced by the next ones."""
        self._shapes: set[bytes] = set()
        """Counts that would replace those, as JSON with 1 for every digit but 0."""
        self._latest_shape: bytes | None = None
        """The one of them that came last; the next one mostly is the same."""
        self._identified = False
        self._finish: Finish | None = None
        self._lost_parts = False

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """One datum, or a body: a response, or a list of them (a stream without `alt=sse`)."""
        data = event.data
        if len(data) < _LONGEST_DONE and data.strip() == "[DONE]":
            return
        responses = self._responses(data)
        for response in responses:
            if self._identified and (words := plain_text(response)):
                self._parts.say(words, out)
                self._on_later_usage(response.get("usageMetadata"), out)
                if len(responses) == 1:
                    out.verse(words, Verse(plain_text, self._again, _COUNTS, "usageMetadata"))
            else:
                self._on_response(response, out)

    def _again(self, words: str, counts: bytes, out: Emitter) -> None:
        """A response of text and counts and nothing else, as most are. See `Verse`."""
        shape = counts.translate(_ONE_DIGIT)
        if shape == self._latest_shape or shape in self._shapes:
            self._latest_shape = shape
            self._parts.say(words, out)
            self._uncounted = counts
            return
        if counts.find(b"\n") >= 0 or counts.find(b"\r") >= 0:
            raise ValueError("counts over several lines")
        metadata = orjson.loads(counts) if counts else None
        self._parts.say(words, out)
        self._on_later_usage(metadata, out)
        is_latest = self._uncounted is metadata
        if metadata and is_latest and _differs_in_numbers_alone(counts, metadata):
            self._shapes.add(shape)

    def eof(self, out: Emitter) -> None:
        """The socket closed: tell what waited for the end, and why the model stopped if it said so.

        Who closed the socket settles whether that is a clean end; `done` is not said here.
        """
        self._parts.close(out)
        self._sources.close(self._parts.answer, out)
        finish = self._finish
        if finish is None or self._lost_parts:
            return
        self._count(out)
        out.usage(partial=False, **self._usage)
        if finish.error is not None:
            out.issue(finish.error)
            return
        if not finish.known:
            out.warn("unknown_finish_reason", f"the finish reason {finish.native[:40]!r} is not known")
        out.stop(finish.stop, native=finish.native, detail=finish.detail)

    def _responses(self, data: str) -> list[Any]:
        try:
            value = jsontext.loads(data)
        except ValueError:
            # After a finish reason a datum that cannot be read may be a cut one: if it held parts, the answer
            # is not whole, whatever the reason says.
            self._lost_parts = '"parts"' in data
            raise
        self._lost_parts = False
        if type(value) is dict:
            return [value]
        responses = value if isinstance(value, list) else [value]
        if not all(isinstance(response, dict) for response in responses):
            raise ValueError("a response is a JSON object")
        return responses

    def _on_response(self, response: GenerateContentResponse, out: Emitter) -> None:
        if "response" in response and "candidates" not in response:
            response = an_object(response["response"])
        if response.get("error"):
            out.issue(vendor_errors.from_body(response))
            return
        model, id = text(member(response, "modelVersion")), text(member(response, "responseId"))
        out.model(model)
        out.response_id(id)
        self._identified = bool(model and id)
        if not _FEEDBACK.isdisjoint(response):
            self._finish = block_of(an_object(member(response, "promptFeedback"))) or self._finish
        for candidate in objects(response.get("candidates")):
            self._on_candidate(candidate, out)
        self._count(out)
        self._on_usage(an_object(member(response, "usageMetadata")), out)

    def _on_candidate(self, candidate: Candidate, out: Emitter) -> None:
        if candidate.get("index") not in (None, 0):
            out.warn("more_candidates", "only the first candidate is read")
            return
        for part in objects(an_object(candidate.get("content")).get("parts")):
            self._parts.take(part, out)
        if not _SOURCES.isdisjoint(candidate):
            self._sources.grounding(an_object(member(candidate, "groundingMetadata")))
            self._sources.citations(an_object(member(candidate, "citationMetadata")))
            self._sources.addresses(an_object(member(candidate, "urlContextMetadata")))
        finish = finish_of(candidate)
        if finish is not None and (self._finish is None or finish.native != UNSPECIFIED):
            self._finish = finish

    def _on_later_usage(self, metadata: Any, out: Emitter) -> None:
        """Counts that replace those before them are read when they are the last."""
        if not metadata or type(metadata) is not dict:
            return
        if not self._uncounted:
            out.counting(lambda: self._count(out))
        elif metadata.keys() != _read(self._uncounted).keys() or None in metadata.values():
            self._count(out)
            out.counting(lambda: self._count(out))
        self._uncounted = cast(UsageMetadata, metadata)

    def _count(self, out: Emitter) -> None:
        metadata, self._uncounted = self._uncounted, {}
        self._shapes.clear()
        self._latest_shape = None
        if metadata:
            self._on_usage(_read(metadata), out)

    def _on_usage(self, metadata: UsageMetadata, out: Emitter) -> None:
        counts = _counts(metadata)
        if counts:
            # A count that the latest datum leaves out is nothing; only the latest datum counts.
            gone = _DETAILS & self._usage.keys()
            self._usage = (
                {**self._usage, **dict.fromkeys(gone, 0), **counts} if gone else self._usage | counts
            )
            out.usage(partial=self._finish is None, **self._usage)


def _read(counts: UsageMetadata | bytes) -> UsageMetadata:
    # As the whole rule reads: of two counts of one shape, one may be too large a number for a strict reader.
    return cast(UsageMetadata, jsontext.loads(counts) if type(counts) is bytes else counts)


def _differs_in_numbers_alone(counts: bytes, metadata: UsageMetadata) -> bool:
    """Whether counts of the same shape hold the same members, and none that is null."""
    is_named_plainly = counts.find(b"\\") < 0 and not any(map(str.isdigit, "".join(metadata)))
    return is_named_plainly and None not in metadata.values()


def _counts(metadata: UsageMetadata) -> dict[str, int]:
    """Google's counts in ours: its prompt includes what was cached, its candidates exclude thoughts."""
    if metadata.keys() == _PLAIN:
        # As most are.
        given, spent, total = told = _plain(metadata)
        if set(map(type, told)) == {int} and min(told) >= 0 < total and max(told) < 2**53:
            return {"tokens_in": given, "tokens_out": spent, "tokens_total": total}
    prompt = count(member(metadata, "promptTokenCount"))
    answer = count(member(metadata, "candidatesTokenCount"))
    total = count(member(metadata, "totalTokenCount"))
    hosted, cached, thoughts = 0, None, None
    if not _RARE.isdisjoint(metadata):
        hosted = count(member(metadata, "toolUsePromptTokenCount")) or 0
        cached = count(member(metadata, "cachedContentTokenCount"))
        thoughts = count(member(metadata, "thoughtsTokenCount"))
    if prompt is None and answer is None and thoughts is None:
        return {}
    spent = (answer or 0) + (thoughts or 0)
    given = None if prompt is None else prompt + hosted
    found: dict[str, int | None] = {
        "tokens_in": None if given is None else max(0, given - (cached or 0)),
        "tokens_out": spent,
        "tokens_total": total if given is None else total or given + spent,
    }
    if cached is not None:
        found["tokens_cache_read"] = cached
    if thoughts is not None:
        found["tokens_out_reasoning"] = thoughts
    if not _MODALITIES.isdisjoint(metadata):
        found |= _by_modality(metadata, "promptTokensDetails", "in")
        found |= _by_modality(metadata, "candidatesTokensDetails", "out")
    if None not in found.values():
        return cast(dict[str, int], found)
    return {name: value for name, value in found.items() if value is not None}


def _by_modality(metadata: UsageMetadata, name: str, way: str) -> dict[str, int | None]:
    """What of input or output was sound and what was pictures."""
    told = {
        str(member(row, "modality")).lower(): count(member(row, "tokenCount"))
        for row in objects(member(metadata, name))
    }
    return {f"tokens_{way}_{kind}": told.get(kind) for kind in _MEDIA}
