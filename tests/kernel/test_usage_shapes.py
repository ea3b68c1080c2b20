"""Each vendor's way to count, as its reference has it: what it means in our counts, and what it costs.

The price is one for all: $1 a million tokens of input and $10 of output, $0.10 read from a cache, $1.25 written
to one and $2 for an hour; costs below are millionths of a dollar.
"""

from decimal import Decimal
from typing import Any

import pytest

from fakes.eventstream import event
from fakes.recordings import particles
from motes import particles as p
from motes.costs import Rates, prompt_of
from motes.dialects.base import NO_TRAITS, DialectName
from motes.dialects.registry import resolve
from motes.egress.reply import usage
from motes.intake import parse_request
from motes.model_rules import of_model
from motes.quirks import NO_QUIRKS
from motes.vendors.table import VENDORS
from motes.vendors.vendor import Surface, Vendor

RATES = Rates(
    input=Decimal(1),
    output=Decimal(10),
    cached_input=Decimal("0.1"),
    cache_write=Decimal("1.25"),
    cache_write_1h=Decimal(2),
)


def sse(*data: Any) -> bytes:
    import json

    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in data)


def chat(usage: Any, **more: Any) -> bytes:
    done = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    return sse(done, {"choices": [], "usage": usage} | more) + b"data: [DONE]\n\n"


def messages(start: Any, delta: Any) -> bytes:
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": delta}
    return sse({"type": "message_start", "message": {"usage": start}}, stop, {"type": "message_stop"})


def generate(usage: Any) -> bytes:
    parts = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
    return sse({"candidates": [parts], "usageMetadata": usage})


def responses(usage: Any) -> bytes:
    return sse({"type": "response.completed", "response": {"id": "r", "status": "completed", "usage": usage}})


def interactions(usage: Any) -> bytes:
    done = {"id": "i", "status": "completed", "usage": usage}
    return sse({"event_type": "interaction.completed", "interaction": done})


def converse(usage: Any) -> bytes:
    stop = event("messageStop", {"stopReason": "end_turn"})
    return stop + event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})


def cohere(usage: Any) -> bytes:
    return sse({"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}})


def ollama(counts: dict[str, Any]) -> bytes:
    import json

    return (
        json.dumps({"message": {"content": "x"}, "done": True, "done_reason": "stop", **counts}).encode()
        + b"\n"
    )


# vendor, dialect, bytes; prompt, cached, written, of it for an hour, completion, reasoning; millionths of a dollar
Shape = tuple[str, DialectName, bytes, tuple[int | None, ...], float | None]

SHAPES: dict[str, Shape] = {
    "openai: cached and reasoning are parts": (
        "openai",
        "openai-chat",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 40},
                "completion_tokens_details": {"reasoning_tokens": 30},
            }
        ),
        (100, 40, None, None, 50, 30),
        60 + 4 + 500,
    ),
    "openai: nothing is zero": (
        "openai",
        "openai-chat",
        chat({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        (0, None, None, None, 0, None),
        0,
    ),
    "azure: as openai": (
        "azure",
        "openai-chat",
        chat({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}),
        (10, None, None, None, 5, None),
        60,
    ),
    "openai responses": (
        "openai",
        "openai-responses",
        responses(
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 150,
            }
        ),
        (100, 0, None, None, 50, 0),
        600,
    ),
    "anthropic: three inputs that exclude each other, cumulative output": (
        "anthropic",
        "anthropic-messages",
        messages(
            {
                "input_tokens": 20,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 40,
                "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10},
                "output_tokens": 1,
            },
            {"output_tokens": 50},
        ),
        (160, 100, 40, 10, 50, None),
        20 + 10 + 30 * 1.25 + 10 * 2 + 500,
    ),
    "anthropic: no cache at all is zero, since it says so": (
        "anthropic",
        "anthropic-messages",
        messages(
            {
                "input_tokens": 20,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
                "output_tokens": 1,
            },
            {"output_tokens": 5},
        ),
        (20, 0, 0, None, 5, None),
        70,
    ),
    "bedrock: as anthropic, in camels": (
        "bedrock",
        "bedrock-converse",
        converse(
            {
                "inputTokens": 20,
                "cacheReadInputTokens": 100,
                "cacheWriteInputTokens": 40,
                "cacheDetails": [{"ttl": "5m", "inputTokens": 30}, {"ttl": "1h", "inputTokens": 10}],
                "outputTokens": 50,
                "totalTokens": 210,
            }
        ),
        (160, 100, 40, 10, 50, None),
        20 + 10 + 30 * 1.25 + 10 * 2 + 500,
    ),
    "gemini: the prompt has the cached, the answer lacks the thoughts": (
        "gemini",
        "gemini-generate",
        generate(
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 40,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 30,
                "totalTokenCount": 150,
            }
        ),
        (100, 40, None, None, 50, 30),
        60 + 4 + 500,
    ),
    "gemini interactions": (
        "gemini",
        "gemini-interactions",
        interactions(
            {
                "total_input_tokens": 100,
                "total_cached_tokens": 40,
                "total_output_tokens": 20,
                "total_thought_tokens": 30,
                "total_tokens": 150,
            }
        ),
        (100, 40, None, None, 50, 30),
        60 + 4 + 500,
    ),
    "xai: the answer lacks the reasoning": (
        "xai",
        "openai-chat",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 30},
            }
        ),
        (100, None, None, None, 50, 30),
        600,
    ),
    "deepseek: hit and miss": (
        "deepseek",
        "openai-chat",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_cache_hit_tokens": 40,
                "prompt_cache_miss_tokens": 60,
            }
        ),
        (100, 40, None, None, 50, None),
        60 + 4 + 500,
    ),
    "moonshot: inside the choice, the cached at the top": (
        "moonshot",
        "openai-chat",
        sse(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": "x"},
                        "finish_reason": "stop",
                        "usage": {
                            "prompt_tokens": 100,
                            "completion_tokens": 50,
                            "total_tokens": 150,
                            "cached_tokens": 40,
                        },
                    }
                ]
            }
        )
        + b"data: [DONE]\n\n",
        (100, 40, None, None, 50, None),
        60 + 4 + 500,
    ),
    "groq: under its own key": (
        "groq",
        "openai-chat",
        sse({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]})
        + sse(
            {
                "choices": [],
                "x_groq": {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}},
            }
        )
        + b"data: [DONE]\n\n",
        (10, None, None, None, 5, None),
        60,
    ),
    "openrouter: what was written is told": (
        "openrouter",
        "openai-chat",
        chat(
            {
                "prompt_tokens": 160,
                "completion_tokens": 50,
                "total_tokens": 210,
                "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 40},
            }
        ),
        (160, 100, 40, None, 50, None),
        20 + 10 + 40 * 1.25 + 500,
    ),
    "cohere: all tokens, and not what is billed": (
        "cohere",
        "cohere-chat",
        cohere(
            {
                "billed_units": {"input_tokens": 5, "output_tokens": 50},
                "tokens": {"input_tokens": 100, "output_tokens": 50},
                "cached_tokens": 40,
            }
        ),
        (100, 40, None, None, 50, None),
        60 + 4 + 500,
    ),
    "ollama": (
        "ollama",
        "ollama-chat",
        ollama({"prompt_eval_count": 10, "eval_count": 5}),
        (10, None, None, None, 5, None),
        60,
    ),
    "ollama: a prompt that is not counted is not zero": (
        "ollama",
        "ollama-chat",
        ollama({"eval_count": 5}),
        (None, None, None, None, 5, None),
        None,
    ),
}


def metrics_of(vendor: str, dialect: DialectName, wire: bytes) -> p.Metrics:
    row = VENDORS[vendor]
    surface = next((one for one in row.surfaces if one.dialect == dialect), row.surfaces[0])
    quirks = of_model(surface.quirks or row.quirks, "m") if surface.dialect == dialect else NO_QUIRKS
    said = [one for one in particles(resolve(dialect), [wire], quirks) if isinstance(one, p.Metrics)]
    assert said
    return said[-1]


@pytest.mark.parametrize(("vendor", "dialect", "wire", "counts", "cost"), SHAPES.values(), ids=SHAPES.keys())
def test_a_vendors_counts_are_ours_and_have_their_price(
    vendor: str, dialect: DialectName, wire: bytes, counts: tuple[int | None, ...], cost: float | None
) -> None:
    told = metrics_of(vendor, dialect, wire)
    assert (
        prompt_of(told),
        told.tokens_cache_read,
        told.tokens_cache_write,
        told.tokens_cache_write_1h,
        told.tokens_out,
        told.tokens_out_reasoning,
    ) == counts
    price = RATES(told)
    assert (None if price is None else float(price * 1_000_000)) == cost
    shown = usage(told)
    if shown is not None:
        assert (shown["prompt_tokens"], shown["completion_tokens"]) == (counts[0], counts[4])
        assert ("cached_tokens" in shown.get("prompt_tokens_details", {})) == (counts[1] is not None)


MEDIA: dict[str, tuple[str, DialectName, bytes]] = {
    "openai": (
        "openai",
        "openai-chat",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"audio_tokens": 30, "image_tokens": 20},
                "completion_tokens_details": {"audio_tokens": 40},
            }
        ),
    ),
    "gemini": (
        "gemini",
        "gemini-generate",
        generate(
            {
                "promptTokenCount": 100,
                "candidatesTokenCount": 50,
                "totalTokenCount": 150,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 50},
                    {"modality": "AUDIO", "tokenCount": 30},
                    {"modality": "IMAGE", "tokenCount": 20},
                ],
                "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 40}],
            }
        ),
    ),
    "gemini interactions": (
        "gemini",
        "gemini-interactions",
        interactions(
            {
                "total_input_tokens": 100,
                "total_output_tokens": 50,
                "input_tokens_by_modality": [
                    {"modality": "audio", "tokens": 30},
                    {"modality": "image", "tokens": 20},
                ],
                "output_tokens_by_modality": [{"modality": "audio", "tokens": 40}],
            }
        ),
    ),
}


@pytest.mark.parametrize(("vendor", "dialect", "wire"), MEDIA.values(), ids=MEDIA.keys())
def test_audio_and_images_are_told_apart_where_the_vendor_does(
    vendor: str, dialect: DialectName, wire: bytes
) -> None:
    told = metrics_of(vendor, dialect, wire)
    assert (prompt_of(told), told.tokens_out) == (100, 50)
    assert (told.tokens_in_audio, told.tokens_in_image) == (30, 20)
    assert (told.tokens_out_audio, told.tokens_out_image) == (40, None)


@pytest.mark.parametrize(
    ("wire", "cents"),
    [
        (chat({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0123}), 1.23),
        (chat({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0}), 0),
        (chat({"prompt_tokens": 1, "completion_tokens": 1, "cost": {"total_cost": 0.5}}), 50),
        (chat({"prompt_tokens": 1, "completion_tokens": 1, "estimated_cost": 0.25}), 25),
        (chat({"prompt_tokens": 1, "completion_tokens": 1, "cost_in_usd_ticks": 123_000_000}), 1.23),
        (chat({"prompt_tokens": 1, "completion_tokens": 1}), None),
    ],
)
def test_what_a_vendor_says_that_it_bills(wire: bytes, cents: float | None) -> None:
    assert metrics_of("openai", "openai-chat", wire).cost_cents == cents


CHATS = [(row, at) for row in VENDORS.values() for at in row.surfaces if at.dialect == "openai-chat"]
# What these send without being asked, in the last chunk, and what they say to who asks: nothing, and a 422.
UNASKED = {"perplexity", "mistral", "sakanaai"}


@pytest.mark.parametrize(("row", "surface"), CHATS, ids=lambda one: getattr(one, "id", ""))
@pytest.mark.parametrize("stream", [True, False, None])
def test_usage_is_asked_of_every_vendor_that_has_to_be_asked_whatever_the_caller_wants(
    row: Vendor, surface: Surface, stream: bool | None
) -> None:
    quirks = of_model(surface.quirks or row.quirks, "m")
    asked = parse_request({"messages": [{"role": "user", "content": "hi"}], "stream": stream})
    body = resolve("openai-chat").body(asked, "m", quirks, NO_TRAITS).json
    if quirks.usage_mode == "ask":
        assert body["stream"] is True
        assert body["stream_options"]["include_usage"] is True
    else:
        assert row.id in UNASKED
        assert "stream_options" not in body
