"""Writes what a run says to its journal, beside the stream: a reader of the run never waits for a page.

Must never skip a particle: where the store fails, the same page is tried again, and what comes meanwhile goes
into the next one.
"""

import asyncio
from typing import Final

from motes.errors import StoreError
from motes.runs.pages import pages_of
from motes.runs.record import Desk, Note, Record
from motes.runs.tape import Tape
from motes.store.runs import Page

_TRIES: Final = 6
_FIRST_DELAY: Final = 0.1


async def write(record: Record, tape: Tape, desk: Desk) -> bool:
    """Keep a journal of what is on the tape beyond what is stored, until the tape is over. False where the
    journal is not whole.
    """
    at, size = max(record.run.last_seq, tape.first - 1), tape.size
    while await tape.has_more(at):
        # What is long closes a page sooner.
        await tape.filled(size + desk.page_bytes, desk.page_s)
        if record.is_lost:
            return False
        size, news = tape.size, tape.since(at)
        for page in pages_of(at + 1, news, desk.page_bytes):
            if not await _appended(record, page, desk.trouble):
                return False
            at = page.last
    return True


async def _appended(record: Record, page: Page, trouble: Note) -> bool:
    delay = _FIRST_DELAY
    for left in reversed(range(_TRIES)):
        try:
            await record.append(page)
            return not record.is_lost
        except StoreError as error:
            trouble("journal_page_failed", run=record.run.id, reason=error.message, tries_left=left)
            if left:
                await asyncio.sleep(delay)
                delay *= 2
    return False
