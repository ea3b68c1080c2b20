"""The rows: every vendor that is built in, and the other names people give to vendors and dialects.

Data only; how a vendor of the chat dialect differs stands in `chat_quirks`. Must never hold a key.
Addresses: the vendors' API references, read on 2026-11-29.
"""

from collections.abc import Mapping
from typing import Final

from motes.dialects.base import DialectName
from motes.vendors import chat_quirks as chat
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, Auth, Timeouts, Vendor

_ROWS: Final = (
    Vendor(
        id="openai",
        base_url="https://api.openai.com/v1",
        surfaces=(CHAT,),
        key_name="OPENAI_API_KEY",
        quirks=chat.OPENAI,
        models=("gpt-6-sol", "gpt-6-luna", "gpt-5.6-terra", "gpt-5.4-mini"),
    ),
    Vendor(
        id="anthropic",
        base_url="https://api.anthropic.com",
        surfaces=(MESSAGES,),
        auth=Auth("header", "x-api-key"),
        key_name="ANTHROPIC_API_KEY",
        models=("claude-fable-5", "claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"),
    ),
    Vendor(
        id="gemini",
        base_url="https://generativelanguage.googleapis.com",
        surfaces=(GENERATE,),
        auth=Auth("header", "x-goog-api-key"),
        key_name="GEMINI_API_KEY",
        models=("gemini-2.5-pro", "gemini-2.5-flash"),
    ),
    Vendor(
        id="openrouter",
        base_url="https://openrouter.ai/api/v1",
        surfaces=(CHAT,),
        key_name="OPENROUTER_API_KEY",
        quirks=chat.OPENROUTER,
        models=("openrouter/auto",),
    ),
    Vendor(
        id="deepseek",
        base_url="https://api.deepseek.com",
        surfaces=(CHAT,),
        key_name="DEEPSEEK_API_KEY",
        quirks=chat.DEEPSEEK,
        # A request may wait in the queue for ten minutes behind keep-alive comments.
        timeouts=Timeouts(first_byte=600.0),
        models=("deepseek-v4-pro", "deepseek-v4-flash"),
    ),
    Vendor(
        id="groq",
        base_url="https://api.groq.com/openai/v1",
        surfaces=(CHAT,),
        key_name="GROQ_API_KEY",
        quirks=chat.GROQ,
        models=("openai/gpt-oss-120b", "openai/gpt-oss-20b", "qwen/qwen3-32b"),
    ),
    Vendor(
        id="mistral",
        base_url="https://api.mistral.ai/v1",
        surfaces=(CHAT,),
        key_name="MISTRAL_API_KEY",
        quirks=chat.MISTRAL,
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
    ),
    Vendor(
        id="xai",
        base_url="https://api.x.ai/v1",
        surfaces=(CHAT,),
        key_name="XAI_API_KEY",
        quirks=chat.XAI,
        models=("grok-4.7", "grok-4.3"),
    ),
    Vendor(
        id="togetherai",
        base_url="https://api.together.xyz/v1",
        surfaces=(CHAT,),
        key_name="TOGETHER_API_KEY",
        quirks=chat.TOGETHERAI,
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        id="fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        surfaces=(CHAT,),
        key_name="FIREWORKS_API_KEY",
        quirks=chat.FIREWORKS,
        models=("accounts/fireworks/models/gpt-oss-120b",),
    ),
    Vendor(
        id="ollama",
        base_url="http://localhost:11434/v1",
        surfaces=(CHAT,),
        key_name="OLLAMA_API_KEY",
        key_required=False,
        quirks=chat.OLLAMA,
    ),
    Vendor(
        id="openai-compatible",
        base_url="",
        surfaces=(CHAT,),
        key_name="OPENAI_COMPATIBLE_API_KEY",
        key_required=False,
        quirks=chat.COMPATIBLE,
    ),
)

VENDORS: Final[Mapping[str, Vendor]] = {row.id: row for row in _ROWS}
"""Every built-in vendor by its id. An empty base URL must be set by the operator."""

ALIASES: Final[Mapping[str, str]] = {
    "claude": "anthropic",
    "deep-seek": "deepseek",
    "fireworks-ai": "fireworks",
    "google": "gemini",
    "google-gemini": "gemini",
    "grok": "xai",
    "mistral-ai": "mistral",
    "mistralai": "mistral",
    "open-router": "openrouter",
    "openai_compatible": "openai-compatible",
    "together": "togetherai",
    "together-ai": "togetherai",
    "x-ai": "xai",
}
"""Other names of those vendors."""

DIALECT_ALIASES: Final[Mapping[str, DialectName]] = {
    "anthropic": "anthropic-messages",
    "azure-openai": "openai-chat",
    "chat-completions": "openai-chat",
    "deepseek": "openai-chat",
    "fireworks": "openai-chat",
    "gemini": "gemini-generate",
    "google": "gemini-generate",
    "groq": "openai-chat",
    "mistral": "openai-chat",
    "mistral-chat": "openai-chat",
    "openai": "openai-chat",
    "openai-compatible": "openai-chat",
    "openrouter": "openai-chat",
    "together": "openai-chat",
    "togetherai": "openai-chat",
    "vllm": "openai-chat",
    "xai": "openai-chat",
}
"""What recordings call the dialects of ours."""
