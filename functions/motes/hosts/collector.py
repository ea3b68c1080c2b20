"""Python's garbage collector in a process that serves.

A request leaves next to no circles behind, and looking for them took an eighth of a busy gateway's time. Must
never be switched off for good: what a bug or a library ties into a circle has to go.

Source: Python's documentation, `gc` (read 2026-11-30).
"""

import gc
from typing import Final

# Two megabytes of objects at most, before the young ones among them are looked at.
_YOUNG: Final = 10_000
_ROUNDS: Final = 20


def begin_serving() -> None:
    """What the start has made is never looked at again, and what comes after it seldom."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _ROUNDS, _ROUNDS)
    gc.enable()
