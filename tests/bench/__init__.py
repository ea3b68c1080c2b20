"""Measurements, printed as Markdown. Not collected by pytest: a figure is read, not asserted."""
