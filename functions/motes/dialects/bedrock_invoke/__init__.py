"""Amazon Bedrock's InvokeModel: a model's own protocol in an envelope of Amazon's.

The grammar inside is another house's. Houses do not know each other: whoever resolves dialects hands this one
the way to the others, and it goes there when the first event tells which it is.
"""

from typing import Final

from motes.chat import ChatRequest
from motes.demux.eventstream import event_stream_or_whole
from motes.dialects.base import Dialect, Traits, UpstreamBody
from motes.dialects.bedrock_invoke.parser import InvokeParser, Resolve
from motes.dialects.bedrock_invoke.request import check_model, invoked, path
from motes.quirks import Quirks

_ACCEPT: Final = "application/vnd.amazon.eventstream, application/json"


def carrying(resolve: Resolve) -> Dialect:
    """The dialect, over the dialects it carries."""

    def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
        check_model(model)
        return invoked(resolve("anthropic-messages").body(request, model, quirks, traits), request, model)

    return Dialect(
        name="bedrock-invoke",
        path=path,
        body=body,
        demuxer=event_stream_or_whole,
        parser=lambda quirks: InvokeParser(quirks, resolve),
        headers={"accept": _ACCEPT},
        inline_media=True,
    )
