"""The run itself: who answers, under what id, whether it can be reached again, and what it is at.

Must never give a handle of a run that ends with its connection. The resource does not repeat whether it is
stored and in background, so that is told by what it is: an agent of deep research, a run whose events can be
resumed (they have an `event_id`), or one that was asked for as a whole and is not over.
"""

from motes.dialects.gemini_interactions import agents, runs
from motes.dialects.gemini_interactions.answer import Answer
from motes.dialects.gemini_interactions.fields import Json, text
from motes.transmitter import Emitter


class Run:
    """What is known of one run."""

    def __init__(self, answer: Answer) -> None:
        self.can_resume = False
        self.token = ""
        """What the vendor wants back to go on, where it stopped half way."""
        self._answer = answer
        self._id = ""
        self._created_ms: int | None = None
        self._kind = agents.MODEL
        self._handled = False
        self._environments: set[str] = set()

    @property
    def lives_on(self) -> bool:
        """Whether the run outlives its connection."""
        lives = self.can_resume if self._kind.lives_on is None else self._kind.lives_on
        return lives and bool(self._id)

    def identify(self, run: Json, out: Emitter) -> None:
        """Say what is new in what the vendor tells of the run."""
        agent, model = text(run, "agent"), text(run, "model")
        if agent or model:
            self._kind = agents.kind_of(agent or model, agent=bool(agent))
            self._answer.is_agents = self._kind.agent
        self._id = self._id or text(run, "id")
        self._created_ms = self._created_ms or runs.epoch_ms(text(run, "created"))
        self.token = text(run, "continuation_token") or self.token
        out.model(agent or model)
        out.response_id(text(run, "id"))
        self._keep(run, out)

    def begin(self, out: Emitter) -> None:
        """The run is at work."""
        if self._kind.work is not None:
            self._answer.begin_run(self._id, *self._kind.work, out)

    def _keep(self, run: Json, out: Emitter) -> None:
        if self.lives_on and not self._handled:
            self._handled = True
            out.handle(runs.handle(self._id, self._created_ms))
        used = runs.environment(run)
        if used is not None and used.state["environment"]["id"] not in self._environments:
            self._environments.add(used.state["environment"]["id"])
            out.add(used)
