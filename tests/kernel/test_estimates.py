"""About how many tokens a request is: of everything that a request may hold, and never an exception."""

import json
from pathlib import Path
from typing import Any

import pytest

from motes import particles as p
from motes.estimates import prompt_tokens, size_of, tokens_of
from motes.intake import parse_request

EVERYTHING = json.loads((Path(__file__).parents[1] / "explain" / "request.json").read_bytes())
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def tokens(content: Any, **more: Any) -> int:
    return prompt_tokens(parse_request({"messages": [{"role": "user", "content": content}], **more}))


def test_a_request_with_everything_has_an_estimate() -> None:
    assert prompt_tokens(parse_request(EVERYTHING)) > 50


def test_text_tools_and_calls_count_by_their_bytes() -> None:
    assert tokens("x" * 400) == 101
    assert tokens("é" * 200) == 101
    assert tokens("x" * 400, tools=[TOOL]) > 110
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "y" * 400}}
    told = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert prompt_tokens(parse_request({"messages": told})) > 100


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}},
        {"type": "input_audio", "input_audio": {"data": "A" * 40_000, "format": "wav"}},
        {
            "type": "file",
            "file": {"file_data": "data:application/pdf;base64," + "A" * 40_000, "filename": "a.pdf"},
        },
    ],
)
def test_a_picture_a_clip_and_a_file_are_not_taken_for_text(part: dict[str, Any]) -> None:
    assert 100 < tokens([{"type": "text", "text": "x"}, part]) < 1100


def test_an_answer_counts_what_was_written() -> None:
    assert size_of(p.Text("é")) == 2
    assert size_of(p.ToolCall("id", "name", "{}")) == 6
    assert size_of(p.ToolCallArguments("{}")) == 2
    assert size_of(p.Image("image/png", "aaaa")) == 0
    assert (tokens_of(0), tokens_of(1), tokens_of(4), tokens_of(5)) == (0, 1, 1, 2)
