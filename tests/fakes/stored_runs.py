"""Runs and pages of journals as tests need them."""

from motes.particles import UpstreamHandle
from motes.store.runs import Page, ReplyForm, StoredRun

NOW = 1_800_000_000.0
OWNER = "a" * 64
REPLY = ReplyForm(model="openai/gpt-5.6-terra", created=int(NOW))


def run(id="r1", **fields):
    """A run that goes on, with a lease of a minute."""
    known = {
        "owner": OWNER,
        "caller": "k1",
        "vendor": "openai",
        "model": "gpt-5.6-terra",
        "dialect": "openai-responses",
        "created": NOW,
        "reply": REPLY,
        "worker": "w1",
        "lease_until": NOW + 60,
        "due_at": NOW + 60,
    }
    return StoredRun(id=id, **known | fields)


def ended(id="r1", **fields):
    """A run that nobody works at any more and that is due in a minute."""
    known = {"state": "finished", "outcome": "completed", "worker": None, "lease_until": None, "ended": NOW}
    return run(id, **known | fields)


def handle(id="resp_1", created=NOW):
    """A handle of a run that was created at that time."""
    created_ms = None if created is None else int(created * 1000)
    return UpstreamHandle("vnd.oai.responses", id, created_ms, None)


def page(first, last, body=None, **fields):
    """A page of that many particles."""
    return Page(first=first, last=last, body=body or f"{first}-{last}".encode(), **fields)
