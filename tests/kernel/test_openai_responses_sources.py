"""Responses streams: where an answer comes from, and directives that leaked into its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.responses_streams import (
    CREATED,
    XAI,
    added,
    codes,
    completed,
    done,
    msg,
    read,
    run,
    spoken,
    step,
    text,
)
from motes import particles as p
from motes.dialects.openai_responses.leaks import Leaks
from motes.quirks import Quirks

PAGE = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2}
MADE = {"type": "container_file_citation", "container_id": "cntr_1", "file_id": "cf_1", "filename": "t.csv"}
FILE = {"type": "file_citation", "file_id": "f_1", "filename": "a.pdf", "index": 2}


@pytest.mark.parametrize("kind", ["output_text.annotation.added", "output_text_annotation.added"])
def test_sources_are_told_once_however_often_they_come(kind: str) -> None:
    notes = [
        step(kind, "msg_1", content_index=0, annotation_index=i, annotation=n)
        for i, n in enumerate((PAGE, MADE, FILE))
    ]
    whole = msg(content=[{"type": "output_text", "text": "Hi", "annotations": [PAGE, MADE, FILE]}])
    expected = [
        p.Text("Hi"),
        p.Citation("A", "https://a", number=0, start=0, end=2),
        p.HostedResource("vnd.oai.container_file", file_id="cf_1", container_id="cntr_1", filename="t.csv"),
        p.Citation("a.pdf", "", document="a.pdf", start=2, location={"file_id": "f_1"}),
    ]
    assert spoken(run(CREATED, added(msg()), text("Hi"), *notes, done(whole), completed(whole))) == expected
    assert spoken(run(CREATED, completed(whole))) == expected


def test_places_count_from_the_beginning_of_the_whole_text() -> None:
    two = {"type": "output_text", "text": "Hi", "annotations": [PAGE]}
    m = read(CREATED, completed(msg("Hello "), msg(id="msg_2", content=[two])))
    assert [(c.start, c.end) for c in m.citations] == [(6, 8)]


def test_an_untitled_source_is_called_by_its_address_and_an_empty_one_is_counted() -> None:
    notes = [{"type": "url_citation", "url": "https://a"}, {"type": "url_citation"}, {"type": "crystal"}]
    m = read(CREATED, completed(msg(content=[{"type": "output_text", "text": "Hi", "annotations": notes}])))
    assert ([c.title for c in m.citations], codes(m)) == (["https://a"], ["unknown_annotation"])


# Leaked directives.

LEAK = "A render_inline_citation<citation_id>10</citation_id> B \ue200render_inline_citation?citation_id=7\u0003C render me"


@pytest.mark.parametrize("size", range(1, 30))
def test_directives_are_taken_out_wherever_they_are_cut(size: int) -> None:
    pieces = [text(LEAK[i : i + size]) for i in range(0, len(LEAK), size)]
    m = read(CREATED, added(msg()), *pieces, done(msg(LEAK)), completed(msg(LEAK)), quirks=XAI)
    assert (m.text, codes(m)) == ("A  B C render me", [])


@given(
    st.lists(
        st.sampled_from(
            [
                "render_inline_citation",
                "<citation_id>",
                "1",
                "</citation_id>",
                "?citation_id=",
                "\ue200",
                "\u0003",
                "r",
                " ",
            ]
        )
    )
)
def test_what_is_taken_out_depends_on_the_text_and_not_on_its_cuts(parts: list[str]) -> None:
    def filtered(pieces: list[str]) -> str:
        leaks = Leaks()
        return "".join([leaks.feed(piece) for piece in pieces]) + leaks.close()

    whole = "".join(parts)
    assert filtered(parts) == filtered([whole]) == filtered(list(whole))


def test_other_vendors_text_is_left_alone() -> None:
    assert read(CREATED, added(msg()), text(LEAK), completed(), quirks=Quirks()).text == LEAK
