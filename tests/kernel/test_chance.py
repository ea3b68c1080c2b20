"""Ids that are drawn ahead: none comes twice, whoever asks."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

from motes import chance


def test_no_word_comes_twice_to_many_threads():
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(lambda _: [chance.new_word() for _ in range(500)], range(16)))
    words = [word for some in told for word in some]
    assert len(set(words)) == 8000
    assert all(re.fullmatch(r"[0-9a-f]{24}", word) for word in words)


def test_what_was_drawn_before_a_copy_was_made_is_not_used_after_it(monkeypatch):
    chance.new_word()
    monkeypatch.setattr(os, "urandom", bytes)
    assert chance.new_word() != "0" * 24
    chance.forget()
    assert chance.new_word() == "0" * 24
    chance.forget()


def test_a_fork_draws_its_own():
    chance.new_word()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, chance.new_word().encode())
        os._exit(0)
    os.waitpid(child, 0)
    told = os.read(reading, 100).decode()
    os.close(reading)
    os.close(writing)
    assert len(told) == 24
    assert told not in [chance.new_word() for _ in range(100)]
