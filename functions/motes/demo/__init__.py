"""The demo vendor: a small HTTP server that speaks each dialect's true wire from a script.

For trying motes without a key. Must never be reachable from outside the machine, and never know that it is
motes that asks: it reads requests and answers as the real vendors would.
"""
