"""How Google's Interactions API is reached: the surface, and the agents and models that only it serves.

Data only. Source: ai.google.dev/gemini-api/docs/interactions, /deep-research and /thinking (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes.dialects.base import DialectName
from motes.quirks import Quirks
from motes.vendors.efforts import efforts, family
from motes.vendors.vendor import Surface, Timeouts

# Beside the request's own members: what makes a run, and what an earlier run left behind.
_OWN: Final = frozenset(
    {
        "agent_config",
        "background",
        "cached_content",
        "continuation_token",
        "environment",
        "labels",
        "previous_interaction_id",
        "safety_settings",
        "webhook_config",
    }
)

INTERACTIONS: Final = Surface(
    dialect="gemini-interactions",
    quirks=Quirks(
        passthrough=_OWN,
        effort_map=efforts("minimal", "low", "medium", "high"),
        model_rules=(
            *family("gemini-3-pro", known=("low", "high")),
            *family(
                "gemini-3.1-pro",
                "gemini-3.7-flash",
                "gemini-3.8-flash",
                "gemini-4-argon",
                "gemini-4-carbon",
                known=("low", "medium", "high"),
            ),
        ),
    ),
    # Research is silent for minutes, and its steps are told when they are done.
    timeouts=Timeouts(first_byte=600.0, idle=600.0),
)
"""Runs of models and agents, which the vendor may keep and finish by itself."""

ONLY_INTERACTIONS: Final[Mapping[str, DialectName]] = dict.fromkeys(
    ("deep-research*", "antigravity*", "code-mender*", "agents/*", "*-omni*"), "gemini-interactions"
)
