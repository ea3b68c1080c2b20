"""Sources, images, sound and hosted tools of chat-completions upstreams."""

import base64

from fakes.chat_streams import DONE, FINISHED, body, chunk, codes, completion, read, run, spoken
from motes import particles as p


def test_search_results_are_cited_once_with_number_and_date_before_the_text() -> None:
    results = [{"title": "A", "url": "https://a.example", "date": "2026-01-02"}]
    cost = {"prompt_tokens": 1, "completion_tokens": 1, "cost": {"total_cost": 0.005}}
    found = {"search_results": results, "citations": ["https://a.example"], "usage": cost}
    out = run(chunk({"content": "t"}, **found), chunk({"content": ""}, "stop", **found), DONE)
    assert spoken(out) == [
        p.Citation("A", "https://a.example", number=1, published_at=1767312000000),
        p.Text("t"),
    ]


def test_bare_addresses_are_cited_where_there_are_no_results() -> None:
    found = read(
        chunk({"content": "t"}), chunk(finish="stop", citations=["https://a.example", "https://b.example", 7])
    )
    assert [c.url for c in found.citations] == ["https://a.example", "https://b.example"]


def test_annotations_are_cited_with_their_place() -> None:
    notes = [
        {
            "type": "url_citation",
            "url": "https://flat.example",
            "title": "F",
            "start_index": 1,
            "end_index": 3,
        },
        {"type": "file_citation", "file_citation": {"file_id": "f1", "filename": "a.pdf"}, "index": 9},
        {"type": "file", "file": {"hash": "h", "name": "a.pdf"}},
        {"type": "mood"},
    ]
    m = read(
        chunk({"content": "text", "annotations": notes}), chunk({"annotations": notes[:2]}), FINISHED, DONE
    )
    assert m.citations == [
        p.Citation("F", "https://flat.example", start=1, end=3),
        p.Citation("a.pdf", "", document="a.pdf", start=9, location={"file_id": "f1"}),
    ]
    assert m.vendor_state["openrouter"] == {"annotations": [notes[2]]}
    assert codes(m) == ["unknown_annotation"]


def test_references_point_to_tool_results() -> None:
    parts = [{"type": "text", "text": "six"}, {"type": "reference", "reference_ids": [0, "b", None, 0]}]
    m = read(chunk({"content": parts}), FINISHED, DONE)
    assert [c.document for c in m.citations] == ["0", "b"]


PNG = base64.b64encode(b"\x89PNG....").decode()


def test_images_come_whole_and_once() -> None:
    url = f"data:image/webp;base64,{PNG}"
    picture = {"type": "image_url", "image_url": {"url": url}}
    m = read(
        chunk({"content": [picture, {"type": "image_url", "image_url": "data:;base64,QUJD"}]}),
        chunk({"images": [picture]}),
        FINISHED,
        DONE,
    )
    assert m.media(p.Image) == [p.Image("image/webp", PNG), p.Image("image/png", "QUJD")]


def test_an_image_that_lies_elsewhere_is_a_resource() -> None:
    out = spoken(run(chunk({"images": [{"image_url": {"url": "https://i.example/a.png"}}]}), FINISHED, DONE))
    assert out == [p.HostedResource("image-url", resource="https://i.example/a.png")]


def test_raw_samples_become_one_wav_clip() -> None:
    samples = bytes(range(96))
    pieces = [base64.b64encode(part).decode() for part in (samples[:31], samples[31:])]
    m = read(
        *(chunk({"audio": {"id": "a", "data": piece, "transcript": "la"}}) for piece in pieces),
        chunk({"audio": {"expires_at": 1}}),
        FINISHED,
        DONE,
    )
    (clip,) = m.media(p.Audio)
    wav = base64.b64decode(clip.base64)
    assert (clip.mime, wav[:4], wav[8:16], wav[44:]) == ("audio/wav", b"RIFF", b"WAVEfmt ", samples)
    assert int.from_bytes(wav[24:28], "little") == 24000
    assert isinstance(clip, p.Audio)
    assert (clip.label, clip.duration_ms) == ("lala", 2)


def test_a_clip_in_a_container_stays_as_it_is() -> None:
    data = base64.b64encode(b"ID3\x04rest").decode()
    m = body(completion({"content": None, "audio": {"id": "a", "data": data, "expires_at": 9}}))
    assert m.media(p.Audio) == [p.Audio("audio/mpeg", data)]


def test_sound_that_is_no_base64_is_no_clip() -> None:
    assert read(chunk({"audio": {"data": "!"}}), FINISHED, DONE).media(p.Audio) == []


def test_tools_the_vendor_ran_are_operations_that_end() -> None:
    start = {"index": 0, "type": "python", "arguments": "1+1"}
    out = spoken(
        run(
            chunk({"executed_tools": [start]}),
            chunk({"executed_tools": [start]}),
            chunk({"executed_tools": [start | {"output": "2"}]}),
            FINISHED,
            DONE,
        )
    )
    assert out == [
        p.Operation("executed_0", "python", "code-exec", inputs=("1+1",)),
        p.Operation("executed_0", "python", "code-exec", "done", None, ("1+1",), ("2",)),
    ]
