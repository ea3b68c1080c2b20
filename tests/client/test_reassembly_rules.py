"""What each particle does to a message, and how a run's end is judged: one rule a row, the better one where the
rule of old was weak.
"""

import gc
import time
from collections.abc import Callable

import pytest

from motes import particles as p
from motes.errors import VendorError
from motes.fragments import (
    CitationFragment,
    CodeFragment,
    Fragment,
    MediaFragment,
    Message,
    OperationFragment,
    ReasoningFragment,
    RefusalFragment,
    ResourceFragment,
    TextFragment,
    ToolCallFragment,
)
from motes.reassembly import Reassembler

OK = p.End("done-dialect", "ok")
AGAIN = p.RetryReset("srv-op", "since-checkpoint", "busy", 2, 4, 1000)
ANEW = p.RetryReset("cli-ll", "all", "the line broke", 1, 3, 0)
GOES_ON = p.RetryReset("srv-dispatch", "none", "busy", 2, 4, 1000)
JOINED = p.RetryReset("cli-ll", "none", "the line broke", 1, 3, 0)
SEARCH = p.Operation("1", "Searching", "search-web")
CODE = p.CodeCall("c", "python", "1+1", "code_interpreter")
RESULT = p.CodeResult("c", False, "2", "code_interpreter", "upstream")
PICTURE = p.Image("image/png", "aaaa")
PREVIEW = p.Image("image/png", "pppp", partial=True)
CLIP = p.Audio("audio/wav", "bbbb")
FILM = p.Video("video/mp4", "cccc")
FILE = p.HostedResource("vnd.ant.file", file_id="f")
SITE = p.Citation("A", "http://a", start=0, end=3)
ITEM = p.VendorState("openai", {"reasoningItem": {"id": "rs_1"}})
PHASE = p.VendorState("openai", {"messagePhase": "final_answer"})


def grown(*particles: p.Particle) -> Message:
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.message


def finished(*particles: p.Particle) -> Message:
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.finalize()


Rule = tuple[str, tuple[p.Particle, ...], list[Fragment]]
RULES: list[Rule] = [
    ("text opens a fragment", (p.Text("a"),), [TextFragment("a")]),
    ("text goes on in the open one", (p.Text("a"), p.Text("b")), [TextFragment("ab")]),
    ("empty text opens nothing", (p.Text(""),), []),
    (
        "an operation between does not close text",
        (p.Text("a"), SEARCH, p.Text("b")),
        [TextFragment("ab"), OperationFragment(SEARCH)],
    ),
    (
        "a source between does not close text",
        (p.Text("a"), SITE, p.Text("b")),
        [TextFragment("ab"), CitationFragment(SITE)],
    ),
    ("a heartbeat does nothing", (p.Text("a"), p.Heartbeat(), p.Text("b")), [TextFragment("ab")]),
    (
        "reasoning closes text",
        (p.Text("a"), p.Reasoning("r"), p.Text("b")),
        [TextFragment("a"), ReasoningFragment("r"), TextFragment("b")],
    ),
    ("reasoning goes on", (p.Reasoning("r"), p.Reasoning("s")), [ReasoningFragment("rs")]),
    ("empty reasoning makes a block", (p.Reasoning(""),), [ReasoningFragment("")]),
    (
        "reasoning that begins anew is a block of its own",
        (p.Reasoning("r"), p.Reasoning("s", restart=True)),
        [ReasoningFragment("r"), ReasoningFragment("s")],
    ),
    (
        "a signature closes its block",  # of old, the next block ran into it and overwrote the signature
        (p.Reasoning("r"), p.ReasoningSignature("1"), p.Reasoning("s"), p.ReasoningSignature("2")),
        [ReasoningFragment("r", "1"), ReasoningFragment("s", "2")],
    ),
    (
        "a later signature of one block replaces the earlier",
        (p.Reasoning("r"), p.ReasoningSignature("1"), p.ReasoningSignature("2")),
        [ReasoningFragment("r", "2")],
    ),
    (
        "a signature without reasoning makes an empty block",
        (p.Text("a"), p.ReasoningSignature("1")),
        [TextFragment("a"), ReasoningFragment("", "1")],
    ),
    (
        "parcels gather in a block without words",
        (p.ReasoningRedacted("x"), p.ReasoningRedacted("y")),
        [ReasoningFragment(redacted=["x", "y"])],
    ),
    (
        "a parcel after words is a block of its own",
        (p.Reasoning("r"), p.ReasoningRedacted("x")),
        [ReasoningFragment("r"), ReasoningFragment(redacted=["x"])],
    ),
    (
        "a refusal is a fragment of its own kind",
        (p.Refusal("I "), p.Refusal("cannot")),
        [RefusalFragment("I cannot")],
    ),
    (
        "a call closes text, and has no arguments until they come",
        (p.Text("a"), p.ToolCall("i", "f"), p.Text("b")),
        [TextFragment("a"), ToolCallFragment("i", "f"), TextFragment("b")],
    ),
    (
        "argument pieces without an id belong to the latest call",
        (p.ToolCall("i", "f", "{"), p.ToolCallArguments("}")),
        [ToolCallFragment("i", "f", "{}")],
    ),
    (
        "argument pieces with an id belong to theirs",  # of old, to the last fragment, or to none
        (
            p.ToolCall("i", "f"),
            p.ToolCall("j", "g"),
            p.ToolCallArguments("1", "i"),
            p.ToolCallArguments("2", "j"),
        ),
        [ToolCallFragment("i", "f", "1"), ToolCallFragment("j", "g", "2")],
    ),
    (
        "code and its result are one",
        (CODE, p.Text("a"), RESULT),
        [CodeFragment(CODE, RESULT), TextFragment("a")],
    ),
    ("a result without code is kept", (RESULT,), [CodeFragment(None, RESULT)]),
    (
        "code closes text",
        (p.Text("a"), CODE, p.Text("b")),
        [TextFragment("a"), CodeFragment(CODE), TextFragment("b")],
    ),
    (
        "media close text and are kept",  # of old, audio and video were played and forgotten
        (p.Text("a"), PICTURE, CLIP, FILM, p.Text("b")),
        [
            TextFragment("a"),
            MediaFragment(PICTURE),
            MediaFragment(CLIP),
            MediaFragment(FILM),
            TextFragment("b"),
        ],
    ),
    ("a preview gives way to its image", (PREVIEW, PICTURE), [MediaFragment(PICTURE)]),
    (
        "a file closes text",
        (p.Text("a"), FILE, p.Text("b")),
        [TextFragment("a"), ResourceFragment(FILE), TextFragment("b")],
    ),
    (
        "an operation of the same id is an update",
        (SEARCH, p.Operation("1", "Found", "search-web", "done")),
        [OperationFragment(p.Operation("1", "Found", "search-web", "done"))],
    ),
    (
        "an operation stands a level under its parent",
        (SEARCH, p.Operation("2", "Reading", "search-web", parent_id="1")),
        [
            OperationFragment(SEARCH),
            OperationFragment(p.Operation("2", "Reading", "search-web", parent_id="1"), level=1),
        ],
    ),
    (
        "a phase closes text and marks the next one",
        (p.Text("a"), PHASE, p.Text("b"), p.Text("c")),
        [TextFragment("a"), TextFragment("bc", {"openai": {"messagePhase": "final_answer"}})],
    ),
    (
        "a reasoning item hangs on its block",
        (p.Reasoning("r"), ITEM),
        [ReasoningFragment("r", state={"openai": {"reasoningItem": {"id": "rs_1"}}})],
    ),
    (
        "a reasoning item without a block is kept",  # of old, it was dropped
        (p.Text("a"), ITEM),
        [
            TextFragment("a"),
            ReasoningFragment(state={"openai": {"reasoningItem": {"id": "rs_1"}}}),
        ],
    ),
    (
        "a thought signature hangs on the fragment that was told of last",
        (p.ToolCall("i", "f"), p.VendorState("gemini", {"thoughtSignature": "s"})),
        [ToolCallFragment("i", "f", state={"gemini": {"thoughtSignature": "s"}})],
    ),
    (
        "an issue closes text",
        (p.Text("a"), p.Issue("dialect-issue", "no"), p.Text("b")),
        [TextFragment("a"), TextFragment("b")],
    ),
    (
        "a checkpoint closes text",
        (p.Text("a"), p.Note("1"), p.Text("b")),
        [TextFragment("a"), TextFragment("b")],
    ),
    ("a reset that clears nothing keeps all", (p.Text("a"), GOES_ON), [TextFragment("a")]),
    ("who joins again reads on in the same text", (p.Text("a"), JOINED, p.Text("b")), [TextFragment("ab")]),
    (
        "a reset goes back to the checkpoint",
        (p.Text("a"), p.Note("1"), p.Text("b"), AGAIN, p.Text("c")),
        [TextFragment("a"), TextFragment("c")],
    ),
    (
        "a reset without a checkpoint goes back to the beginning",
        (p.Text("a"), AGAIN, p.Text("b")),
        [TextFragment("b")],
    ),
    (
        "a reset of everything forgets the checkpoint",
        (p.Text("a"), p.Note("1"), ANEW, p.Text("b"), AGAIN),
        [],
    ),
    (
        "what changed before the checkpoint is as it was there",
        (
            p.ToolCall("i", "f", "{"),
            SEARCH,
            p.Note("1"),
            p.ToolCallArguments("lost", "i"),
            p.Operation("1", "lost", "search-web", "error"),
            AGAIN,
            p.ToolCallArguments("}", "i"),
        ),
        [ToolCallFragment("i", "f", "{}"), OperationFragment(SEARCH)],
    ),
    (
        "a call of a dead attempt is not the latest any more",
        (p.ToolCall("i", "f"), p.Note("1"), p.ToolCall("j", "g"), AGAIN, p.ToolCallArguments("{}")),
        [ToolCallFragment("i", "f", "{}")],
    ),
    (
        "what follows a reset is never lost with it",  # of old, the queue behind it was cleared too
        (p.Text("a"), AGAIN, p.Text("b"), p.Text("c")),
        [TextFragment("bc")],
    ),
]


@pytest.mark.parametrize(("rule", "particles", "fragments"), RULES, ids=[rule[0] for rule in RULES])
def test_a_particle_does(rule: str, particles: tuple[p.Particle, ...], fragments: list[Fragment]) -> None:
    assert grown(*particles).fragments == fragments


Fact = tuple[str, tuple[p.Particle, ...], Callable[[Message], object], object]
FACTS: list[Fact] = [
    ("the model is the last one named", (p.ModelName("a"), p.ModelName("b")), lambda m: m.model, "b"),
    ("the provider", (p.ProviderInfra("z"),), lambda m: m.provider, "z"),
    ("the first id", (p.ResponseId("1"), p.ResponseId("2")), lambda m: m.response_id, "1"),
    (
        "metrics are a snapshot",
        (p.Metrics(tokens_out=1), p.Metrics(tokens_out=5)),
        lambda m: m.metrics,
        p.Metrics(tokens_out=5),
    ),
    (
        "metrics of a paused turn and its continuation are added",
        (p.Metrics(tokens_out=1), p.Note("1"), p.Metrics(tokens_out=5)),
        lambda m: m.metrics,
        p.Metrics(tokens_out=6),
    ),
    (
        "a run told again is as old as it was",
        (
            p.HandleSet(p.UpstreamHandle("t", "r", 5, None)),
            p.HandleSet(p.UpstreamHandle("t", "r", 9, 20)),
        ),
        lambda m: m.handle,
        p.UpstreamHandle("t", "r", 5, 20),
    ),
    (
        "another run is another handle",
        (
            p.HandleSet(p.UpstreamHandle("t", "r", 5, None)),
            p.HandleSet(p.UpstreamHandle("t", "q", 9, None)),
        ),
        lambda m: m.handle,
        p.UpstreamHandle("t", "q", 9, None),
    ),
    (
        "a container belongs to the message, beside what else its vendor keeps",
        (
            p.VendorState("anthropic", {"container": {"id": "c"}}),
            p.VendorState("anthropic", {"x": {"id": "y"}}),
        ),
        lambda m: m.vendor_state,
        {"anthropic": {"container": {"id": "c"}, "x": {"id": "y"}}},
    ),
    (
        "argument text without a call is told",
        (p.ToolCallArguments("{}"), p.ToolCallArguments("{}")),
        lambda m: [w.code for w in m.warnings],
        ["orphan_arguments"],
    ),
    ("a checkpoint tells what is waited for", (p.Note("2 of 10"),), lambda m: m.waiting, "2 of 10"),
    ("a reset tells what is waited for", (GOES_ON,), lambda m: m.waiting, "busy"),
    ("real content ends the waiting", (GOES_ON, p.Text("a")), lambda m: m.waiting, None),
    ("an operation does not end the waiting", (GOES_ON, SEARCH), lambda m: m.waiting, "busy"),
    (
        "one source cited twice has two places",
        (SITE, p.Citation("A", "http://a", start=7, end=9), p.Citation("B", "http://b")),
        lambda m: [(s.url, s.ranges) for s in m.sources],
        [("http://a", [(0, 3), (7, 9)]), ("http://b", [])],
    ),
    (
        "operations stand under their parents",
        (SEARCH, p.Operation("2", "Reading", "search-web", parent_id="1")),
        lambda m: [(tree.operation.id, [part.operation.id for part in tree.parts]) for tree in m.operations],
        [("1", ["2"])],
    ),
    (
        "an attempt counts, and joining again is none",
        (GOES_ON, JOINED, ANEW),
        lambda m: m.attempts,
        3,
    ),
    ("joining again keeps the answer's id", (p.ResponseId("1"), JOINED), lambda m: m.response_id, "1"),
    ("another attempt has an id of its own", (p.ResponseId("1"), GOES_ON), lambda m: m.response_id, None),
    (
        "what a dead run had is gone",
        (p.ModelName("a"), p.Metrics(tokens_out=1), p.HandleSet(p.UpstreamHandle("t", "r")), ANEW),
        lambda m: (m.model, m.metrics, m.handle),
        (None, None, None),
    ),
    (
        "the vendor's own cost goes before a computed one",
        (p.Metrics(cost_cents=1.5),),
        lambda m: m.cost,
        p.Cost(0.015),
    ),
    ("no cost is told where none is known", (p.Metrics(tokens_out=1),), lambda m: m.cost, None),
]


@pytest.mark.parametrize(("fact", "particles", "read", "value"), FACTS, ids=[fact[0] for fact in FACTS])
def test_a_message_knows(
    fact: str, particles: tuple[p.Particle, ...], read: Callable[[Message], object], value: object
) -> None:
    assert read(grown(*particles)) == value


ENDS = [
    (p.End("done-dispatch-aborted"), "aborted", "stream_truncated"),
    (p.End("done-dialect", "ok"), "completed", None),
    (p.End("done-dialect", "ok-tool_invocations"), "completed", None),
    (p.End("done-dialect", "cg-issue"), "failed", "server_error"),
    (p.End("done-dialect", "out-of-tokens"), "completed", None),
    (p.End("done-dialect", "filter-content"), "failed", "content_blocked"),
    (p.End("done-dialect", "filter-recitation"), "failed", "content_blocked"),
    (p.End("done-dialect", "filter-refusal"), "failed", "content_blocked"),
    (None, "failed", "stream_truncated"),
    # Of old a success with a note. An end without a reason is no evidence of a whole answer.
    (p.End("done-dialect"), "failed", "stream_truncated"),
    (p.End("done-dispatch-closed"), "failed", "stream_truncated"),
    # The reason outranks how the stream closed …
    (p.End("done-dispatch-closed", "ok"), "completed", None),
    (p.End("done-dispatch-closed", "out-of-tokens"), "completed", None),
    # … but not an error after it, which of old was taken for a success.
    (p.End("issue-dialect", "ok"), "failed", "server_error"),
    (p.End("issue-dialect"), "failed", "stream_truncated"),
    (p.End("issue-dispatch-rpc"), "failed", "stream_truncated"),
]


@pytest.mark.parametrize(("end", "outcome", "kind"), ENDS, ids=str)
def test_an_end_is_judged(end: p.End | None, outcome: str, kind: str | None) -> None:
    message = finished(p.Text("a"), *([end] if end else []))
    assert (message.outcome, message.text) == (outcome, "a")
    if outcome != "aborted":
        assert (message.error.kind if message.error else None) == kind


def test_an_issue_says_more_than_its_end() -> None:
    error = VendorError(message="busy", kind="overloaded", http_status=529, retryable=True)
    message = finished(p.Text("a"), p.Issue("dialect-issue", "busy", error), p.End("issue-dialect"))
    assert message.error == error
    bare = finished(p.Issue("dialect-issue", "busy"), p.End("issue-dialect"))
    assert bare.error is not None
    assert bare.error.message == "busy"


def test_a_handle_is_cleared_when_its_run_is_done_and_only_then() -> None:
    handle = p.HandleSet(p.UpstreamHandle("t", "r"))
    assert finished(handle, OK).handle is None
    assert finished(handle, p.End("done-dispatch-closed")).handle is not None
    assert finished(handle, p.End("done-dispatch-aborted")).handle is not None


def test_what_was_only_there_while_it_was_awaited_goes_when_the_run_is_done() -> None:
    assert finished(PREVIEW, GOES_ON, OK).fragments == []
    assert finished(GOES_ON, OK).waiting is None
    failed = finished(PREVIEW, GOES_ON, p.End("done-dispatch-closed"))
    assert (failed.fragments, failed.waiting) == ([MediaFragment(PREVIEW)], "busy")


def test_operations_that_never_ended_are_marked() -> None:
    (broken,) = finished(SEARCH, p.End("done-dispatch-closed")).operations
    assert (broken.operation.state, broken.interrupted) == ("error", True)
    (done,) = finished(SEARCH, OK).operations
    assert (done.operation.state, done.interrupted) == ("done", False)


def test_a_call_that_may_be_half_of_one_is_not_handed_over_and_not_lost() -> None:
    cut = finished(p.ToolCall("i", "f", '{"a":'), p.End("done-dispatch-closed"))
    assert cut.tool_calls == []
    assert cut.fragments == [ToolCallFragment("i", "f", '{"a":')]
    limit = finished(
        p.ToolCall("i", "f", "{}"), p.ToolCall("j", "g", '{"a":'), p.End("done-dialect", "out-of-tokens")
    )
    assert [call.complete for call in limit.tool_calls] == [True, False]


def test_a_second_end_is_told() -> None:
    message = finished(OK, p.End("done-dispatch-closed"))
    assert (message.outcome, [w.code for w in message.warnings]) == ("failed", ["second_end"])


def test_no_particle_of_any_kind_raises() -> None:
    everything = [particle for _, particles, _ in RULES for particle in particles]
    everything += [particle for _, particles, _, _ in FACTS for particle in particles]
    for start in range(len(everything)):
        assert finished(*everything[start:], *everything[:start], OK).outcome == "completed"


def test_very_many_operations_calls_and_resets_cost_no_more_each() -> None:
    def seconds(count: int) -> float:
        reassembler = Reassembler()
        began = time.process_time()
        for number in range(count):
            reassembler.feed(p.Operation(str(number), "a", "search-web"))
            reassembler.feed(p.CodeCall(str(number), "", "", "x"))
        for number in range(count):
            reassembler.feed(p.Operation(str(number), "b", "search-web", "done"))
            reassembler.feed(p.CodeResult(str(number), False, "", "x", "upstream"))
            reassembler.feed(p.Note("n"))
            reassembler.feed(AGAIN)
        reassembler.finalize()
        return time.process_time() - began

    # What others left in this process is not to be collected meanwhile.
    gc.disable()
    try:
        few, many = (min(seconds(count) for _ in range(3)) for count in (2_000, 20_000))
    finally:
        gc.enable()
    assert many < few * 40
