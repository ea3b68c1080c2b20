"""What the models behind Converse take, told by the head of a model's name.

Converse is one protocol for models that differ: how reasoning is asked for, which tool may be forced, what a
turn may hold. Data and one reader of names. Must never refuse a name: one that is not known takes what every
model takes. Sources: Amazon Bedrock user guide, "Supported models and features", the model cards, "Structured
output", "Prompt caching"; Amazon Nova user guide, "Extended thinking" (read 2026-11-29).
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from motes.chat import Effort
from motes.dataclass import dataclass

Control = Literal["none", "claude", "reasoning_effort", "reasoning", "reasoning_config", "reasoningConfig"]
Forced = Literal["any", "tool"]

# A cross-region profile has a place before the model's name; an ARN has the name behind its resource type.
_PLACE: Final = re.compile(r"^(us-gov|us|eu|apac|jp|au|ca|in|global)\.")
_ARN: Final = re.compile(r"^arn:[^/]*/")

_BOTH: Final[frozenset[Forced]] = frozenset({"any", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What requests to a family of models may say.

    `control`: the member that asks for reasoning (`claude` stands for Anthropic's own form), `efforts`: its
    words. `forced`: which kinds of forced tool choice it knows. `signed`: it wants its signed reasoning back.
    `schemas`: it can be held to a JSON Schema. `leading_assistant`: a conversation may begin with its turn.
    `alone`: what results of tools may not share their turn with. `status`: results may be marked failed.
    """

    control: Control = "none"
    efforts: Mapping[Effort, str] = field(default_factory=dict)
    forced: frozenset[Forced] = frozenset()
    top_k: Literal["flat", "nova"] | None = None
    sampling: bool = True
    system: bool = True
    cache: bool = False
    signed: bool = False
    schemas: bool = False
    leading_assistant: bool = False
    alone: Literal["nothing", "documents", "anything"] = "nothing"
    status: bool = True
    grounding: bool = False


def _efforts(off: str, minimal: str, low: str, medium: str, high: str, *more: str) -> dict[Effort, str]:
    xhigh = more[0] if more else high
    return {
        "off": off,
        "minimal": minimal,
        "low": low,
        "medium": medium,
        "high": high,
        "xhigh": xhigh,
        "max": more[-1] if more else high,
    }


_HIGH_ONLY: Final = _efforts("none", "high", "high", "high", "high")
_GPT: Final = Family(
    control="reasoning", efforts=_efforts("none", "low", "low", "medium", "high", "xhigh"), sampling=False
)
_GPT_ALWAYS: Final = Family(
    control="reasoning", efforts=_efforts("low", "low", "low", "medium", "high", "xhigh"), sampling=False
)
_PLAIN_SCHEMAS: Final = Family(schemas=True)
_MISTRAL: Final = Family(forced=frozenset({"any"}), alone="anything")
_MISTRAL_SCHEMAS: Final = Family(forced=frozenset({"any"}), alone="anything", schemas=True)
_NO_SYSTEM: Final = Family(system=False)

_FAMILIES: Final[Mapping[str, Family]] = {
    "ai21.j2": _NO_SYSTEM,
    "amazon.nova": Family(forced=_BOTH, top_k="nova", cache=True),
    "amazon.nova-premier": Family(forced=_BOTH, top_k="nova", cache=True, grounding=True),
    "amazon.nova-2": Family(
        control="reasoningConfig",
        efforts=_efforts("", "low", "low", "medium", "high"),
        forced=_BOTH,
        top_k="nova",
        cache=True,
        signed=True,
        grounding=True,
    ),
    "amazon.titan": _NO_SYSTEM,
    "anthropic.": Family(
        control="claude",
        forced=_BOTH,
        top_k="flat",
        cache=True,
        signed=True,
        schemas=True,
        leading_assistant=True,
        alone="documents",
    ),
    "cohere.command-light": _NO_SYSTEM,
    "cohere.command-text": _NO_SYSTEM,
    "deepseek.": Family(control="reasoning_effort", efforts=_HIGH_ONLY),
    "deepseek.r1": Family(),
    "google.gemma-3-12b": _PLAIN_SCHEMAS,
    "google.gemma-3-27b": _PLAIN_SCHEMAS,
    "meta.": Family(alone="anything"),
    "minimax.minimax-m2": _PLAIN_SCHEMAS,
    "mistral.": _MISTRAL,
    "mistral.magistral-small": _MISTRAL_SCHEMAS,
    "mistral.ministral-3": _MISTRAL_SCHEMAS,
    "mistral.mistral-7b": Family(alone="anything", system=False),
    "mistral.mistral-large-3": _MISTRAL_SCHEMAS,
    "mistral.mixtral": Family(alone="anything", system=False),
    "mistral.voxtral": _MISTRAL_SCHEMAS,
    "moonshot": Family(forced=_BOTH, schemas=True, leading_assistant=True),
    "nvidia.nemotron-nano": _PLAIN_SCHEMAS,
    "openai.gpt-": _GPT,
    "openai.gpt-6-astra": _GPT_ALWAYS,
    "openai.gpt-6.1-sol": _GPT_ALWAYS,
    "openai.gpt-oss": Family(
        control="reasoning_effort", efforts=_efforts("low", "low", "low", "medium", "high")
    ),
    "qwen.": Family(leading_assistant=True),
    "qwen.qwen3": Family(
        control="reasoning_config",
        # Between low and high the model has been seen to reason at high only.
        efforts=_efforts("none", "low", "low", "high", "high"),
        schemas=True,
        leading_assistant=True,
    ),
    "qwen.qwen3-coder": Family(schemas=True, leading_assistant=True),
    "writer.": Family(alone="anything", status=False),
    "xai.": Family(
        control="reasoning",
        efforts=_efforts("low", "low", "low", "medium", "high", "xhigh"),
        forced=_BOTH,
        sampling=False,
    ),
    "zai.": Family(
        control="reasoning_effort", efforts=_HIGH_ONLY, forced=_BOTH, schemas=True, leading_assistant=True
    ),
    "zai.glm-5.3": Family(
        control="reasoning_effort",
        efforts=_efforts("low", "low", "low", "medium", "high", "xhigh", "max"),
        forced=_BOTH,
        schemas=True,
        leading_assistant=True,
    ),
}

# Most names that tell nothing are the operator's own profiles: what the caller says is believed.
UNKNOWN: Final = Family(forced=_BOTH, cache=True, signed=True)


def bare(model: str) -> str:
    """A model's name without the ARN or the place around it."""
    return _PLACE.sub("", _ARN.sub("", model.lower()))


def family_of(model: str) -> Family:
    """The family whose head fits a model's name best."""
    name = bare(model)
    heads = [head for head in _FAMILIES if name.startswith(head)]
    return _FAMILIES[max(heads, key=len)] if heads else UNKNOWN
