"""The executor: a dispatch in, a stream of particles out that never raises and ends with exactly one `End`.

Read it from the inside out: `execute` is one attempt, `retry` makes more of them, `heartbeat` keeps the
line alive, `watchdog` ends it in good order before the platform would, `pipeline` puts them in a row.
"""
