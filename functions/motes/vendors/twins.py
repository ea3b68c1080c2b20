"""The second and third protocol of a vendor whose first one is chat completions.

Rows are written with these; pure, and run at import only. What is the same in the other protocol is taken
from the vendor's chat. Must never claim what a copy does not do: copies store nothing, hand out no
encrypted reasoning and search nothing unless the row says so.
"""

from dataclasses import replace
from typing import Any, Final

from motes.quirks import Quirks
from motes.vendors.efforts import efforts
from motes.vendors.vendor import Surface, Timeouts

# Nothing comes while a model reasons.
_PATIENT: Final = Timeouts(idle=300.0)
_GRADES: Final = efforts("off", "low", "medium", "high")
_UNSAID: Final = frozenset({"safety_identifier", "service_tier", "verbosity"})


def responses(chat: Quirks, origin: str, path: str | None = None, **own: Any) -> Surface:
    """The Responses copy of a vendor: its own quirks there, and `origin`, whose reasoning it is."""
    quirks = replace(
        chat,
        reasoning_origin=origin,
        reasoning_summary="never",
        includes=frozenset(),
        search_tool=None,
        model_rules=(),
        reasoning_models=(),
        **{"effort_map": _GRADES, "drop": chat.drop | _UNSAID, **own},
    )
    return Surface(dialect="openai-responses", path=path, quirks=quirks, timeouts=_PATIENT, stored_runs=False)


def messages(
    chat: Quirks | None = None, path: str | None = None, in_place_of: str = "", **own: Any
) -> Surface:
    """The Messages copy of a vendor that serves other models than Claude by it."""
    base = chat or Quirks()
    quirks = Quirks(
        thinking_form="budget", images=base.images, schema=base.schema, error_kinds=base.error_kinds, **own
    )
    return Surface(dialect="anthropic-messages", path=path, in_place_of=in_place_of, quirks=quirks)
