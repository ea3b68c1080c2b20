"""Reasoning that a model signed, on its way back to it.

A signature is good with the service that made it and, for Claude, on every host of it. Must never send back
what another service signed. Source: Amazon Bedrock API reference, "ReasoningContentBlock"; "Extended
thinking" (platform.claude.com/docs; both read 2026-11-29).
"""

import base64
from typing import Any, Final

from motes.dialects.bedrock_converse.families import Family
from motes.dialects.bedrock_converse.parts import Block

FORMAT: Final = "bedrock-converse-v1"
"""The `format` of a reasoning detail whose signature is of this dialect."""
CLAUDE_FORMAT: Final = "anthropic-claude-v1"


def signed(detail: dict[str, Any], family: Family) -> Block | None:
    """A reasoning detail as the block it was, or None where it is not this service's or not whole."""
    told = detail.get("format")
    of_claude = told == CLAUDE_FORMAT and family.control == "claude"
    if told not in (FORMAT, None) and not of_claude:
        return None
    kind, signature, data = detail.get("type"), detail.get("signature"), detail.get("data")
    if kind == "reasoning.text" and isinstance(signature, str) and signature:
        text = detail.get("text")
        words = {"text": text if isinstance(text, str) else "", "signature": signature}
        return {"reasoningContent": {"reasoningText": words}}
    if kind == "reasoning.encrypted" and isinstance(data, str) and data:
        # Converse carries bytes, as base64; what Claude's own protocol calls data is the text of those bytes.
        carried = base64.b64encode(data.encode("utf-8", "replace")).decode() if of_claude else data
        return {"reasoningContent": {"redactedContent": carried}}
    return None
