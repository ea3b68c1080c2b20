"""The grammar of generateContent: what each part, reason and count means, and what may not be trusted."""

import base64
import json
import random
import struct
from copy import deepcopy
from typing import Any

import pytest

from fakes.recordings import RESET, Recording, message, ours, particles
from motes import particles as p
from motes.codec import to_wire
from motes.demux.base import WireEvent
from motes.dialects.gemini_generate import DIALECT
from motes.dialects.gemini_generate.parser import GenerateParser
from motes.egress.message_json import message_json
from motes.errors import VendorError
from motes.transmitter import Transmitter

RECORDINGS = [r for r in ours() if r.meta["dialect"] == "gemini-generate"]
LIVE = [r for r in RECORDINGS if not r.failed]


def answer(parts: list[Any] | None = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    """One datum with one candidate; what else it says of the candidate by name."""
    candidate: dict[str, Any] = {} if parts is None else {"content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate | more]}


def run(*data: Any, failure: VendorError | None = None) -> list[p.Particle]:
    body = b"".join(b"data: " + json.dumps(datum).encode() + b"\r\n\r\n" for datum in data)
    return particles(DIALECT, [body], failure=failure)


def kinds(found: list[p.Particle]) -> list[str]:
    return [type(x).__name__ for x in found]


def only(found: list[p.Particle], kind: type) -> Any:
    (one,) = [x for x in found if isinstance(x, kind)]
    return one


def end(found: list[p.Particle]) -> p.End:
    return only(found, p.End)


def error(found: list[p.Particle]) -> VendorError:
    return only(found, p.Issue).error


def metrics(found: list[p.Particle]) -> p.Metrics:
    return [x for x in found if isinstance(x, p.Metrics)][-1]


# Recordings.


@pytest.mark.parametrize("recording", LIVE, ids=[r.path.name for r in LIVE])
def test_a_recording_gives_the_message_that_was_written_down(recording: Recording) -> None:
    expected = json.loads((recording.path / "expected.json").read_text())
    found = particles(DIALECT, [recording.body])
    got = message_json(message(found), visible=any(p.is_visible(x) for x in found))
    for call in (*got["tool_calls"], *expected["tool_calls"]):
        if call["id"].startswith(("made_", "call_motes_")):
            call["id"] = "made here"
    assert got == expected


# Text, thoughts, signatures.


def test_thought_parts_are_reasoning_and_a_signed_empty_part_begins_a_new_block() -> None:
    found = run(
        answer([{"text": "one", "thought": True}]),
        answer([{"text": "", "thoughtSignature": "c2ln"}]),
        answer([{"text": "two", "thought": True}, {"text": "answer"}], "STOP"),
    )
    assert found[:4] == [
        p.Reasoning("one"),
        p.VendorState("gemini", {"thoughtSignature": "c2ln"}),
        p.Reasoning("two", restart=True),
        p.Text("answer"),
    ]


@pytest.mark.parametrize(
    ("part", "fragment"),
    [
        ({"text": "hi"}, "TextFragment"),
        ({"text": "hm", "thought": True}, "ReasoningFragment"),
        ({"text": "", "thought": True}, "ReasoningFragment"),
        ({"functionCall": {"name": "f", "args": {}}}, "ToolCallFragment"),
        ({"inlineData": {"mimeType": "image/png", "data": "AA=="}}, "MediaFragment"),
    ],
)
def test_a_signature_belongs_to_the_part_it_came_with(part: dict[str, Any], fragment: str) -> None:
    found = message(run(answer([{**part, "thoughtSignature": "c2ln"}], "STOP")))
    last = found.fragments[-1]
    assert type(last).__name__ == fragment
    assert last.state["gemini"] == {"thoughtSignature": "c2ln"}


def test_a_signature_on_an_empty_last_part_belongs_to_the_text_and_not_to_a_source() -> None:
    grounding = {"groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}]}
    found = message(
        run(
            answer([{"text": "hi"}], groundingMetadata=grounding),
            answer([{"text": "", "thoughtSignature": "c2ln"}], "STOP"),
        )
    )
    assert [type(f).__name__ for f in found.fragments] == ["TextFragment", "CitationFragment"]
    assert found.fragments[0].state["gemini"] == {"thoughtSignature": "c2ln"}


def test_only_the_first_candidate_is_read_and_the_others_are_told_of_once() -> None:
    two = {
        "candidates": [
            {"content": {"parts": [{"text": t}]}, "index": i} for i, t in enumerate(("a", "b", "c"))
        ]
    }
    found = run(two, answer([], "STOP"))
    assert message(found).text == "a"
    assert only(found, p.Warn).code == "more_candidates"


def test_the_names_of_the_protocol_buffers_are_read_too() -> None:
    found = run(
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"function_call": {"name": "f", "args": {"a": 1}}, "thought_signature": "c2ln"},
                            {"inline_data": {"mime_type": "image/png", "data": "AA=="}},
                        ]
                    },
                    "finish_reason": "STOP",
                }
            ],
            "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 4},
            "model_version": "m",
            "response_id": "r",
        }
    )
    got = message(found)
    assert (got.model, got.response_id, got.tool_calls[0].arguments) == ("m", "r", '{"a":1}')
    assert got.tool_calls[0].state["gemini"] == {"thoughtSignature": "c2ln"}
    assert len(got.media(p.Image)) == 1
    assert (metrics(found).tokens_in, metrics(found).tokens_out) == (3, 4)


@pytest.mark.parametrize("total", [0, 12, 13, -1, None, "12", 2**53, True])
@pytest.mark.parametrize("made", [0, 3, -1, None, 3.0, 2**53, False])
@pytest.mark.parametrize("given", [0, 9, -1, None, 2**53])
def test_counts_that_stand_alone_are_read_as_those_among_others(given: Any, made: Any, total: Any) -> None:
    counts = {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": total}
    alone, among = (
        [
            one
            for one in run({**answer([{"text": "a"}], "STOP"), "usageMetadata": told})
            if type(one) is p.Metrics
        ]
        for told in (counts, {**counts, "trafficType": "ON_DEMAND"})
    )
    assert alone == among


def test_a_part_of_a_new_kind_is_skipped_with_a_word() -> None:
    found = run(answer([{"hologram": {}}, {"text": "hi"}], "STOP"))
    assert message(found).text == "hi"
    assert only(found, p.Warn).code == "unknown_part"


# Calls.


def test_a_call_without_arguments_has_an_empty_object_of_them() -> None:
    found = run(answer([{"functionCall": {"name": "now"}}], "STOP"))
    assert only(found, p.ToolCall) == p.ToolCall("made_1", "now", "{}")


def test_stop_after_a_call_is_a_stop_for_tools_and_the_limit_stays_a_limit() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": "b"}}}
    assert end(run(answer([call]), answer(None, "STOP"))).stop == "ok-tool_invocations"
    assert end(run(answer([call]), answer(None, "MAX_TOKENS"))).stop == "out-of-tokens"


def test_arguments_of_any_type_become_json_text() -> None:
    for args, text in (({"ç": [1]}, '{"ç":[1]}'), ('{"a": 1}', '{"a": 1}'), ("x", '"x"'), ([1], "[1]")):
        found = run(answer([{"functionCall": {"name": "f", "args": args}}], "STOP"))
        assert only(found, p.ToolCall).arguments == text


def piece(path: str, value: dict[str, Any], more: bool = False) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if more else {})}


def streamed(*pieces: dict[str, Any], more: bool = True, **call: Any) -> dict[str, Any]:
    return {"functionCall": {**call, "partialArgs": list(pieces), **({"willContinue": True} if more else {})}}


def test_streamed_arguments_are_put_together_by_their_places() -> None:
    found = run(
        answer(
            [{"functionCall": {"name": "f", "id": "c1", "willContinue": True}, "thoughtSignature": "c2ln"}]
        ),
        answer([streamed(piece("$.a.b", {"stringValue": "x"}, more=True))]),
        answer([streamed(piece("$.a.b", {"stringValue": "y"}))]),
        answer(
            [streamed(piece("$['a']['c d']", {"numberValue": 1.5}), piece("$.l[1]", {"boolValue": True}))]
        ),
        answer([{"functionCall": {}}, {"text": "then"}], "STOP"),
    )
    call = only(found, p.ToolCall)
    assert (call.id, call.name) == ("c1", "f")
    assert json.loads(call.arguments) == {"a": {"b": "xy", "c d": 1.5}, "l": [None, True]}
    assert kinds(found)[:3] == ["ToolCall", "VendorState", "Text"]


def test_a_streamed_call_that_stays_open_is_given_at_the_end() -> None:
    found = run(
        answer([streamed(piece("$.a", {"stringValue": "x"}, more=True), name="f")]),
        answer(None, "MAX_TOKENS"),
    )
    assert only(found, p.ToolCall).arguments == '{"a":"x"}'
    assert end(found).stop == "out-of-tokens"


def test_a_new_call_ends_the_streamed_one_before_it() -> None:
    found = run(
        answer([streamed(piece("$.a", {"numberValue": 1}), name="f")]),
        answer([streamed(piece("$.b", {"numberValue": 2}), name="g", more=False)]),
        answer([{"functionCall": {"name": "h", "args": {}}}], "STOP"),
    )
    calls = [(x.name, x.arguments) for x in found if isinstance(x, p.ToolCall)]
    assert calls == [("f", '{"a":1}'), ("g", '{"b":2}'), ("h", "{}")]


@pytest.mark.parametrize("path", ["", "$", "$.a[99999999999]", "$" + ".a" * 500, "$.a.b", "$.a[0]"])
def test_a_piece_without_a_possible_place_is_skipped(path: str) -> None:
    found = run(
        answer([streamed(piece("$.a", {"numberValue": 1}), piece(path, {"numberValue": 2}), name="f")]),
        answer([{"functionCall": {}}], "STOP"),
    )
    assert only(found, p.ToolCall).arguments == '{"a":1}'
    assert only(found, p.Warn).code == "partial_argument"


def test_an_empty_call_out_of_the_blue_is_skipped() -> None:
    found = run(answer([{"functionCall": {}}, {"text": "hi"}], "STOP"))
    assert end(found).stop == "ok"
    assert only(found, p.Warn).code == "empty_function_call"


# Media and hosted tools.


def test_raw_samples_become_a_wav_file_with_the_rate_and_channels_they_say() -> None:
    samples = struct.pack("<8h", *range(8))
    blob = {
        "mimeType": "audio/L16;codec=pcm;rate=16000;channels=2",
        "data": base64.b64encode(samples).decode(),
    }
    audio = only(run(answer([{"inlineData": blob}], "STOP")), p.Audio)
    wav = base64.b64decode(audio.base64)
    assert audio.mime == "audio/wav"
    assert len(wav) == 44 + len(samples)
    assert wav[:4] + wav[8:16] + wav[36:40] == b"RIFFWAVEfmt data"
    assert struct.unpack("<HHIIHH", wav[20:36]) == (1, 2, 16000, 64000, 4, 16)
    assert struct.unpack("<I", wav[40:44]) == (len(samples),)
    assert wav[44:] == samples


def test_samples_that_do_not_say_are_mono_at_24_kilohertz() -> None:
    blob = {"mimeType": "audio/pcm;rate=zero;channels=0", "data": base64.b64encode(b"\0" * 48_000).decode()}
    audio = only(run(answer([{"inlineData": blob}], "STOP")), p.Audio)
    assert struct.unpack("<HI", base64.b64decode(audio.base64)[22:28]) == (1, 24000)
    assert audio.duration_ms == 1000


def test_sound_in_a_file_stays_as_it_is_and_other_bytes_are_for_download() -> None:
    sound = {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}}
    table = {"inlineData": {"mimeType": "text/csv", "data": "AAAA", "displayName": "t.csv"}}
    found = run(answer([sound, table], "STOP"))
    assert only(found, p.Audio) == p.Audio("audio/mp3", "AAAA")
    assert only(found, p.HostedResource) == p.HostedResource(
        "inline-download", filename="t.csv", mime="text/csv", base64="AAAA"
    )


def test_an_image_inside_a_thought_is_a_preview_and_not_among_the_images() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    found = run(answer([{**image, "thought": True}]), answer([{"text": "so:"}, image], "STOP"))
    assert [x.partial for x in found if isinstance(x, p.Image)] == [True, False]
    assert len(message(found).media(p.Image)) == 1


@pytest.mark.parametrize(
    ("uri", "resource"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/files/abc", "files/abc"),
        (
            "https://generativelanguage.googleapis.com/v1beta/files/abc:download?alt=media&x=/y",
            "files/abc",
        ),
        ("gs://bucket/film.mp4", "gs://bucket/film.mp4"),
    ],
)
def test_a_file_at_the_vendor_is_named(uri: str, resource: str) -> None:
    found = only(
        run(answer([{"fileData": {"mimeType": "video/mp4", "fileUri": uri}}], "STOP")), p.HostedResource
    )
    assert found == p.HostedResource("vnd.gem.file", resource=resource, mime="video/mp4", is_video=True)


def test_a_result_of_code_has_the_id_of_its_call_also_where_the_vendor_gives_none() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    fine = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    late = {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED"}}
    named = {"executableCode": {"language": "LANGUAGE_UNSPECIFIED", "code": "x", "id": "own"}}
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no", "id": "own"}}
    found = run(answer([code, fine, code, late]), answer([named, failed], "STOP"))
    calls = [(x.id, x.language) for x in found if isinstance(x, p.CodeCall)]
    results = [(x.id, x.error, x.result) for x in found if isinstance(x, p.CodeResult)]
    assert calls == [("code-1", "python"), ("code-2", "python"), ("own", "")]
    assert results == [
        ("code-1", False, "2"),
        ("code-2", "the code ran out of time", ""),
        ("own", True, "no"),
    ]


def test_a_hosted_tool_is_an_operation_that_begins_and_ends() -> None:
    call = {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["tides", 1, "wind"]}}
    newer = {"toolType": "TEA_LEAVES"}
    found = run(
        answer([{"toolCall": call}, {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB"}}]),
        answer(
            [{"toolCall": newer}, {"toolResponse": {**newer, "response": {"error": "none left"}}}], "STOP"
        ),
    )
    assert [x for x in found if isinstance(x, p.Operation)] == [
        p.Operation("t1", "Searching the web", "search-web", inputs=("tides", "wind")),
        p.Operation("t1", "Searching the web", "search-web", "done"),
        p.Operation("tool-2", "Using tea leaves", "search-web"),
        p.Operation("tool-2", "Using tea leaves", "search-web", "error"),
    ]
    assert not message(found).tool_calls


# Sources.


def grounded(*chunks: dict[str, Any], supports: list[Any] | None = None) -> dict[str, Any]:
    return {"groundingMetadata": {"groundingChunks": list(chunks), "groundingSupports": supports or []}}


def web(name: str) -> dict[str, Any]:
    return {"web": {"uri": f"https://{name}.example", "title": name}}


def support(start: int, stop: int, text: str | None, *indices: Any) -> dict[str, Any]:
    segment = {"startIndex": start, "endIndex": stop} | ({} if text is None else {"text": text})
    return {"segment": segment, "groundingChunkIndices": list(indices)}


def citations(found: list[p.Particle]) -> list[p.Citation]:
    return [x for x in found if isinstance(x, p.Citation)]


def test_byte_offsets_become_character_offsets() -> None:
    text = "Às dez 🌊 sobe. Já desce."
    first, second = "Às dez 🌊 sobe.", "Já desce."
    size = len(first.encode())
    found = run(
        answer([{"text": text[:9]}]),
        answer(
            [{"text": text[9:]}],
            "STOP",
            **grounded(
                web("a"),
                web("b"),
                supports=[
                    support(0, size, first, 0),
                    support(size + 1, len(text.encode()), None, 0, 1, 7, "x"),
                ],
            ),
        ),
    )
    got = [(c.title, c.number, c.start, c.end) for c in citations(found)]
    assert got == [("a", 1, 0, 14), ("a", 1, 15, 24), ("b", 2, 15, 24)]
    assert text[15:24] == second


def test_in_a_very_long_answer_sources_are_told_without_their_places() -> None:
    pieces = [answer([{"text": "words and "}])] * 14_000
    found = run(
        *pieces, answer([{"text": "."}], "STOP", **grounded(web("a"), supports=[support(0, 5, "words", 0)]))
    )
    assert [(c.title, c.start) for c in citations(found)] == [("a", None)]
    assert "sources_without_places" in [one.code for one in found if isinstance(one, p.Warn)]


def test_where_the_bytes_do_not_fit_the_words_decide_and_no_place_lies_outside() -> None:
    supports = [
        support(0, 3, "desce", 0),
        support(900, 999, None, 1),
        support(5, 2, "gone", 2),
    ]
    found = run(
        answer(
            [{"text": "sobe e desce"}], "STOP", **grounded(web("a"), web("b"), web("c"), supports=supports)
        )
    )
    assert [(c.title, c.start, c.end) for c in citations(found)] == [
        ("a", 7, 12),
        ("b", None, None),
        ("c", None, None),
    ]


def test_sources_told_again_are_told_once_and_new_ones_go_on_counting() -> None:
    both = [web("a"), web("b")]
    found = run(
        answer([{"text": "x"}], **grounded(web("a"))),
        answer([{"text": "y"}], **grounded(*both)),
        answer([{"text": "z"}], **grounded(web("c"), supports=[support(0, 3, "xyz", 2)])),
        answer(None, "STOP", **grounded(web("c"))),
    )
    assert [(c.title, c.number) for c in citations(found)] == [("a", 1), ("b", 2), ("c", 3)]
    assert citations(found)[2].end == 3


def test_sources_of_every_kind_are_taken_and_unknown_ones_keep_their_index() -> None:
    found = run(
        answer(
            [{"text": "x"}],
            "STOP",
            **grounded(
                {"maps": {"uri": "https://maps.example", "title": "Port"}},
                {"oracle": {"depth": 3}},
                {"retrievedContext": {"title": "tides.pdf", "text": "14:10"}},
                {"image": {"sourceUri": "https://pics.example", "title": "Pier"}},
                supports=[support(0, 1, "x", 3, 1)],
            ),
        )
    )
    assert citations(found) == [
        p.Citation("Port", "https://maps.example", 1),
        p.Citation("tides.pdf", "", 2, text="14:10", document="tides.pdf"),
        p.Citation("Pier", "https://pics.example", 3, 0, 1),
    ]


def test_recited_sources_and_fetched_addresses_are_sources_too() -> None:
    recited = {
        "citationMetadata": {
            "citations": [
                {
                    "startIndex": 1,
                    "endIndex": 3,
                    "uri": "https://book.example",
                    "publicationDate": {"year": 2020, "month": 2},
                },
                {"startIndex": 1, "license": "mit"},
            ],
            "citationSources": [{"uri": "https://old.example", "publicationDate": {"year": 0}}],
        },
        "urlContextMetadata": {
            "urlMetadata": [
                {
                    "retrievedUrl": "https://page.example",
                    "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS",
                },
                {
                    "retrievedUrl": "https://page.example",
                    "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS",
                },
                {"retrievedUrl": "https://lost.example", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"},
            ]
        },
    }
    assert citations(run(answer([{"text": "abcd"}], "STOP", **recited))) == [
        p.Citation("", "https://book.example", 1, 1, 3, published_at=1580515200000),
        p.Citation("", "https://old.example", 2),
        p.Citation("", "https://page.example", 3),
    ]


# Usage.


def test_cached_tokens_are_inside_the_prompt_and_thoughts_outside_the_candidates() -> None:
    usage = {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 15,
    }
    got = metrics(run({**answer([{"text": "x"}], "STOP"), "usageMetadata": usage}))
    assert got == p.Metrics(
        tokens_in=6, tokens_cache_read=4, tokens_out=5, tokens_out_reasoning=3, tokens_total=15
    )


def test_prompts_of_hosted_tools_count_as_prompt() -> None:
    usage = {"promptTokenCount": 10, "toolUsePromptTokenCount": 7, "candidatesTokenCount": 2}
    got = metrics(run({**answer([], "STOP"), "usageMetadata": usage}))
    assert (got.tokens_in, got.tokens_out, got.tokens_total) == (17, 2, 19)


def test_usage_and_sources_after_the_finish_reason_are_taken() -> None:
    found = run(
        answer([{"text": "x"}], "STOP"),
        {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9}},
        answer(None, **grounded(web("a"))),
    )
    assert (metrics(found).tokens_in, metrics(found).tokens_out) == (9, 9)
    assert len(citations(found)) == 1
    assert end(found) == p.End("done-dialect", "ok", None, "STOP")


def test_the_last_usage_counts_and_what_it_leaves_out_is_nothing() -> None:
    early = {"promptTokenCount": 9, "cachedContentTokenCount": 5, "thoughtsTokenCount": 8}
    late = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    got = metrics(run({"usageMetadata": early}, {**answer([], "STOP"), "usageMetadata": late}))
    assert (got.tokens_in, got.tokens_cache_read, got.tokens_out, got.tokens_out_reasoning) == (9, 0, 3, 0)


def test_usage_is_partial_until_the_answer_is_complete() -> None:
    counted = {**answer([{"text": "x"}]), "usageMetadata": {"promptTokenCount": 9}}
    assert metrics(run(counted)).source == "partial"
    assert metrics(run(counted, answer(None, "STOP"))).source == "measured"


def test_usage_that_counts_nothing_is_no_usage() -> None:
    found = run(
        {**answer([], "STOP"), "usageMetadata": {"trafficType": "ON_DEMAND", "promptTokenCount": "9"}}
    )
    assert "Metrics" not in kinds(found)


# How it ends.

STOPS = [
    ("STOP", "ok"),
    ("MAX_TOKENS", "out-of-tokens"),
    ("CONTINUATION", "out-of-tokens"),
    ("SAFETY", "filter-content"),
    ("BLOCKLIST", "filter-content"),
    ("PROHIBITED_CONTENT", "filter-content"),
    ("SPII", "filter-content"),
    ("MODEL_ARMOR", "filter-content"),
    ("ESCALATION", "filter-content"),
    ("PUP_LIMITED_DISABLED", "filter-content"),
    ("IMAGE_SAFETY", "filter-content"),
    ("IMAGE_PROHIBITED_CONTENT", "filter-content"),
    ("IMAGE_OTHER", "filter-content"),
    ("RECITATION", "filter-recitation"),
    ("IMAGE_RECITATION", "filter-recitation"),
    ("LANGUAGE", "filter-refusal"),
]
FAILURES = [
    ("MALFORMED_FUNCTION_CALL", "malformed_tool_call", False),
    ("UNEXPECTED_TOOL_CALL", "malformed_tool_call", False),
    ("TOO_MANY_TOOL_CALLS", "malformed_tool_call", False),
    ("MISSING_THOUGHT_SIGNATURE", "invalid_request", False),
    ("MALFORMED_RESPONSE", "server_error", True),
    ("OTHER", "server_error", True),
    ("NO_IMAGE", "server_error", True),
    ("FINISH_REASON_UNSPECIFIED", "server_error", True),
]


@pytest.mark.parametrize(("reason", "stop"), STOPS)
def test_a_reason_of_an_end_in_good_order_keeps_its_own_word(reason: str, stop: str) -> None:
    found = end(run(answer([{"text": "x"}], reason)))
    assert (found.reason, found.stop, found.native_stop) == ("done-dialect", stop, reason)


@pytest.mark.parametrize(("reason", "kind", "retryable"), FAILURES)
def test_a_reason_of_a_failure_is_an_error(reason: str, kind: str, retryable: bool) -> None:
    found = run(answer([{"text": "x"}], reason, finishMessage="because"))
    assert (error(found).kind, error(found).retryable, error(found).code) == (kind, retryable, reason)
    assert error(found).message.endswith("because")
    assert end(found) == p.End("issue-dialect")


def test_a_filter_tells_what_it_found() -> None:
    ratings = [{"category": "HARM_CATEGORY_HARASSMENT", "blocked": True}, {"category": "OTHER"}]
    assert end(run(answer(None, "SAFETY", safetyRatings=ratings))).detail == "HARM_CATEGORY_HARASSMENT"
    assert end(run(answer(None, "SAFETY", finishMessage="words"))).detail == "words"
    assert end(run(answer(None, "STOP", finishMessage="Model generated function call(s)."))).detail is None


def test_an_unknown_reason_is_an_end_with_a_warning() -> None:
    found = run(answer([{"text": "x"}], "BORED"))
    assert (end(found).stop, end(found).native_stop) == ("ok", "BORED")
    assert only(found, p.Warn).code == "unknown_finish_reason"


def test_a_blocked_prompt_is_a_content_filter_with_the_vendors_word() -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "unsafe"}
    found = end(run({"promptFeedback": feedback}))
    assert (found.stop, found.native_stop, found.detail) == ("filter-content", "SAFETY", "unsafe")


def test_feedback_that_blocks_nothing_is_no_end() -> None:
    assert error(run({"promptFeedback": {"safetyRatings": []}})).kind == "stream_truncated"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Proxy error: 503 Service Unavailable", "overloaded"),
        ("error queueing the request: model is overloaded", "overloaded"),
        ("proxy error: upstream went away", "server_error"),
    ],
)
def test_an_error_in_place_of_a_reason_is_an_error_worth_another_attempt(reason: str, kind: str) -> None:
    found = error(run(answer(None, reason)))
    assert (found.kind, found.retryable) == (kind, True)


def test_numbers_of_the_enumeration_are_read_as_far_as_they_are_the_same_everywhere() -> None:
    assert end(run(answer([{"text": "x"}], 1))).native_stop == "STOP"
    assert end(run(answer([{"text": "x"}], 3))).stop == "filter-content"
    assert error(run(answer([{"text": "x"}], 0))).kind == "stream_truncated"


def test_the_last_reason_counts_but_an_unspecified_one_says_nothing_more() -> None:
    assert end(run(answer([{"text": "x"}], "STOP"), answer(None, "RECITATION"))).native_stop == "RECITATION"
    assert end(run(answer([{"text": "x"}], "STOP"), answer(None, "FINISH_REASON_UNSPECIFIED"))).stop == "ok"
    assert end(run(answer(None, "OTHER"), answer([{"text": "x"}], "STOP"))).stop == "ok"


def test_a_closed_socket_without_a_reason_is_a_truncation() -> None:
    found = run(answer([{"text": "x"}]))
    assert error(found).kind == "stream_truncated"
    assert end(found).stop is None


def test_a_reset_after_the_reason_is_a_success_with_a_warning() -> None:
    found = run(answer([{"text": "x"}], "STOP"), failure=RESET)
    assert end(found).stop == "ok"
    assert only(found, p.Warn).code == "reset_after_end"


def test_lost_parts_after_a_reason_are_no_success_and_a_lost_rest_is_one() -> None:
    stop = b"data: " + json.dumps(answer([{"text": "x"}], "STOP")).encode() + b"\n\n"
    lost = particles(DIALECT, [stop + b'data: {"candidates":[{"content":{"parts":[{"text":"and mo'])
    assert error(lost).kind == "stream_truncated"
    rest = particles(DIALECT, [stop + b'data: {"usageMetadata":{"promptTok'])
    assert end(rest).stop == "ok"


# Errors in the stream, and other shapes of a body.

UNAVAILABLE = {
    "error": {
        "code": 503,
        "message": "The model is overloaded.",
        "status": "UNAVAILABLE",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}],
    }
}


@pytest.mark.parametrize("body", [UNAVAILABLE, [UNAVAILABLE], {"response": UNAVAILABLE}])
def test_an_error_object_in_the_stream_is_an_error_with_its_delay(body: Any) -> None:
    found = error(run(body))
    assert (found.kind, found.retryable, found.retry_after) == ("overloaded", True, 2.5)


@pytest.mark.parametrize("body", [UNAVAILABLE, [UNAVAILABLE]])
def test_an_error_as_the_whole_body_is_the_same_error(body: Any) -> None:
    found = error(particles(DIALECT, [json.dumps(body, indent=1).encode()]))
    assert (found.kind, found.retry_after) == ("overloaded", 2.5)


def test_an_error_in_words_is_an_error() -> None:
    assert error(run({"error": "boom"})).message == "boom"


def test_an_error_after_text_keeps_the_text() -> None:
    found = run(answer([{"text": "half"}]), UNAVAILABLE)
    assert message(found).text == "half"
    assert end(found) == p.End("issue-dialect")


def test_a_list_an_object_and_an_envelope_say_the_same_as_a_stream() -> None:
    data = [answer([{"text": "a"}]), answer([{"text": "b"}], "STOP")]
    wanted = message(run(*data)).text
    assert message(particles(DIALECT, [json.dumps(data).encode()])).text == wanted
    assert message(run(*({"response": d, "traceId": "t"} for d in data))).text == wanted
    whole = particles(DIALECT, [json.dumps(answer([{"text": "ab"}], "STOP")).encode()])
    assert message(whole).text == wanted
    assert end(whole).stop == "ok"


def test_a_done_mark_of_a_proxy_says_nothing() -> None:
    body = b"data: " + json.dumps(answer([{"text": "x"}])).encode() + b"\n\ndata: [DONE]\n\n"
    found = particles(DIALECT, [body])
    assert error(found).kind == "stream_truncated"
    assert "Warn" not in kinds(found)


# Nothing of it can be trusted.

JUNK = (
    None,
    0,
    -1,
    1.5,
    10**40,
    "",
    "x",
    "\ud800",
    True,
    [],
    {},
    [None],
    [[]],
    [{}],
    {"a": None},
    {"text": 1},
)


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inner):
        found.append((value, key))
        places(item, found)
    return found


def test_only_value_errors_leave_the_parser_whatever_stands_where() -> None:
    dice = random.Random("gemini")
    events = [
        line.removeprefix("data: ").strip()
        for recording in LIVE
        for line in recording.body.decode().split("\n")
        if line.startswith("data: ")
    ]
    for _ in range(3000):
        parser, out = GenerateParser(), Transmitter(lambda: "made")
        for text in dice.sample(events, 3):
            value = json.loads(text)
            for _ in range(dice.randint(1, 4)):
                holder, key = dice.choice(places(value, []) or [([0], 0)])
                if isinstance(holder, dict) and dice.random() < 0.2:
                    del holder[key]
                else:
                    holder[key] = deepcopy(dice.choice(JUNK))
            try:
                parser.parse(WireEvent(json.dumps(value)), out)
            except ValueError:
                continue
        parser.eof(out)
        for particle in out.drain():
            json.dumps(to_wire(particle))


@pytest.mark.parametrize("data", ["", "{", "null", "3", '"x"', "[1]", "[[]]", "nonsense"])
def test_what_is_no_response_is_not_of_the_grammar(data: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        GenerateParser().parse(WireEvent(data), Transmitter(lambda: "made"))
