"""The rows: every vendor that is built in, and the other names people give to vendors and dialects.

Data only; how a vendor of the chat dialect differs stands in `chat_quirks`. Must never hold a key.
Addresses: the vendors' API references, read on 2026-11-29.
"""

from collections.abc import Mapping
from typing import Final

from motes.dialects.base import DialectName
from motes.vendors import chat_quirks as chat
from motes.vendors import responses_quirks as responses
from motes.vendors.bedrock import BEDROCK
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, Auth, Surface, Timeouts, Vendor

# Nothing comes while a model reasons, and the largest ones reason for minutes.
_LONG: Final = Timeouts(first_byte=600.0, idle=300.0)
_OPENAI_ONLY_ON_RESPONSES: Final[Mapping[str, DialectName]] = {
    "*-pro": "openai-responses",
    "*-pro-20*": "openai-responses",
    "*codex*": "openai-responses",
    "*deep-research*": "openai-responses",
    "computer-use*": "openai-responses",
}

_ROWS: Final = (
    Vendor(
        id="openai",
        base_url="https://api.openai.com/v1",
        surfaces=(CHAT, Surface(dialect="openai-responses", quirks=responses.OPENAI, timeouts=_LONG)),
        model_surfaces=_OPENAI_ONLY_ON_RESPONSES,
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
        surfaces=(
            CHAT,
            Surface(
                dialect="openai-responses", quirks=responses.OPENROUTER, timeouts=_LONG, stored_runs=False
            ),
        ),
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
        surfaces=(
            CHAT,
            Surface(dialect="openai-responses", quirks=responses.XAI, timeouts=_LONG, stored_runs=False),
        ),
        key_name="XAI_API_KEY",
        quirks=chat.XAI,
        models=("grok-4.7", "grok-4.3"),
    ),
    Vendor(
        # The operator's own resource: https://{resource}.openai.azure.com (or .services.ai.azure.com); its
        # path is added where it is missing, and a model is the name of a deployment. The older, dated API:
        # base_url = ".../openai/deployments", path = "{model}/chat/completions?api-version=2024-10-21".
        id="azure",
        base_url="",
        base_path="/openai/v1",
        surfaces=(CHAT, Surface(dialect="openai-responses", quirks=responses.AZURE, timeouts=_LONG)),
        model_surfaces=_OPENAI_ONLY_ON_RESPONSES,
        auth=Auth("header", "api-key"),
        key_name="AZURE_OPENAI_API_KEY",
        quirks=chat.AZURE,
    ),
    Vendor(
        # Its own models answer chat completions; those of other vendors (provider/model) are agents.
        id="perplexity",
        base_url="https://api.perplexity.ai",
        surfaces=(
            CHAT,
            Surface(
                dialect="openai-responses",
                path="v1/responses",
                quirks=responses.PERPLEXITY,
                timeouts=_LONG,
                stored_runs=False,
            ),
        ),
        model_surfaces={"*/*": "openai-responses"},
        key_name="PERPLEXITY_API_KEY",
        quirks=chat.PERPLEXITY,
        models=("sonar", "sonar-pro", "sonar-reasoning-pro"),
    ),
    Vendor(
        id="sakanaai",
        base_url="https://api.sakana.ai/v1",
        surfaces=(Surface(dialect="openai-responses", stored_runs=False),),
        key_name="SAKANA_API_KEY",
        quirks=responses.SAKANA,
        timeouts=Timeouts(first_byte=600.0, idle=600.0),
        models=("fugu-ultra", "fugu"),
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
    *BEDROCK,
)

VENDORS: Final[Mapping[str, Vendor]] = {row.id: row for row in _ROWS}
"""Every built-in vendor by its id. An empty base URL must be set by the operator."""

ALIASES: Final[Mapping[str, str]] = {
    "amazon-bedrock": "bedrock",
    "aws": "bedrock",
    "aws-bedrock": "bedrock",
    "azure-foundry": "azure",
    "azure-openai": "azure",
    "claude": "anthropic",
    "deep-seek": "deepseek",
    "fireworks-ai": "fireworks",
    "google": "gemini",
    "google-gemini": "gemini",
    "grok": "xai",
    "mistral-ai": "mistral",
    "mistralai": "mistral",
    "open-router": "openrouter",
    "sakana": "sakanaai",
    "openai_compatible": "openai-compatible",
    "together": "togetherai",
    "together-ai": "togetherai",
    "x-ai": "xai",
}
"""Other names of those vendors."""

DIALECT_ALIASES: Final[Mapping[str, DialectName]] = {
    "anthropic": "anthropic-messages",
    "azure-openai": "openai-chat",
    "bedrock": "bedrock-converse",
    "converse": "bedrock-converse",
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
    "openai_responses": "openai-responses",
    "openrouter": "openai-chat",
    "responses": "openai-responses",
    "sakanaai": "openai-responses",
    "together": "openai-chat",
    "togetherai": "openai-chat",
    "vllm": "openai-chat",
    "xai": "openai-chat",
}
"""What recordings call the dialects of ours."""
