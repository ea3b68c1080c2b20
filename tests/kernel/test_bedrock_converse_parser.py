"""The grammar of Converse: what each event means, and what ends an answer."""

import base64
import json
from pathlib import Path

import pytest

from fakes.converse import METADATA, START, STOP, body, closed, delta, of, opened, said, stopped, whole
from fakes.eventstream import event
from fakes.recordings import WIRE, message
from motes import particles as p

RECORDINGS = sorted((WIRE / "bedrock-converse").glob("*/expected.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_a_recording_gives_the_message_beside_it(
    path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from motes.cli import main

    assert main(["replay", str(path.parent)]) == 0
    row = json.loads(capfdbinary.readouterr().out)
    assert row.pop("recording") == str(path.parent)
    assert row == json.loads(path.read_text())


def test_the_counts_that_come_after_the_stop_are_not_lost() -> None:
    run = said(START, delta(0, text="Hi"), STOP, METADATA)
    (metrics,) = of(p.Metrics, run)
    assert (metrics.tokens_in, metrics.tokens_out, metrics.tokens_total) == (7, 9, 16)
    assert run[-1] == p.End("done-dialect", "ok", None, "end_turn")


def test_without_the_counts_the_answer_is_complete_at_the_end_of_the_body() -> None:
    run = said(START, delta(0, text="Hi"), STOP)
    assert run[-1] == p.End("done-dialect", "ok", None, "end_turn")
    assert of(p.Metrics, run) == []


def test_counts_before_the_stop_do_not_end_the_answer() -> None:
    run = said(START, METADATA, delta(0, text="Hi"), STOP)
    assert [x.text for x in of(p.Text, run)] == ["Hi"]
    assert run[-1] == p.End("done-dialect", "ok", None, "end_turn")


def test_an_answer_without_its_stop_is_cut() -> None:
    run = said(START, delta(0, text="Hi"), closed(0))
    (issue,) = of(p.Issue, run)
    assert issue.error.kind == "stream_truncated"
    assert run[-1].stop is None


def test_input_is_counted_in_its_three_parts_and_the_latency_is_told() -> None:
    usage = {
        "inputTokens": 1,
        "outputTokens": 2,
        "totalTokens": 33,
        "cacheReadInputTokens": 10,
        "cacheWriteInputTokens": 20,
    }
    run = said(START, STOP, event("metadata", {"usage": usage, "metrics": {"latencyMs": 512}}))
    (metrics,) = of(p.Metrics, run)
    assert (metrics.tokens_in, metrics.tokens_cache_read, metrics.tokens_cache_write) == (1, 10, 20)
    assert metrics.inner_ms == 512


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", "ok"),
        ("stop_sequence", "ok"),
        ("tool_use", "ok-tool_invocations"),
        ("max_tokens", "out-of-tokens"),
        ("model_context_window_exceeded", "out-of-tokens"),
        ("guardrail_intervened", "filter-content"),
        ("content_filtered", "filter-content"),
        ("something_new", "ok"),
    ],
)
def test_every_stop_reason_has_its_meaning_and_keeps_its_word(word: str, stop: str) -> None:
    assert said(START, delta(0, text="Hi"), stopped(word), METADATA)[-1] == p.End(
        "done-dialect", stop, None, word
    )


@pytest.mark.parametrize(
    ("word", "kind", "retryable"),
    [("malformed_tool_use", "malformed_tool_call", False), ("malformed_model_output", "server_error", True)],
)
def test_an_answer_that_its_own_server_cannot_read_is_a_failure_with_its_counts(
    word: str, kind: str, retryable: bool
) -> None:
    run = said(START, delta(0, text="Hi"), stopped(word), METADATA)
    (issue,) = of(p.Issue, run)
    assert (issue.error.kind, issue.error.code, issue.error.retryable) == (kind, word, retryable)
    assert of(p.Metrics, run)[0].tokens_out == 9
    assert said(START, stopped(word))[-1].stop is None


def test_why_a_guardrail_stepped_in_is_told_where_the_trace_says_so() -> None:
    trace = {"guardrail": {"actionReason": "No action.\nGuardrail masked."}}
    run = said(
        START, delta(0, text="{NAME}"), stopped("guardrail_intervened"), event("metadata", {"trace": trace})
    )
    assert run[-1].detail == "No action. Guardrail masked."


def test_a_prompt_router_tells_which_model_answers() -> None:
    trace = {"promptRouter": {"invokedModelId": "arn:aws:bedrock:us-east-1::foundation-model/x"}}
    (name,) = of(p.ModelName, said(START, STOP, event("metadata", {"trace": trace})))
    assert name.name.endswith("/x")


def test_fields_of_the_model_that_the_caller_asked_for_are_kept() -> None:
    stop = {"stopReason": "end_turn", "additionalModelResponseFields": {"stop_sequence": "END"}}
    expected = p.VendorState("bedrock", {"additionalModelResponseFields": {"stop_sequence": "END"}})
    assert expected in said(START, delta(0, text="x"), event("messageStop", stop), METADATA)
    assert expected in body({"output": {"message": {"content": [{"text": "x"}]}}, **stop})


def test_the_number_of_a_block_is_not_the_number_of_a_call() -> None:
    use = {"toolUseId": "t1", "name": "f"}
    run = said(
        START,
        delta(0, text="Hm."),
        closed(0),
        opened(4, toolUse=use),
        delta(4, toolUse={"input": '{"a"'}),
        delta(4, toolUse={"input": ":1}"}),
        closed(4),
        stopped("tool_use"),
        METADATA,
    )
    (call,) = message(run).tool_calls
    assert (call.id, call.name, call.arguments) == ("t1", "f", '{"a":1}')


def test_calls_may_be_parallel_and_without_arguments() -> None:
    first, second = {"toolUseId": "a", "name": "f"}, {"toolUseId": "b", "name": "g"}
    run = said(
        START,
        opened(0, toolUse=first),
        closed(0),
        opened(1, toolUse=second),
        delta(1, toolUse={"input": ""}),
        closed(1),
        stopped("tool_use"),
        METADATA,
    )
    assert [(c.id, c.name, c.arguments) for c in message(run).tool_calls] == [
        ("a", "f", "{}"),
        ("b", "g", "{}"),
    ]


def test_pieces_of_calls_that_interleave_find_their_call() -> None:
    a, b = {"toolUseId": "a", "name": "f"}, {"toolUseId": "b", "name": "g"}
    run = said(
        START,
        opened(0, toolUse=a),
        opened(1, toolUse=b),
        delta(0, toolUse={"input": '{"x":'}),
        delta(1, toolUse={"input": "{}"}),
        delta(0, toolUse={"input": "1}"}),
        stopped("tool_use"),
    )
    assert [(c.id, c.arguments) for c in message(run).tool_calls] == [("a", '{"x":1}'), ("b", "{}")]


def test_reasoning_is_streamed_and_its_signature_stands_behind_it() -> None:
    run = said(
        START,
        delta(0, reasoningContent={"text": "Let me"}),
        delta(0, reasoningContent={"text": " see."}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        closed(0),
        delta(1, text="Yes."),
        STOP,
    )
    assert [x for x in run if isinstance(x, p.Reasoning | p.ReasoningSignature | p.Text)] == [
        p.Reasoning("Let me"),
        p.Reasoning(" see."),
        p.ReasoningSignature("c2ln"),
        p.Text("Yes."),
    ]


def test_a_signature_comes_before_the_next_block_even_where_nobody_closed_its_own() -> None:
    run = said(
        START,
        delta(0, reasoningContent={"text": "Hm."}),
        delta(0, reasoningContent={"signature": "s"}),
        delta(1, text="Yes."),
        STOP,
    )
    assert run.index(p.ReasoningSignature("s")) < run.index(p.Text("Yes."))


def test_a_signature_without_a_text_has_a_block_of_its_own() -> None:
    run = said(START, delta(0, reasoningContent={"signature": "s"}), closed(0), STOP)
    assert [x for x in run if isinstance(x, p.Reasoning | p.ReasoningSignature)] == [
        p.Reasoning(""),
        p.ReasoningSignature("s"),
    ]


def test_encrypted_reasoning_in_pieces_is_one_parcel() -> None:
    pieces = [base64.b64encode(part).decode() for part in (b"ab", b"cde")]
    run = said(
        START, *[delta(0, reasoningContent={"redactedContent": piece}) for piece in pieces], closed(0), STOP
    )
    assert of(p.ReasoningRedacted, run) == [p.ReasoningRedacted(base64.b64encode(b"abcde").decode())]


def test_a_second_reasoning_block_is_a_new_one() -> None:
    run = said(
        START,
        delta(0, reasoningContent={"text": "a"}),
        closed(0),
        delta(1, reasoningContent={"text": "b"}),
        STOP,
    )
    assert of(p.Reasoning, run) == [p.Reasoning("a"), p.Reasoning("b", restart=True)]


def test_citations_cover_their_block_and_are_told_when_it_ends() -> None:
    place = {"documentPage": {"documentIndex": 0, "start": 3, "end": 4}}
    run = said(
        START,
        delta(0, text="So: "),
        closed(0),
        delta(1, citation={"title": "Rules", "location": place, "sourceContent": [{"text": "in"}]}),
        delta(1, citation={"sourceContent": [{"text": "deed"}]}),
        delta(1, text="it is."),
        closed(1),
        STOP,
    )
    assert of(p.Citation, run) == [
        p.Citation(
            "Rules",
            "",
            start=4,
            end=10,
            text="indeed",
            document="Rules",
            location={"type": "documentPage", "documentIndex": 0, "start": 3, "end": 4},
        )
    ]


def test_a_page_of_the_web_is_cited_by_its_address() -> None:
    run = said(
        START,
        delta(0, text="x"),
        delta(0, citation={"location": {"web": {"url": "https://a.example/b", "domain": "a.example"}}}),
        closed(0),
        STOP,
    )
    (citation,) = of(p.Citation, run)
    assert (citation.url, citation.title, citation.document) == ("https://a.example/b", "a.example", None)


def test_a_tool_of_the_service_is_an_operation_and_no_call() -> None:
    use = {"toolUseId": "s", "name": "nova_code_interpreter", "type": "server_tool_use"}
    run = said(
        START,
        opened(0, toolUse=use),
        delta(0, toolUse={"input": '{"snippet":"1+1"}'}),
        closed(0),
        opened(1, toolResult={"toolUseId": "s", "status": "error"}),
        delta(1, toolResult=[{"json": {"stdOut": "2"}}]),
        closed(1),
        STOP,
    )
    active, known, done = of(p.Operation, run)
    assert (active.state, known.inputs) == (None, ("1+1",))
    assert (done.id, done.state, done.outputs) == ("s", "error", ('{"stdOut":"2"}',))
    assert message(run).tool_calls == []


def test_an_image_in_pieces_is_one_image() -> None:
    pieces = [base64.b64encode(part).decode() for part in (b"\x89PN", b"G..")]
    run = said(
        START,
        opened(0, image={"format": "png"}),
        *[delta(0, image={"source": {"bytes": piece}}) for piece in pieces],
        closed(0),
        STOP,
    )
    assert of(p.Image, run) == [p.Image("image/png", base64.b64encode(b"\x89PNG..").decode())]


def test_think_tags_of_models_that_have_no_other_way_are_reasoning() -> None:
    answer = whole(START, delta(0, text="<thin"), delta(0, text="king>Hm.</thinking>Yes"), STOP)
    assert (answer.reasoning, answer.text) == ("Hm.", "Yes")


def test_a_whole_body_is_read_as_the_stream_it_could_have_been() -> None:
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
        {"text": "One call."},
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": [1]}}},
        {"image": {"format": "jpeg", "source": {"bytes": "aW1n"}}},
        {"audio": {"format": "mp3", "source": {"bytes": "Y2xpcA=="}}},
        {"video": {"format": "three_gp", "source": {"bytes": "dmlkZW8="}}},
    ]
    run = body(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use",
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            "metrics": {"latencyMs": 4},
        }
    )
    answer = message(run)
    assert (answer.reasoning, answer.text, answer.tool_calls[0].arguments) == (
        "Hm.",
        "One call.",
        '{"a":[1]}',
    )
    assert p.ReasoningSignature("s") in run
    assert {
        p.Image("image/jpeg", "aW1n"),
        p.Audio("audio/mpeg", "Y2xpcA=="),
        p.Video("video/3gpp", "dmlkZW8="),
    } <= {x for x in run if isinstance(x, p.Image | p.Audio | p.Video)}
    assert run[-1] == p.End("done-dialect", "ok-tool_invocations", None, "tool_use")
