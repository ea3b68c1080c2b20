"""How the vendors of the protocols that nobody copied differ from what a protocol's house takes for granted.

Must never hold code that runs after import. Sources: docs.cohere.com and docs.ollama.com, read on 2026-11-29.
"""

from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import family

# docs.cohere.com: tools can be forced from Command R7B on; status 498 is a token that is not valid.
COHERE: Final = Quirks(
    reasoning_models=("command-a-plus", "command-a-reasoning"),
    model_rules=(ModelRule(prefix="command-r", tool_choice="auto-only"),),
    error_kinds={"498": "authentication"},
)

# docs.ollama.com/capabilities/thinking: only gpt-oss has levels, everything else is on or off.
OLLAMA: Final = Quirks(
    images="inline",
    model_rules=family("gpt-oss", known=("low", "medium", "high")),
    tool_choice="auto-only",
    strict_tools=False,
)
