"""Runs that cannot be lost: the record of a run, its journal, its lease, and the way back to it.

The only room that knows the store *and* the executor. Must never hold the first byte of a run up for the
store (but for a vendor's handle, which nobody is told before it is stored), and never tell a particle twice.
"""
