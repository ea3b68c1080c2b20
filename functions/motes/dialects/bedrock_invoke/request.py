"""A Messages request as InvokeModel takes it: the same body, without what the URL says, and with a version.

Only Claude is asked this way: for every other model Converse says the same in one form. Must never send a
member that this route refuses while it can be said what was left out. Source: Amazon Bedrock user guide,
"Anthropic Claude Messages API"; "Claude on Amazon Bedrock" (platform.claude.com/docs; both read 2026-11-29).
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from motes.chat import ChatRequest
from motes.dialects.base import UpstreamBody
from motes.errors import InvalidRequest

VERSION: Final = "bedrock-2023-05-31"

_OTHERS: Final = re.compile(
    r"(^|[./])(ai21|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|stability|writer|xai|zai)\."
)
# The URL says these, or the host has none of them.
_SAID_ELSEWHERE: Final = frozenset({"model", "stream"})
_REFUSED: Final = frozenset({"container", "inference_geo", "mcp_servers", "service_tier", "speed"})
_NO_BETAS: Final = re.compile(r"^(advanced-tool-use|code-execution|fast-mode|files-api|mcp-client|skills)-")
_SERVED: Final = re.compile(r"^(web_search|web_fetch|code_execution|tool_search_tool|mcp_toolset)")
# Models whose names carry a version are served apart from Anthropic's newer hosts.
_VERSIONED: Final = re.compile(r"-v\d+(:\d+)?$")
_SERVICE_TIERS: Final = ("default", "flex", "priority", "reserved")


def path(model: str) -> str:
    """The streaming route of a model, whose name may be an ARN."""
    return f"model/{quote(model, safe='')}/invoke-with-response-stream"


def check_model(model: str) -> None:
    """Raise InvalidRequest for a model that is known not to be Claude."""
    if _OTHERS.search(model.lower()):
        raise InvalidRequest(
            f"InvokeModel is used for Claude only; ask for {model[:80]!r} without `motes.dialect`",
            param="motes.dialect",
            code="unsupported",
        )


def invoked(body: UpstreamBody, request: ChatRequest, model: str) -> UpstreamBody:
    """The body of a Messages request, as this route takes it. Raises InvalidRequest for media by address."""
    notes = list(body.warnings)
    json = {name: value for name, value in body.json.items() if name not in _SAID_ELSEWHERE}
    refused = set(_REFUSED) | ({"cache_control"} if _VERSIONED.search(model.lower()) else set())
    for name in sorted(refused & json.keys()):
        del json[name]
        if name != "service_tier":
            notes.append(f"{name} was left out: this vendor takes none")
    _keep_own_tools(json, notes)
    for block in _media(json):
        if block["source"].get("type") in ("url", "file"):
            raise InvalidRequest(
                "this vendor takes images and files inline (a data URL), not by an address or id",
                param="messages",
                code="unsupported",
            )
    betas = [beta for beta in body.headers.get("anthropic-beta", "").split(",") if beta]
    betas = [beta for beta in betas if not _NO_BETAS.match(beta)]
    version: dict[str, Any] = {"anthropic_version": VERSION}
    return UpstreamBody(
        json=version | ({"anthropic_beta": betas} if betas else {}) | json,
        headers=_headers(request),
        warnings=tuple(dict.fromkeys(notes)),
    )


def _keep_own_tools(json: dict[str, Any], notes: list[str]) -> None:
    """Tools that Anthropic runs itself are not here."""
    tools = json.get("tools", [])
    kept = [tool for tool in tools if not _SERVED.match(str(tool.get("type", "")))]
    if len(kept) < len(tools):
        notes.append("tools that Anthropic's own host runs were left out: this vendor has none of them")
        json["tools"] = kept
    if not kept:
        json.pop("tools", None)
        json.pop("tool_choice", None)


def _media(json: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for message in json["messages"]:
        for block in message["content"]:
            inner = block.get("content")
            for item in [block, *(inner if isinstance(inner, list) else [])]:
                if isinstance(item, dict) and isinstance(item.get("source"), dict):
                    yield item


def _headers(request: ChatRequest) -> dict[str, str]:
    tier = request.service_tier
    return {"x-amzn-bedrock-service-tier": tier} if tier in _SERVICE_TIERS else {}
