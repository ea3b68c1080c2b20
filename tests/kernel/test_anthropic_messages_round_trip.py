"""What the vendor said, told to an OpenAI client and sent back by it, is what the vendor needs back."""

import json
from typing import Any

import pytest

from fakes.messages_request import sent, user
from fakes.recordings import WIRE, load, message, particles
from motes.dialects.anthropic_messages import DIALECT
from motes.egress.completion import completion
from motes.egress.reply import Reply, signature_format

REPLY = Reply(
    id="chatcmpl-1",
    created=0,
    model="anthropic/m",
    vendor="anthropic",
    upstream_model="m",
    signature_format=signature_format(DIALECT.name),
    include_usage=True,
)


def sent_back(name: str) -> list[dict[str, Any]]:
    """The assistant's turn of the next request, for a client that keeps the message it was given."""
    run = particles(DIALECT, [load(WIRE / "anthropic-messages" / name).body])
    told = json.loads(json.dumps(completion(message(run), REPLY)))["choices"][0]["message"]
    calls = told.get("tool_calls") or []
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "r"} for call in calls]
    made = sent({"messages": [user("q"), told, *results, user("next")]})
    assert made.warnings == ()
    return list(made.json["messages"][1]["content"])


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [
        (
            "anthropic-redacted-thinking",
            [
                {"type": "redacted_thinking", "data": "cGFyY2VsLW9uZQ=="},
                {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJlLW9ubHk="},
            ],
        ),
        (
            "anthropic-everything-at-once",
            [
                {"type": "thinking", "thinking": "hmm", "signature": "c2lnLWFsbA=="},
                {"type": "redacted_thinking", "data": "cGFyY2VsLWFsbA=="},
            ],
        ),
    ],
)
def test_signatures_and_parcels_come_back_verbatim_and_in_order(name: str, reasoning: list[Any]) -> None:
    content = sent_back(name)
    assert content[: len(reasoning)] == reasoning
    assert content[len(reasoning)]["type"] == "text"


def test_calls_come_back_with_their_ids_and_inputs() -> None:
    calls = [block for block in sent_back("anthropic-parallel-tools") if block["type"] == "tool_use"]
    assert [(c["id"], c["input"]) for c in calls] == [
        ("toolu_01faro", {"port": "Faro"}),
        ("toolu_02ria", {"port": "Olhão"}),
        ("toolu_03now", {}),
    ]
