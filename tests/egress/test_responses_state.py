"""What a Responses host wants back of an answer, on an OpenAI stream and in the whole answer alike."""

from dataclasses import replace

import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from fakes.particle_runs import END, REPLY, chunks_of, stream_of
from motes import particles as p
from motes.egress.completion import completion
from motes.egress.reply import signature_format
from motes.fragments import ReasoningFragment, TextFragment
from motes.reassembly import Reassembler

FORMAT = "openai-responses-v1"


def kept(id, data, vendor="openai"):
    return p.VendorState(vendor, {"reasoningItem": {"id": id, "encryptedContent": data}})


def phase(word, vendor="openai"):
    return p.VendorState(vendor, {"messagePhase": word})


def whole(particles):
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.finalize()


RUN = (
    p.Reasoning("hm"),
    p.Reasoning(""),
    kept("rs_1", "E1"),
    p.Reasoning("", restart=True),
    kept("rs_2", "E2"),
    phase("commentary"),
    p.Text("Let me "),
    p.Text("see. "),
    phase("final_answer"),
    p.Text("Six."),
    p.ToolCall("c", "f", "{}"),
    END,
)
DETAILS = [
    {"type": "reasoning.encrypted", "data": "E1", "format": FORMAT, "id": "rs_1", "index": 0},
    {"type": "reasoning.encrypted", "data": "E2", "format": FORMAT, "id": "rs_2", "index": 1},
    {"type": "reasoning.phase", "phase": "commentary", "start": 0, "format": FORMAT, "index": 2},
    {"type": "reasoning.phase", "phase": "final_answer", "start": 12, "format": FORMAT, "index": 3},
]


def reply(**changes):
    return replace(REPLY, signature_format=signature_format("openai-responses"), **changes)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "both", "none", "think-tags"])
def test_encrypted_items_and_phases_are_details_streamed_and_whole(field):
    asked = reply(reasoning_field=field)
    state = ChatCompletionStreamState()
    for chunk in chunks_of(stream_of(RUN, asked)):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    streamed = state.current_completion_snapshot.model_dump()["choices"][0]["message"]
    told = completion(whole(RUN), asked)["choices"][0]["message"]
    # Where the answer stands behind what was thought, it begins that much later.
    behind = len("<think>hm</think>") if field == "think-tags" else 0
    details = [row | {"start": row["start"] + behind} if "start" in row else row for row in DETAILS]
    assert streamed["reasoning_details"] == told["reasoning_details"] == details
    assert streamed["content"] == told["content"]
    assert streamed["content"].endswith("Let me see. Six.")


@pytest.mark.parametrize("vendor", ["xai", "azure-openai", "sakanaai", "openrouter"])
def test_the_format_names_the_host_that_can_read_it(vendor):
    run = (p.Reasoning(""), kept("rs_1", "E", vendor), p.Text("t"), END)
    (detail,) = completion(whole(run), reply())["choices"][0]["message"]["reasoning_details"]
    assert detail["format"] == f"{vendor}-responses-v1"


def test_a_phase_without_text_is_told_nowhere():
    run = (phase("commentary"), p.Refusal("no"), END)
    assert "reasoning_details" not in completion(whole(run), reply())["choices"][0]["message"]
    assert b"reasoning_details" not in stream_of(run, reply())


@pytest.mark.parametrize(
    "state", [{}, {"reasoningItem": 3}, {"reasoningItem": {"id": "x"}}, {"messagePhase": []}, 7]
)
def test_garbage_in_a_state_is_told_nowhere(state):
    run = (p.Reasoning("hm"), p.VendorState("openai", state), p.Text("t"), END)
    assert "reasoning_details" not in completion(whole(run), reply())["choices"][0]["message"]
    assert b"reasoning_details" not in stream_of(run, reply())


def test_state_hangs_on_its_own_fragment():
    first, second, *rest = whole(RUN).fragments
    assert isinstance(first, ReasoningFragment)
    assert (first.text, first.state["openai"]["reasoningItem"]["id"]) == ("hm", "rs_1")
    assert isinstance(second, ReasoningFragment)
    assert (second.text, second.state["openai"]["reasoningItem"]["id"]) == ("", "rs_2")
    texts = [(f.text, f.state["openai"]["messagePhase"]) for f in rest if isinstance(f, TextFragment)]
    assert texts == [("Let me see. ", "commentary"), ("Six.", "final_answer")]
