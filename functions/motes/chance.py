"""Random text for ids, drawn from the system for many of them at once: each draw is a call of the kernel.

Must never give the same twice: not to a copy of this process either, be it forked or woken from a snapshot.
Nothing that opens anything is made of it.
"""

import os
import struct
from typing import Final

_MANY: Final = 32
_words: Final = struct.Struct("12s" * _MANY)
# From a list two threads never take the same.
_ahead: Final = list[bytes]()


def new_word() -> str:
    """96 random bits, as 24 hexadecimal digits."""
    while True:
        try:
            return _ahead.pop().hex()
        except IndexError:
            _ahead.extend(_words.unpack(os.urandom(_words.size)))


def forget() -> None:
    """This is a copy: what was drawn before belongs to the other one, too."""
    _ahead.clear()


os.register_at_fork(after_in_child=forget)
