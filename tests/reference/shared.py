"""Where the handed material lies, and what its expectations mean in our words.

The tables here are written from the vendors' documentation and know nothing of the parsers.
"""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("MOTES_SHARED", "/nonexistent"))
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="MOTES_SHARED names no folder: handed material not tested"
)

CORPUS_DIALECTS = {
    "openai-chat": "openai-chat",
    "mistral-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic-messages",
    "gemini-generate": "gemini-generate",
    "gemini-interactions": "gemini-interactions",
    "bedrock-converse": "bedrock-converse",
    "bedrock-invoke": "bedrock-invoke",
    "ollama-chat": "ollama-chat",
    "ollama-generate": "ollama-chat",
    "cohere-chat": "cohere-chat",
}
CASE_DIALECTS = {
    "openai": "openai-chat",
    "azure-openai": "openai-chat",
    "openrouter": "openai-chat",
    "groq": "openai-chat",
    "mistral": "openai-chat",
    "vllm": "openai-chat",
    "deepseek": "openai-chat",
    "openai-compatible": "openai-chat",
    "anthropic": "anthropic-messages",
    "gemini": "gemini-generate",
    "bedrock-converse": "bedrock-converse",
    "ollama": "ollama-chat",
}

FINISH = {
    "stop": "stop",
    "completed": "stop",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_action": "tool_calls",
    "max_output_tokens": "length",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "STOP": "stop",
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "load": "stop",
    "unload": "stop",
    "length": "length",
    "max_tokens": "length",
    "LENGTH": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "MAX_TOKENS": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "TOOL_CALL": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "refusal": "content_filter",
    "sensitive": "content_filter",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "BLOCKLIST": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
}
FINISH_ERRORS = {
    "malformed_model_output",
    "malformed_tool_use",
    "error",
    "ERROR",
    "TIMEOUT",
    # A Responses run that failed, was cancelled, or is not over yet: no answer, and no success.
    "failed",
    "cancelled",
    "queued",
    "in_progress",
    "network_error",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "OTHER",
    "NO_IMAGE",
    "MALFORMED_RESPONSE",
}


def corpus() -> list[Path]:
    found = [p.parent for p in sorted((SHARED / "corpus" / "cases").glob("*/*/meta.json"))]
    return [path for path in found if path.parent.name in CORPUS_DIALECTS]


def cases(direction: str) -> list[dict[str, Any]]:
    if not SHARED.is_dir():
        return []
    loaded = [_case(p.parent) for p in sorted((SHARED / "cases").glob("*/case.json"))]
    return [c for c in loaded if c["direction"] == direction and c["dialect"] in CASE_DIALECTS]


def _case(folder: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((folder / "case.json").read_text())
    if (folder / "response.bin").exists():
        case["_bytes"] = (folder / "response.bin").read_bytes()
    if (folder / "request.json").exists():
        case["_request"] = json.loads((folder / "request.json").read_text())
    return case


def checker() -> Any:
    spec = importlib.util.spec_from_file_location("check", SHARED / "cases" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True  # the handed material is not ours to write beside
    spec.loader.exec_module(module)
    return module


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def untagged(text: str) -> tuple[str, str]:
    """(reasoning, answer) of a text whose head is a think block."""
    found = re.match(r"\s*<(think|thinking)>(.*?)(?:</\1>(.*)|$)", text, re.S)
    return (found.group(2), found.group(3) or "") if found else ("", text)


def usage_of(dialect: str, raw: dict[str, Any] | None, vendor: str) -> dict[str, int] | None:
    """prompt, completion and total of a vendor's raw usage object."""
    if not raw:
        return None
    if dialect == "anthropic-messages" or (dialect == "bedrock-invoke" and "input_tokens" in raw):
        prompt = sum(
            raw.get(k) or 0
            for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )
        completion = raw.get("output_tokens") or 0
        return {"prompt": prompt, "completion": completion, "total": prompt + completion}
    if dialect == "openai-responses":
        prompt, completion = raw.get("input_tokens") or 0, raw.get("output_tokens") or 0
        return {"prompt": prompt, "completion": completion, "total": raw.get("total_tokens") or 0}
    if dialect.startswith("bedrock") and "prompt_tokens" not in raw:
        return _bedrock_usage(raw)
    if dialect in _GOOGLE_COUNTS:
        return _google_usage(raw, *_GOOGLE_COUNTS[dialect])
    if dialect in ("cohere-chat", "ollama-chat"):
        return _two_counts(raw)
    if "prompt_tokens" not in raw:
        return None
    completion = raw.get("completion_tokens") or 0
    if vendor == "xai":
        completion += (raw.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    total = raw.get("total_tokens")
    return {
        "prompt": raw["prompt_tokens"],
        "completion": completion,
        "total": total if total is not None else raw["prompt_tokens"] + completion,
    }


def _two_counts(raw: dict[str, Any]) -> dict[str, int] | None:
    """Cohere counts all tokens, cached ones among them, and apart those that are billed; Ollama its own way."""
    counts = raw.get("tokens") or raw.get("billed_units") or raw
    prompt = counts.get("input_tokens", counts.get("prompt_eval_count"))
    completion = counts.get("output_tokens", counts.get("eval_count"))
    if prompt is None or completion is None:
        return None
    return {"prompt": prompt, "completion": completion, "total": prompt + completion}


# Input includes what was cached; tool use is counted apart from it, and thoughts apart from the output.
_GOOGLE_COUNTS = {
    "gemini-generate": (
        ("promptTokenCount", "toolUsePromptTokenCount"),
        ("candidatesTokenCount", "thoughtsTokenCount"),
        "totalTokenCount",
    ),
    "gemini-interactions": (
        ("total_input_tokens", "total_tool_use_tokens"),
        ("total_output_tokens", "total_thought_tokens"),
        "total_tokens",
    ),
}


def _google_usage(
    raw: dict[str, Any], given: tuple[str, ...], answered: tuple[str, ...], total: str
) -> dict[str, int]:
    prompt, completion = (sum(raw.get(name) or 0 for name in names) for names in (given, answered))
    return {"prompt": prompt, "completion": completion, "total": raw.get(total) or prompt + completion}


def _bedrock_usage(raw: dict[str, Any]) -> dict[str, int]:
    """Converse splits the input; Nova under InvokeModel names the cached parts anew; Titan counts apart."""
    if "inputTextTokenCount" in raw:
        prompt, completion = raw["inputTextTokenCount"], raw["totalOutputTextTokenCount"]
        return {"prompt": prompt, "completion": completion, "total": prompt + completion}
    cached = [
        raw.get(f"cache{way}InputTokens", raw.get(f"cache{way}InputTokenCount")) for way in ("Read", "Write")
    ]
    prompt = raw["inputTokens"] + sum(part or 0 for part in cached)
    total = raw.get("totalTokens", prompt + raw["outputTokens"])
    return {"prompt": prompt, "completion": raw["outputTokens"], "total": total}
