"""Demuxers: bytes in, whole events out. They know framing and nothing else; no I/O, no clock, no vendor."""
