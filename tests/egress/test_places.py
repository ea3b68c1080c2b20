"""With think tags, a place in the text is told as a place in the content: whoever slices it finds the same."""

import re
from dataclasses import replace

import pytest

from fakes.particle_runs import END, REPLY, chunks_of, deltas_of, stream_of
from motes import particles as p
from motes.egress.completion import completion
from motes.reassembly import Reassembler

TEXT = "Ære, 海 and 😀."
CUTS = [(start, end) for start in range(len(TEXT)) for end in range(start + 1, len(TEXT) + 1)]
CITATIONS = [p.Citation(f"{start}-{end}", "http://a", start=start, end=end) for start, end in CUTS]
RUNS = {
    "before": [p.Reasoning("r1"), p.Reasoning("r2"), p.Text(TEXT)],
    "between": [p.Text(TEXT[:4]), p.Reasoning("r1"), p.Text(TEXT[4:7]), p.Reasoning("r2"), p.Text(TEXT[7:])],
    "a call between": [
        p.Reasoning("r1"),
        p.Text(TEXT[:4]),
        p.ToolCall("c", "f", "{}"),
        p.Reasoning("r2"),
        p.Text(TEXT[4:]),
    ],
    "after": [p.Text(TEXT), p.Reasoning("r1")],
    "none": [p.Text(TEXT[:4]), p.Text(TEXT[4:])],
}


def told(run, field):
    """(content, annotations) of the stream and of the whole answer, which are the same."""
    reply = replace(REPLY, reasoning_field=field)
    raw = stream_of(run, reply)
    content = "".join(delta.get("content") or "" for delta in deltas_of(raw))
    annotations = [a["url_citation"] for delta in deltas_of(raw) for a in delta.get("annotations", [])]
    assert chunks_of(raw)[-1]["choices"][0]["finish_reason"]
    reassembler = Reassembler()
    for particle in run:
        reassembler.feed(particle)
    message = completion(reassembler.finalize(), reply)["choices"][0]["message"]
    assert (message["content"], [a["url_citation"] for a in message["annotations"]]) == (content, annotations)
    return content, annotations


@pytest.mark.parametrize("field", ["think-tags", "reasoning_content"])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("name", RUNS)
def test_every_span_of_the_text_is_found_in_the_content(name, field, early):
    run = [*CITATIONS, *RUNS[name], END] if early else [*RUNS[name], *CITATIONS, END]
    content, annotations = told(run, field)
    assert len(annotations) == len(CUTS)
    for (start, end), annotation in zip(CUTS, annotations, strict=True):
        found = content[annotation["start_index"] : annotation["end_index"]]
        assert re.sub("<think>.*?</think>", "", found) == TEXT[start:end]
        assert not found.startswith("<think>")
        assert not found.endswith("</think>")


@pytest.mark.parametrize("place", [(None, None), (0, 0), (3, None), (None, 3), (4, 4)])
def test_a_place_that_is_not_known_is_not_moved(place):
    citation = p.Citation("A", "http://a", start=place[0], end=place[1])
    run = [p.Reasoning("r1"), p.Text(TEXT), citation, END]
    assert told(run, "think-tags")[1] == told(run, "reasoning_content")[1]


def test_the_same_source_is_told_once():
    run = [p.Reasoning("r"), p.Text(TEXT), CITATIONS[0], CITATIONS[0], END]
    assert len(told(run, "think-tags")[1]) == 1
