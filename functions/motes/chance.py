"""Random text for ids, drawn from the system for many of them at once: each draw is a call of the kernel.

Must never give the same twice: not to a copy of this process either, be it forked or woken from a snapshot.
Nothing that opens anything is made of it.
"""

import os
from typing import Final

_SIZE: Final = 12
_MANY: Final = 32
# From a list two threads never take the same.
_ahead: Final = list[str]()


def new_word() -> str:
    """96 random bits, as 24 hexadecimal digits."""
    while True:
        try:
            return _ahead.pop()
        except IndexError:
            drawn, size = os.urandom(_SIZE * _MANY).hex(), 2 * _SIZE
            _ahead.extend([drawn[at : at + size] for at in range(0, len(drawn), size)])


def forget() -> None:
    """This is a copy: what was drawn before belongs to the other one, too."""
    _ahead.clear()


os.register_at_fork(after_in_child=forget)
