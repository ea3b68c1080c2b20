"""One run in a test: everything it said, and when."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from fakes.tiny import Listener, tiny_dispatch
from motes import particles as p
from motes.executor.pipeline import run
from motes.executor.run import Options

NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@dataclass
class Said:
    """The particles of a run with the seconds since its start."""

    timed: list = field(default_factory=list)
    heard: Listener = field(default_factory=Listener)

    @property
    def all(self):
        return [particle for _, particle in self.timed]

    def of(self, *kinds):
        return [particle for particle in self.all if isinstance(particle, kinds)]

    def at(self, kind):
        return [seconds for seconds, particle in self.timed if isinstance(particle, kind)]

    @property
    def text(self):
        return "".join(particle.text for particle in self.of(p.Text))

    @property
    def issue(self):
        (issue,) = self.of(p.Issue)
        return issue

    @property
    def end(self):
        """The one `End`, which is last."""
        (end,) = self.of(p.End)
        assert self.all[-1] is end
        return end


def options(**changes):
    return Options(**({"rng": Random(7), "now": lambda: NOON, "new_id": lambda: "call_made"} | changes))


async def said_by(upstream, dispatch=None, **changes):
    """Run against an upstream to the end."""
    said = Said()
    start = asyncio.get_running_loop().time()
    if "deadline" in changes:
        changes["deadline"] += start
    async with upstream.client() as http:
        source = run(dispatch or tiny_dispatch(), http, options(**changes), said.heard)
        async with aclosing(source) as particles:
            async for particle in particles:
                said.timed.append((asyncio.get_running_loop().time() - start, particle))
    return said
