"""motes: one stream of small messages out of every language-model vendor's own.

A mote is the particle one sees in a beam of light. This package imports nothing by itself: each room is
loaded by whoever needs it, so that a cold start pays for one dialect and not for all of them.
"""

__version__ = "0.1.0"
