"""What a model's name tells about it. Must never ask anybody.

Source: ai.google.dev/gemini-api/docs/models and /thinking, read 2026-11-29.
"""

import re
from typing import Final

Generation = tuple[int, int]

FIRST_TO_THINK: Final[Generation] = (2, 5)
FIRST_WITH_LEVELS: Final[Generation] = (3, 0)

_GENERATION: Final = re.compile(r"gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
_LATEST: Final = re.compile(r"gemini-(pro|flash|flash-lite)-latest")

_ALL_LEVELS: Final = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
# The first pattern that is found in the name decides.
_LEVELS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("flash-lite-image", ("MINIMAL", "HIGH")),
    ("gemini-3-pro", ("LOW", "HIGH")),
    ("gemini-3.1-pro", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-3.7-flash", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-3.8-flash", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-4-argon", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-4-carbon", ("LOW", "MEDIUM", "HIGH")),
)


def generation(model: str) -> Generation | None:
    """The generation in a model's name, such as (2, 5); None where it names none. `latest` is at least 3."""
    found = _GENERATION.search(model)
    if found:
        return int(found[1]), int(found[2] or 0)
    return FIRST_WITH_LEVELS if _LATEST.search(model) else None


def is_at_least(model: str, first: Generation) -> bool:
    """Whether the name says a generation, and one that is not older."""
    found = generation(model)
    return found is not None and found >= first


def can_think(model: str) -> bool:
    """Whether a model takes a thinkingConfig; one we know nothing of may."""
    found = generation(model)
    if "-tts" in model or "gemma" in model:
        return False
    if found is not None and found < FIRST_WITH_LEVELS and "-image" in model:
        return False
    return found is None or found >= FIRST_TO_THINK


def thinks_in_levels(model: str) -> bool:
    """Whether thinking is set by a level; before generation 3 by a budget of tokens."""
    found = generation(model)
    return found is None or found >= FIRST_WITH_LEVELS


def levels(model: str) -> tuple[str, ...]:
    """The thinking levels a model takes, from the least to the most."""
    return next((known for name, known in _LEVELS if name in model), _ALL_LEVELS)


def budget_range(model: str) -> tuple[int, int, bool]:
    """Least and most tokens to think with, and whether thinking can be off. Generation 2.5."""
    if "pro" in model:
        return 128, 32_768, False
    return (512 if "lite" in model else 1), 24_576, True


def takes_system_text(model: str) -> bool:
    """Whether a model takes a systemInstruction; those that only speak, and Gemma, refuse it."""
    return "-tts" not in model and "gemma" not in model


def signs_every_part(model: str) -> bool:
    """Whether every part of an earlier answer must be signed, as the newer image models demand."""
    return "nano-banana-pro" in model or ("-image" in model and is_at_least(model, FIRST_WITH_LEVELS))


def circulates_tools(model: str) -> bool:
    """Whether Google's own tools and the client's functions go together in one request."""
    narrow = any(word in model for word in ("-image", "nano-banana", "deep-research"))
    return is_at_least(model, FIRST_WITH_LEVELS) and not narrow
