"""A message as one flat JSON object, in OpenAI's words: what `motes replay --as message` prints.

A pure view of what the reassembler decided. Must never decide anything itself: whether the answer is
complete, and which calls are whole, is the message's own word.
"""

from typing import Any

from motes import particles as p
from motes.costs import prompt_of, unpriced
from motes.egress.failure import failure_of
from motes.egress.finish import finish_reason
from motes.errors import VendorError, answer_status
from motes.fragments import Message


def message_json(message: Message, *, visible: bool) -> dict[str, Any]:
    """The members of one finished message. `visible` tells whether anything could be seen before its end.

    Usage counts are null where the vendor said nothing; `prompt` includes cached tokens and `completion`
    includes reasoning. `http_status` is what the gateway answers with while nothing was sent.
    """
    end = message.end or p.End("done-dispatch-closed")
    failed = not message.is_whole
    return {
        "text": message.text,
        "reasoning": message.reasoning,
        "refusal": message.refusal,
        "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls],
        "finish_reason": finish_reason(end, refused=bool(message.refusal)),
        "native_finish_reason": end.native_stop,
        "usage": usage_json(message.metrics),
        "model": message.model,
        "response_id": message.response_id,
        "citations": citations_json(message.citations),
        "images": len(message.media(p.Image)),
        "audio": len(message.media(p.Audio)),
        "error": error_json(failure_of(message.issue), visible=visible) if failed else None,
        "end": end.reason,
    }


def usage_json(metrics: p.Metrics | None) -> dict[str, Any] | None:
    """The token counts of a run, or None where none is known."""
    if metrics is None:
        return None
    prompt = prompt_of(metrics)
    completion, total = metrics.tokens_out, metrics.tokens_total
    if prompt is None and completion is None and total is None:
        return None
    if total is None and prompt is not None and completion is not None:
        total = prompt + completion
    return {
        "prompt": prompt,
        "completion": completion,
        "total": total,
        "reasoning": metrics.tokens_out_reasoning,
        "cached": metrics.tokens_cache_read,
        "cache_written": metrics.tokens_cache_write,
        "source": metrics.source,
    }


def cost_json(metrics: p.Metrics | None) -> dict[str, Any] | None:
    """What a run costs its caller, margin and all; where no gateway has priced it, what its vendor bills."""
    cost = None if metrics is None else metrics.cost or unpriced(metrics)
    return None if cost is None else {"amount": cost.amount, "currency": cost.currency, "margin": cost.margin}


def citations_json(citations: list[p.Citation]) -> list[dict[str, str | None]]:
    """Every source once, in order of appearance; a document without address has a null `url`. What has no
    title either, such as the result of a tool, is none to list.
    """
    seen = dict.fromkeys((c.url or None, c.title) for c in citations if c.url or c.title)
    return [{"url": url, "title": title} for url, title in seen]


def error_json(error: VendorError, *, visible: bool) -> dict[str, Any]:
    """What a program can act on in an error."""
    return {
        "kind": error.kind,
        "phase": "mid_stream" if visible else "before_output",
        "retryable": error.retryable,
        "retry_after_s": error.retry_after,
        "http_status": answer_status(error),
        "message": error.message,
    }
