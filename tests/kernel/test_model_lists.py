"""Each vendor's list of models by its own shape; garbage is left out and never raises."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motes.vendors.model_lists import ListedModel, Page, list_of, read
from motes.vendors.table import VENDORS
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, ListShape, Surface, Vendor

SHAPES = get_args(ListShape)


def only(shape, body):
    (model,) = read(shape, body).models
    return model


def one(shape, entry):
    return only(shape, {"data": [entry]})


def test_openais_entries():
    entry = {"id": "gpt-6-sol", "object": "model", "created": 1780000000, "owned_by": "openai"}
    assert one("openai", entry) == ListedModel(id="gpt-6-sol", created=1780000000)


def test_anthropics_entries_and_the_query_of_the_next_page():
    entry = {
        "id": "claude-opus-5-5",
        "type": "model",
        "display_name": "Claude Opus 5.5",
        "created_at": "2026-06-01T00:00:00Z",
        "max_input_tokens": 1000000,
        "max_tokens": 64000,
        "capabilities": {"thinking": {"supported": True, "types": {}}, "image_input": {"supported": False}},
    }
    page = read("anthropic", {"data": [entry], "has_more": True, "last_id": "a b"})
    assert page.next_query == "after_id=a%20b"
    assert page.models == (
        ListedModel(
            id="claude-opus-5-5",
            name="Claude Opus 5.5",
            created=1780272000,
            context_length=1000000,
            max_output_tokens=64000,
            vision=False,
            reasoning=True,
        ),
    )


def test_googles_entries_lose_their_prefix_and_what_cannot_be_talked_to_is_left_out():
    chat = {
        "name": "models/gemini-2.5-pro",
        "displayName": "Gemini 2.5 Pro",
        "inputTokenLimit": 1048576,
        "outputTokenLimit": 65536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "thinking": True,
    }
    other = {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]}
    page = read("gemini", {"models": [chat, other], "nextPageToken": "x+/="})
    assert page == Page(
        (
            ListedModel(
                id="gemini-2.5-pro",
                name="Gemini 2.5 Pro",
                context_length=1048576,
                max_output_tokens=65536,
                reasoning=True,
            ),
        ),
        "pageToken=x%2B%2F%3D",
    )


def test_togethers_list_is_a_bare_array_with_prices_for_a_million():
    body = [
        {
            "id": "maker/m",
            "type": "chat",
            "display_name": "M",
            "context_length": 131072,
            "pricing": {"input": 0.15, "output": 0.6, "hourly": 0},
        },
        {"id": "maker/picture", "type": "image"},
    ]
    assert only("per-million", body) == ListedModel(
        id="maker/m",
        name="M",
        context_length=131072,
        pricing={"prompt": "0.00000015", "completion": "0.0000006"},
    )


def test_openrouters_price_of_a_router_is_none():
    entry = {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}}
    assert one("openai", entry).pricing == {}


def test_mistrals_entries():
    able = {"completion_chat": True, "function_calling": True, "vision": True, "reasoning": False}
    entry = {"id": "m", "max_context_length": 131072, "capabilities": able}
    model = one("openai", entry)
    assert (model.context_length, model.tools, model.vision, model.reasoning) == (131072, True, True, False)
    mute = {"id": "embed", "capabilities": {"completion_chat": False}}
    assert not read("openai", {"data": [mute]}).models


def test_xais_prices_are_cents_for_a_hundred_million():
    entry = {
        "id": "grok-4.7",
        "created": 1743724800,
        "input_modalities": ["text", "image"],
        "output_modalities": ["text"],
        "prompt_text_token_price": 30000,
        "cached_prompt_text_token_price": 7500,
        "completion_text_token_price": 150000,
    }
    model = only("xai", {"models": [entry]})
    assert model.vision is True
    assert model.pricing == {
        "prompt": "0.000003",
        "completion": "0.000015",
        "input_cache_read": "0.00000075",
    }


def test_deepinfras_entries_have_it_all_in_metadata():
    meta = {
        "context_length": 131072,
        "max_tokens": 16384,
        "pricing": {"input_tokens": 0.1, "output_tokens": 0.5, "cache_read_tokens": 0.02},
    }
    model = one("per-million", {"id": "a/b", "metadata": meta})
    assert (model.context_length, model.max_output_tokens) == (131072, 16384)
    assert model.pricing["input_cache_read"] == "0.00000002"


def test_hugging_faces_entries_are_as_able_as_their_best_host():
    hosts = [
        {"provider": "a", "context_length": 8192, "supports_tools": False},
        {
            "provider": "b",
            "context_length": 131072,
            "supports_tools": True,
            "pricing": {"input": 1, "output": 2},
        },
    ]
    entry = {"id": "o/m", "architecture": {"input_modalities": ["text"]}, "providers": hosts}
    model = one("per-million", entry)
    assert (model.context_length, model.tools, model.vision) == (131072, True, False)
    assert model.pricing == {"prompt": "0.000001", "completion": "0.000002"}


def test_novitas_prices_are_ten_thousandths_for_a_million_and_what_is_retired_is_left_out():
    entry = {
        "id": "o/m",
        "context_size": 32768,
        "max_output_tokens": 8192,
        "input_token_price_per_m": 2700,
        "output_token_price_per_m": 11000,
        "features": ["function-calling", "reasoning"],
        "endpoints": ["chat/completions"],
        "status": 1,
    }
    body = {"data": [entry, entry | {"status": 4}, entry | {"endpoints": ["embeddings"]}]}
    model = only("novita", body)
    assert (model.context_length, model.max_output_tokens) == (32768, 8192)
    assert (model.tools, model.reasoning, model.vision) == (True, True, None)
    assert model.pricing == {"prompt": "0.00000027", "completion": "0.0000011"}


def test_cohere_ollama_cloudflare_and_lm_studio():
    command = {"name": "command-a", "endpoints": ["chat"], "features": ["tools"], "context_length": 256000}
    page = read(
        "cohere", {"models": [command, {"name": "embed", "endpoints": ["embed"]}], "next_page_token": "n"}
    )
    assert page.models == (ListedModel(id="command-a", context_length=256000, tools=True, reasoning=False),)
    assert page.next_query == "page_token=n"
    tag = {"name": "qwen3:8b", "model": "qwen3:8b", "modified_at": "2026-05-04T17:37:44.706015396-07:00"}
    assert only("ollama", {"models": [tag]}) == ListedModel(id="qwen3:8b", created=1777941464)
    properties = [
        {"property_id": "context_window", "value": "24000"},
        {"property_id": "function_calling", "value": "true"},
    ]
    entry = {"id": "uuid", "name": "@cf/a/b", "task": {"name": "Text Generation"}, "properties": properties}
    body = {"result": [entry, {"name": "@cf/a/c", "task": {"name": "Text-to-Image"}}], "success": True}
    assert only("cloudflare", body) == ListedModel(id="@cf/a/b", context_length=24000, tools=True)
    loaded = {
        "type": "llm",
        "key": "google/gemma-3-4b",
        "display_name": "Gemma 3 4B",
        "max_context_length": 131072,
        "capabilities": {"vision": True, "trained_for_tool_use": False},
    }
    model = only("lmstudio", {"models": [loaded, {"type": "embedding", "key": "nomic"}]})
    assert model == ListedModel(
        id="google/gemma-3-4b", name="Gemma 3 4B", context_length=131072, tools=False, vision=True
    )


def test_a_local_servers_numbers():
    assert one("openai", {"id": "m", "max_model_len": 4096}).context_length == 4096
    assert one("openai", {"id": "m", "meta": {"n_ctx_train": 8192}}).context_length == 8192


def test_milliseconds_are_no_seconds():
    assert one("openai", {"id": "m", "created": 1780000000123}).created == 1780000000


@pytest.mark.parametrize("body", [None, 1, "x", {}, {"data": {}}, {"data": None}, {"error": {}}])
def test_a_body_without_a_list_is_a_failure(body):
    with pytest.raises(ValueError, match="no list"):
        read("openai", body)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_MEMBERS = [
    "id",
    "name",
    "model",
    "key",
    "type",
    "created",
    "created_at",
    "modified_at",
    "context_length",
    "max_context_length",
    "max_tokens",
    "capabilities",
    "architecture",
    "pricing",
    "providers",
    "metadata",
    "top_provider",
    "supported_parameters",
    "features",
    "endpoints",
    "properties",
    "task",
    "status",
    "input_token_price_per_m",
    "prompt_text_token_price",
    "inputTokenLimit",
    "thinking",
    "input_modalities",
    "supportedGenerationMethods",
    "display_name",
    "limits",
    "meta",
]
_ENTRY = st.dictionaries(st.sampled_from(_MEMBERS), _JSON | st.dictionaries(st.sampled_from(_MEMBERS), _JSON))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=60, deadline=None)
@given(entries=st.lists(_ENTRY | _JSON, max_size=4), more=_JSON, last=_JSON)
def test_no_entry_is_too_odd_to_be_left_out(shape, entries, more, last):
    body = {
        "data": entries,
        "has_more": more,
        "last_id": last,
        "nextPageToken": last,
        "next_page_token": more,
    }
    for model in read(shape, body).models:
        assert model.id
        assert model.created is None or model.created < 10**12


def test_where_a_dialect_has_its_list():
    def place(*surfaces):
        return list_of(Vendor(id="v", base_url="http://v", surfaces=surfaces))

    assert (place(CHAT).path, place(CHAT).shape) == ("models", "openai")
    assert place(MESSAGES).shape == "anthropic"
    assert place(GENERATE).shape == "gemini"
    assert place(Surface(dialect="ollama-chat")).shape == "ollama"
    assert place(Surface(dialect="bedrock-converse")) is None


def test_who_has_no_list_of_what_can_be_asked_for():
    without = {id for id, row in VENDORS.items() if list_of(row) is None}
    assert without == {
        "azure",
        "bedrock",
        "bedrock-mantle-anthropic",
        "bedrock-mantle-openai",
        "bedrock-openai",
        "codebuddy",
        "codebuddy-cn",
        "minimax",
        "perplexity",
        "vertex",
        "volcengine",
        "zai",
    }
