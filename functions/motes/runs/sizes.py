"""About how many bytes a particle has in a journal. Must never be taken for the size of what is written."""

from collections.abc import Sequence
from typing import Final

from motes import particles as p

TEXT_EXTRA: Final = 10
"""What a piece of text has beside it."""
_EXTRA: Final = 40
# Where a particle holds what may be long.
_LONG: Final = ("text", "base64", "data", "arguments", "code", "result", "signature")


def sizes_of(particles: Sequence[p.Particle]) -> list[int]:
    """The sizes, one by one."""
    return [TEXT_EXTRA + len(one.text) if type(one) is p.Text else _size_of(one) for one in particles]


def _size_of(particle: p.Particle) -> int:
    values = (getattr(particle, name, None) for name in _LONG)
    return _EXTRA + sum(len(value) for value in values if isinstance(value, str))
