"""The scheduled function: its contract, before there is anything to clean."""

import json

import pytest

from motes.hosts.cleanup import handler

SCHEDULED = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.scheduler",
    "account": "123456789012",
    "time": "2026-11-29T12:00:00Z",
    "region": "eu-central-1",
    "resources": ["arn:aws:scheduler:eu-central-1:123456789012:schedule/default/motes"],
    "detail": "{}",
}


@pytest.mark.parametrize("event", [SCHEDULED, {}, {"anything": 1}])
def test_nothing_is_due_and_one_line_says_so(event, caplog):
    with caplog.at_level("INFO"):
        summary = handler(event, None)
    assert summary == {"due": 0, "deleted": 0, "postponed": 0}
    assert json.loads(json.dumps(summary)) == summary
    assert [record.getMessage() for record in caplog.records] == ["cleanup due=0 deleted=0 postponed=0"]


@pytest.mark.parametrize("event", [None, [], "x", 3, {"version": "2.0", "requestContext": {"http": {}}}])
def test_what_no_schedule_sends_is_refused(event):
    with pytest.raises(ValueError, match="no event of a schedule"):
        handler(event, None)
