"""What the name of an agent or a model tells about how Google lets it run.

Must never ask anybody. Source: ai.google.dev/gemini-api/docs/deep-research and /interactions (read
2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from motes import particles as p
from motes.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How runs of one kind are made and told.

    `agent`: it is named under `agent` and takes no generation_config. `background` None leaves it to the
    caller. `stored`: it must be. `system`: where system text goes. `lives_on`: its runs can be reached again;
    None: where their events can be resumed. `work`: what it is doing, for the one operation of the run.
    """

    heads: tuple[str, ...] = ()
    agent: bool = False
    background: bool | None = None
    stored: bool = False
    system: Literal["field", "first-turn", "none"] = "field"
    functions: bool = True
    lives_on: bool | None = None
    work: tuple[p.OperationKind, str] | None = None
    members: Mapping[str, Any] = field(default_factory=dict)


MODEL: Final = Kind()
_KINDS: Final = (
    Kind(
        heads=("deep-research",),
        agent=True,
        background=True,
        stored=True,
        system="first-turn",
        functions=False,
        lives_on=True,
        work=("search-web", "Researching"),
        members={"agent_config": {"type": "deep-research", "thinking_summaries": "auto"}},
    ),
    Kind(
        heads=("antigravity",),
        agent=True,
        background=False,
        stored=True,
        lives_on=False,
        work=("code-exec", "An agent is at work"),
        members={"environment": "remote"},
    ),
    Kind(heads=("code-mender",), agent=True, stored=True, work=("code-exec", "An agent is at work")),
)
_VIDEO: Final = Kind(
    background=False,
    stored=True,
    system="none",
    functions=False,
    lives_on=False,
    work=("gen-image", "Making a video"),
    members={"response_format": [{"type": "video", "delivery": "uri"}]},
)
_OTHER_AGENT: Final = Kind(agent=True, stored=True, work=("code-exec", "An agent is at work"))
_COLLECTIONS: Final = ("models/", "agents/")


def plain(name: str) -> str:
    """A name without the collection that may stand before it."""
    return next((name.removeprefix(head) for head in _COLLECTIONS if name.startswith(head)), name)


def kind_of(name: str, *, agent: bool = False) -> Kind:
    """The kind of an agent or a model; `agent`: the vendor says that it is one."""
    known = next((kind for kind in _KINDS if plain(name).startswith(kind.heads)), None)
    if known is not None:
        return known
    if agent or name.startswith("agents/"):
        return _OTHER_AGENT
    return _VIDEO if "-omni" in name else MODEL
