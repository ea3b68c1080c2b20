"""The generationConfig: limits, sampling, form and modality of the answer.

Must never drop or clamp without a warning.

Source: ai.google.dev/api/generate-content (GenerationConfig), read 2026-11-29.
"""

from typing import Any, Final

from motes.chat import REASONING, ChatRequest
from motes.dialects.base import Traits
from motes.dialects.gemini_generate.thinking import thinking_config

_MAX_STOPS: Final = 5
_MAX_SEED: Final = 2**31 - 1
_MODALITIES: Final = {"text": "TEXT", "image": "IMAGE", "audio": "AUDIO"}
# OpenAI's voices; Google has others, and refuses a name it does not know.
_FOREIGN_VOICES: Final = frozenset(
    {
        "alloy",
        "ash",
        "ballad",
        "cedar",
        "coral",
        "echo",
        "fable",
        "marin",
        "nova",
        "onyx",
        "sage",
        "shimmer",
        "verse",
    }
)

_MEMBERS: Final = REASONING | {
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "modalities",
    "audio",
    "response_format",
}
"""What a request says of the way it is to be answered."""


def generation_config(
    request: ChatRequest, model: str, traits: Traits, warnings: list[str]
) -> dict[str, Any]:
    """The generationConfig; empty where the caller leaves everything to the model."""
    if not request.gives(_MEMBERS):
        return {}
    config = {
        "maxOutputTokens": request.output_limit,
        "temperature": request.temperature,
        "topP": request.top_p,
        "topK": request.top_k,
        "stopSequences": _stops(request, warnings),
        "seed": _seed(request, warnings),
        "presencePenalty": request.presence_penalty,
        "frequencyPenalty": request.frequency_penalty,
        "responseModalities": _modalities(request, warnings),
        "speechConfig": _speech(request, warnings),
        "thinkingConfig": thinking_config(request, model, traits, warnings),
        **_form(request),
    }
    return {name: value for name, value in config.items() if value not in (None, [], {})}


def _stops(request: ChatRequest, warnings: list[str]) -> list[str]:
    stops = [stop for stop in request.stops if stop]
    if len(stops) > _MAX_STOPS:
        warnings.append(
            f"stop: this vendor takes {_MAX_STOPS} stop sequences; the first {_MAX_STOPS} were kept"
        )
    return stops[:_MAX_STOPS]


def _seed(request: ChatRequest, warnings: list[str]) -> int | None:
    """A seed is a 32-bit number here; a larger one keeps its low bits, so that it stays the same seed."""
    seed = request.seed
    if seed is None or -_MAX_SEED <= seed <= _MAX_SEED:
        return seed
    warnings.append("seed: this vendor takes 31 bits; the higher ones were cut off")
    return seed & _MAX_SEED


def _form(request: ChatRequest) -> dict[str, Any]:
    """JSON answers. The JSON Schema twin of responseSchema knows what callers write: `$ref`, `anyOf`, …"""
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return {}
    schema = wanted.json_schema.schema_ if wanted.json_schema else None
    plain = {key: value for key, value in (schema or {}).items() if key != "$schema"}
    return {"responseMimeType": "application/json", "responseJsonSchema": plain}


def _modalities(request: ChatRequest, warnings: list[str]) -> list[str]:
    wanted = [word.lower() for word in request.modalities or []]
    if wanted == ["text"]:
        return []
    for word in wanted:
        if word not in _MODALITIES:
            warnings.append(f"modalities: {word[:20]!r} is not known to this vendor; dropped")
    return [_MODALITIES[word] for word in dict.fromkeys(wanted) if word in _MODALITIES]


def _speech(request: ChatRequest, warnings: list[str]) -> dict[str, Any]:
    audio = request.audio or {}
    voice = audio.get("voice")
    if audio.get("format") not in (None, "wav"):
        warnings.append("audio.format: this vendor's sound comes as WAV")
    if not isinstance(voice, str) or not voice:
        return {}
    if voice.lower() in _FOREIGN_VOICES:
        warnings.append(f"audio.voice: {voice!r} is not a voice of this vendor; its own choice is used")
        return {}
    return {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": voice}}}
