"""Names of request parameters that vendors tend to share a fate: taken together, or refused together.

Data only.
"""

from typing import Final

OPENAI_ONLY: Final = frozenset(
    {
        "audio",
        "metadata",
        "modalities",
        "prediction",
        "safety_identifier",
        "service_tier",
        "store",
        "verbosity",
        "web_search_options",
    }
)
"""What OpenAI's own models have and hardly any other host."""

PENALTIES: Final = frozenset({"presence_penalty", "frequency_penalty"})
SAMPLING: Final = PENALTIES | {"temperature", "top_p"}
LOCAL_SAMPLERS: Final = frozenset({"top_k", "min_p", "repetition_penalty", "chat_template_kwargs"})
"""What servers of open models take beside OpenAI's."""
