"""What one channel of the answer has said so far, and what of a new text is news.

Vendors repeat themselves: some send the whole text so far in every delta, some close a stream of deltas
with the whole message. Must never say a character twice, and never hold one back.
"""

from motes.kept_text import KeptText


class Said(KeptText):
    """One channel (text, or reasoning) of one answer. Of an increment (`add`) all is news."""

    __slots__ = ()

    def reach(self, text: str) -> str:
        """A text that may repeat everything from the start: what goes beyond it. One that goes another
        way is taken for an increment.
        """
        before = self.whole()
        if text.startswith(before):
            return self.add(text[len(before) :])
        return "" if before.startswith(text) else self.add(text)

    def extend(self, text: str) -> str:
        """A text that repeats everything from the start where it begins with it, else an increment."""
        before = self.whole()
        return self.reach(text) if before and text.startswith(before) else self.add(text)

    def repeat(self, text: str) -> str:
        """A text that is known to repeat what was said: what goes beyond it, or nothing."""
        return self.reach(text) if text.startswith(self.whole()) else ""
