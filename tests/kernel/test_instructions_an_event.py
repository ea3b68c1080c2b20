"""What an event costs, decode to encode, one event a read: at most twice the instructions of the template.

The template is a typed decode into one and nothing more (`bench/template.py`). Instructions of the machine are
counted, those of C code among them, which are as many on a busy machine as on an idle one. The limits of
`test_work_an_event.py` are nearer to what is there, but C code is nothing to them.
"""

import re
import shutil
from typing import Any

import pytest

from bench.instructions import an_event
from bench.translation import reads, templated, translated
from bench.wires import DIALECTS

LIMIT = 2


@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_ways_say_the_same(dialect: Any) -> None:
    pieces = reads(dialect, 100)
    ours, theirs = (
        re.findall(rb'"content":"(\w+)"', b"".join(way(dialect, pieces))) for way in (translated, templated)
    )
    assert len(ours) == 100
    assert ours == theirs


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind counts: apt-get install valgrind")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_event_takes_at_most_twice_the_instructions_of_the_template(dialect: str) -> None:
    found = an_event(dialect)
    ours, theirs = found["motes"], found["template"]
    told = f"{dialect}: {ours:,.0f} instructions an event, the template {theirs:,.0f}, which is {ours / theirs:.2f} times"
    assert ours <= LIMIT * theirs, told
