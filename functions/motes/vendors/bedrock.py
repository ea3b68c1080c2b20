"""Amazon Bedrock's rows: the protocols it speaks, at the hosts it speaks them.

Data only. `{region}` in an address is the operator's; a key is a bearer key of Bedrock or a pair of AWS's.
Which host serves a model differs: Converse serves most, the compatible endpoints OpenAI's and a few more.
Converse's own models are listed at another host (bedrock.{region}.amazonaws.com), where no key of a row goes:
`models` stand for them, and only Mantle's list is asked for.
Sources: Amazon Bedrock user guide, "Endpoints", "Inference using OpenAI APIs", "Amazon Bedrock API keys";
"Claude on Amazon Bedrock" (platform.claude.com/docs; all read 2026-11-29).
"""

from dataclasses import replace
from typing import Final

from motes.quirks import Quirks
from motes.settings import AWS_KEY
from motes.vendors.efforts import efforts, family
from motes.vendors.vendor import CHAT, Auth, ModelList, Surface, Timeouts, Vendor

_LEVELS: Final = ("low", "medium", "high")
_ALWAYS: Final = (*_LEVELS, "xhigh")
# Nothing comes while a model reasons, and the largest ones reason for minutes.
_LONG: Final = Timeouts(first_byte=600.0, idle=300.0)

_SAMPLING: Final = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})

COMPATIBLE: Final = Quirks(
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    effort_map=efforts(*_LEVELS),
    reasoning_models=("openai.gpt-oss", "openai.gpt-5", "openai.gpt-6"),
    model_rules=(
        *family("openai.gpt-oss", known=_LEVELS),
        *family("openai.gpt-5", "openai.gpt-6", known=("off", *_ALWAYS)),
        *family("openai.gpt-6-astra", "openai.gpt-6.1-sol", known=_ALWAYS),
    ),
    drop=frozenset({"audio", "modalities", "prediction", "store", "web_search_options"}),
    strict_tools=False,
    max_stop=4,
)

_RESPONSES: Final = replace(
    COMPATIBLE,
    drop_when_reasoning=_SAMPLING,
    reasoning_origin="bedrock",
    includes=frozenset({"reasoning.encrypted_content"}),
    search_tool=None,
    passthrough=frozenset({"background", "include", "previous_response_id", "truncation"}),
)
# gpt-oss may not be forced on this endpoint.
_RESPONSES_OF_MANTLE: Final = replace(_RESPONSES, tool_choice="auto-only")
_RESPONSES_OF_GPT: Final = replace(_RESPONSES, search_tool="web_search", strict_tools=True)

_CLAUDE: Final = (
    "global.anthropic.claude-opus-5-5",
    "global.anthropic.claude-sonnet-5-5",
    "global.anthropic.claude-haiku-4-5-20251001-v1:0",
)


def _row(
    id: str,
    base_url: str,
    *surfaces: Surface,
    service: str,
    models: tuple[str, ...],
    model_list: ModelList | None = None,
) -> Vendor:
    return Vendor(
        id=id,
        priced_as="aws",
        base_url=base_url,
        surfaces=surfaces,
        auth=Auth("sigv4", service),
        key_name=AWS_KEY,
        timeouts=_LONG,
        model_list=model_list,
        models=models,
    )


BEDROCK: Final = (
    _row(
        "bedrock",
        "https://bedrock-runtime.{region}.amazonaws.com",
        Surface(dialect="bedrock-converse", quirks=Quirks(max_tool_name=64)),
        # Claude in its own protocol.
        Surface(dialect="bedrock-invoke"),
        service="bedrock",
        models=(*_CLAUDE, "us.amazon.nova-2-lite-v1:0", "us.amazon.nova-pro-v1:0", "openai.gpt-oss-120b-1:0"),
    ),
    _row(
        "bedrock-openai",
        "https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
        replace(CHAT, quirks=COMPATIBLE),
        Surface(dialect="openai-responses", quirks=_RESPONSES, stored_runs=False),
        service="bedrock",
        models=("openai.gpt-oss-120b-1:0", "openai.gpt-oss-20b-1:0"),
    ),
    _row(
        "bedrock-mantle",
        "https://bedrock-mantle.{region}.api.aws/v1",
        replace(CHAT, quirks=COMPATIBLE),
        Surface(dialect="openai-responses", quirks=_RESPONSES_OF_MANTLE),
        service="bedrock-mantle",
        models=("openai.gpt-oss-120b", "openai.gpt-oss-20b"),
        model_list=ModelList(),
    ),
    _row(
        # GPT-5 and later are on this route only, and the others not on it.
        "bedrock-mantle-openai",
        "https://bedrock-mantle.{region}.api.aws/openai/v1",
        Surface(dialect="openai-responses", quirks=_RESPONSES_OF_GPT),
        replace(CHAT, quirks=COMPATIBLE),
        service="bedrock-mantle",
        models=("openai.gpt-6.1-sol", "openai.gpt-6-luna"),
    ),
    _row(
        "bedrock-mantle-anthropic",
        "https://bedrock-mantle.{region}.api.aws/anthropic",
        Surface(dialect="anthropic-messages"),
        service="bedrock-mantle",
        models=("anthropic.claude-opus-5-5", "anthropic.claude-haiku-4-5"),
    ),
)
