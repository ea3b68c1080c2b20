"""The rows: every vendor that is built in.

Data only. The makers of models and the oldest hosts stand here, and how they differ in the modules named
for quirks; the others stand in rooms of their own, by where they are at home. Must never hold a key.
Addresses: the vendors' API references, read on 2026-11-29.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from motes.dialects.base import DialectName
from motes.quirks import Quirks
from motes.vendors import chat_quirks as chat
from motes.vendors import host_quirks as hosted
from motes.vendors import native_quirks as native
from motes.vendors import responses_quirks as responses
from motes.vendors.aliases import ALIASES, DIALECT_ALIASES, RETIRED
from motes.vendors.bedrock import BEDROCK
from motes.vendors.china import CHINA
from motes.vendors.clouds import CLOUDS, GOOGLE
from motes.vendors.google import INTERACTIONS, ONLY_INTERACTIONS
from motes.vendors.hosts import HOSTS
from motes.vendors.local import LOCAL
from motes.vendors.tencent import TENCENT
from motes.vendors.twins import messages
from motes.vendors.twins import responses as twin
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, Auth, ModelList, Surface, Timeouts, Vendor

__all__ = ("ALIASES", "DIALECT_ALIASES", "RETIRED", "VENDORS")

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
        resources=("vnd.oai.container_file",),
        models=("gpt-6-sol", "gpt-6-luna", "gpt-5.6-terra", "gpt-5.4-mini"),
    ),
    Vendor(
        id="anthropic",
        base_url="https://api.anthropic.com",
        surfaces=(MESSAGES,),
        auth=Auth("header", "x-api-key"),
        key_name="ANTHROPIC_API_KEY",
        resources=("vnd.ant.file",),
        models=("claude-fable-5", "claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"),
    ),
    Vendor(
        id="gemini",
        priced_as="google",
        base_url="https://generativelanguage.googleapis.com",
        surfaces=(GENERATE, INTERACTIONS),
        model_surfaces=ONLY_INTERACTIONS,
        auth=Auth("header", "x-goog-api-key"),
        key_name="GEMINI_API_KEY",
        quirks=GOOGLE,
        resources=("vnd.gem.file",),
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
            replace(MESSAGES, quirks=Quirks()),
        ),
        key_name="OPENROUTER_API_KEY",
        quirks=hosted.OPENROUTER,
        models=("openrouter/auto",),
    ),
    Vendor(
        id="deepseek",
        base_url="https://api.deepseek.com",
        surfaces=(
            CHAT,
            messages(chat.DEEPSEEK, "anthropic/v1/messages"),
            twin(chat.DEEPSEEK, "deepseek", effort_map=chat.DEEPSEEK.effort_map),
        ),
        key_name="DEEPSEEK_API_KEY",
        quirks=chat.DEEPSEEK,
        # A request may wait in the queue for ten minutes behind keep-alive comments.
        timeouts=Timeouts(first_byte=600.0),
        models=("deepseek-v4-pro", "deepseek-v4-flash"),
    ),
    Vendor(
        id="groq",
        base_url="https://api.groq.com/openai/v1",
        surfaces=(CHAT, twin(hosted.GROQ, "groq", effort_map=hosted.GROQ.effort_map)),
        key_name="GROQ_API_KEY",
        quirks=hosted.GROQ,
        models=("openai/gpt-oss-120b", "openai/gpt-oss-20b", "qwen/qwen3-32b"),
    ),
    Vendor(
        id="mistral",
        base_url="https://api.mistral.ai/v1",
        surfaces=(CHAT, twin(chat.MISTRAL, "mistral", effort_map=chat.MISTRAL.effort_map)),
        key_name="MISTRAL_API_KEY",
        quirks=chat.MISTRAL,
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
    ),
    Vendor(
        id="xai",
        priced_as="x-ai",
        base_url="https://api.x.ai/v1",
        surfaces=(
            CHAT,
            Surface(dialect="openai-responses", quirks=responses.XAI, timeouts=_LONG, stored_runs=False),
        ),
        key_name="XAI_API_KEY",
        quirks=chat.XAI,
        model_list=ModelList(path="language-models", shape="xai"),
        models=("grok-4.7", "grok-4.3"),
    ),
    Vendor(
        # The operator's own resource: https://{resource}.openai.azure.com (or .services.ai.azure.com); its
        # path is added where it is missing, and a model is the name of a deployment. The older, dated API:
        # base_url = ".../openai/deployments", path = "{model}/chat/completions?api-version=2024-10-21".
        id="azure",
        base_url="",
        base_path="/openai/v1",
        address="https://{resource}.openai.azure.com/openai/v1",
        surfaces=(
            CHAT,
            Surface(dialect="openai-responses", quirks=responses.AZURE, timeouts=_LONG),
            replace(MESSAGES, path="anthropic/v1/messages", in_place_of="/openai/v1", quirks=Quirks()),
        ),
        model_surfaces={**_OPENAI_ONLY_ON_RESPONSES, "claude-*": "anthropic-messages"},
        auth=Auth("header", "api-key"),
        key_name="AZURE_OPENAI_API_KEY",
        quirks=chat.AZURE,
        # Its list is of what could be deployed, and asked for is what was.
        model_list=None,
        resources=("vnd.oai.container_file",),
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
        model_list=None,
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
        # The native protocol: the compatible one has no citations, no budget, and forces no tool.
        id="cohere",
        base_url="https://api.cohere.com",
        surfaces=(
            Surface(dialect="cohere-chat", in_place_of="/compatibility/v1"),
            Surface(
                dialect="openai-chat",
                path="compatibility/v1/chat/completions",
                in_place_of="/compatibility/v1",
                quirks=chat.COHERE,
            ),
        ),
        key_name="COHERE_API_KEY",
        quirks=native.COHERE,
        model_list=ModelList(
            path="v1/models?endpoint=chat&page_size=1000", shape="cohere", in_place_of="/compatibility/v1"
        ),
        models=("command-a-plus-05-2026", "command-a-03-2025", "command-a-reasoning-08-2025"),
    ),
    Vendor(
        id="togetherai",
        priced_as="together",
        base_url="https://api.together.xyz/v1",
        surfaces=(CHAT,),
        key_name="TOGETHER_API_KEY",
        quirks=hosted.TOGETHERAI,
        model_list=ModelList(shape="per-million"),
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        id="fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        surfaces=(
            CHAT,
            twin(hosted.FIREWORKS, "fireworks", drop=hosted.FIREWORKS.drop - {"store"}),
            messages(hosted.FIREWORKS),
        ),
        key_name="FIREWORKS_API_KEY",
        quirks=hosted.FIREWORKS,
        models=("accounts/fireworks/models/gpt-oss-120b",),
    ),
    Vendor(
        # The compatible protocol first: proxies before a server speak it, too. The native one knows the size
        # of the context (`num_ctx`) and how long a model stays loaded.
        id="ollama",
        base_url="http://localhost:11434/v1",
        base_path="/v1",
        surfaces=(
            CHAT,
            Surface(dialect="ollama-chat", in_place_of="/v1", quirks=native.OLLAMA),
            twin(hosted.OLLAMA, "ollama"),
            messages(hosted.OLLAMA),
        ),
        key_name="OLLAMA_API_KEY",
        key_required=False,
        quirks=hosted.OLLAMA,
        model_list=ModelList(path="api/tags", shape="ollama", in_place_of="/v1"),
    ),
    *BEDROCK,
    *CHINA,
    *CLOUDS,
    *HOSTS,
    *LOCAL,
    *TENCENT,
)

VENDORS: Final[Mapping[str, Vendor]] = {row.id: row for row in _ROWS}
"""Every built-in vendor by its id. An empty base URL must be set by the operator."""
