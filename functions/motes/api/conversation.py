"""Which conversation a request belongs to, and the names that a vendor may want of both.

The caller's own word counts (`motes.conversation`, or the header); without one, turns that begin alike are
one conversation. What is made of a caller's text is a hash with his key in it. Must never pass on a name that
could not stand in a header.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Final

from motes import jsontext
from motes.api.dispatching import CONVERSATION
from motes.chat import ChatRequest, SystemMessage, UserMessage
from motes.errors import InvalidRequest
from motes.request_ids import RequestIds

_NAME: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_DIGITS: Final = 32


def given_name(request: ChatRequest, headers: Mapping[str, str]) -> str | None:
    """What the caller calls the conversation, if anything. Raises InvalidRequest for what is no name."""
    for given, place in (
        (request.motes.conversation, "motes.conversation"),
        (headers.get(CONVERSATION), CONVERSATION),
    ):
        if given is None:
            continue
        if not _NAME.fullmatch(given):
            raise InvalidRequest(
                f"{place}: must have 1 to 128 letters, digits and . _ : -", param=place, code="invalid_value"
            )
        return given
    return None


def new_ids(conversation: str) -> RequestIds:
    """New names for one request of a conversation."""
    return RequestIds(
        conversation_id=conversation,
        request_id=secrets.token_hex(16),
        message_id=secrets.token_hex(16),
        trace_id=secrets.token_hex(16),
        span_id=secrets.token_hex(8),
        parent_id=secrets.token_hex(8),
    )


def made_name(request: ChatRequest, owner: str) -> str:
    """A hash of what stays the same from turn to turn: the system text and the user's first words. `owner` is
    whose key asked.
    """
    hash = hashlib.sha256(f"{owner}\0{request.prompt_cache_key or ''}\0{request.model or ''}".encode())
    for message in request.messages:
        if isinstance(message, SystemMessage | UserMessage):
            content = message.content
            said = content if isinstance(content, str) else jsontext.dumps(message.model_dump()["content"])
            hash.update(f"\0{message.role}\0{said}".encode("utf-8", "surrogatepass"))
        if isinstance(message, UserMessage):
            break
    return hash.hexdigest()[:_DIGITS]
