"""Laws of alarms and dashboard: each says what it is about, and looks at what is really counted."""

import json
import re
from typing import Any

import pytest

from infra.templates import ROOT, TEMPLATE, of_type, read
from motes.hosts.json_log import FUNCTION, NAMESPACE


@pytest.fixture
def alarms(observability: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = of_type(observability, "AWS::CloudWatch::Alarm")
    return {name: item["Properties"] for name, item in found.items()}


def looks_at(alarm: dict[str, Any]) -> set[tuple[str, str]]:
    """(namespace, metric) of everything an alarm is about."""
    stats = [query["MetricStat"]["Metric"] for query in alarm.get("Metrics", []) if "MetricStat" in query]
    return {(str(metric["Namespace"]), metric["MetricName"]) for metric in stats or [alarm]}


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("StreamErrors", ("AWS/Lambda", "Errors")),
        ("ManageErrors", ("AWS/Lambda", "Errors")),
        ("CleanupErrors", ("AWS/Lambda", "Errors")),
        ("Throttles", ("AWS/Lambda", "Throttles")),
        ("SlowRequestAlarm", (NAMESPACE, "SlowRequests")),
        ("TruncationAlarm", (NAMESPACE, "Truncations")),
        ("StreamNearTheLimit", ("AWS/Lambda", "Duration")),
        ("DeadLetters", ("AWS/SQS", "ApproximateNumberOfMessagesVisible")),
        ("ParkedRuns", (NAMESPACE, "RunsParked")),
        ("TableThrottles", ("AWS/DynamoDB", "WriteThrottleEvents")),
    ],
)
def test_what_can_go_wrong_has_an_alarm(
    alarms: dict[str, dict[str, Any]], name: str, metric: tuple[str, str]
) -> None:
    assert metric in looks_at(alarms[name])


def test_every_alarm_says_what_it_is_and_reaches_the_topic(alarms: dict[str, dict[str, Any]]) -> None:
    for name, alarm in alarms.items():
        assert alarm["AlarmDescription"], name
        assert alarm["AlarmActions"] == [{"Ref": "Topic"}], name
        assert alarm["TreatMissingData"] == "notBreaching", name


def test_alarms_on_our_own_metrics_use_the_dimension_the_log_writes(
    alarms: dict[str, dict[str, Any]],
) -> None:
    ours = [alarm for alarm in alarms.values() if alarm.get("Namespace") == NAMESPACE]
    told = {alarm["MetricName"]: alarm["Dimensions"] for alarm in ours}
    assert told == {
        metric: [{"Name": FUNCTION, "Value": {"Ref": function}}]
        for metric, function in (
            ("SlowRequests", "StreamFunction"),
            ("Truncations", "StreamFunction"),
            ("RunsParked", "CleanupFunction"),
        )
    }


def test_the_metrics_the_alarms_look_at_are_those_the_log_writes() -> None:
    source = (ROOT / "functions" / "motes" / "hosts" / "json_log.py").read_text()
    assert '"SlowRequests"' in source
    assert '"Truncations"' in source
    assert '"RunsParked"' in source


def test_the_near_limit_alarm_is_a_share_of_the_timeout(alarms: dict[str, dict[str, Any]]) -> None:
    """Durations are in ms: of a timeout in s, a tenth is a percent."""
    share = alarms["StreamNearTheLimit"]["Metrics"][0]
    assert share["Expression"] == {"Fn::Sub": "longest / (${StreamTimeout} * 10)"}
    assert 90 <= alarms["StreamNearTheLimit"]["Threshold"] < 100


def test_the_dashboard_is_json_and_nothing_lies_over_anything(observability: dict[str, Any]) -> None:
    (board,) = of_type(observability, "AWS::CloudWatch::Dashboard").values()
    body = board["Properties"]["DashboardBody"]["Fn::Sub"]
    widgets = json.loads(re.sub(r"\$\{[^}]+\}", "x", body))["widgets"]
    cells = [
        (x, y)
        for widget in widgets
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(cells) == len(set(cells))
    assert all(x < 24 for x, _ in cells)


def test_the_main_stack_gives_every_parameter_that_is_asked_for(observability: dict[str, Any]) -> None:
    given = read(TEMPLATE)["Resources"]["Observability"]["Properties"]["Parameters"]
    assert set(given) == set(observability["Parameters"])


def test_every_line_that_tells_of_a_bug_is_counted(observability: dict[str, Any]) -> None:
    pattern = observability["Resources"]["Bugs"]["Properties"]["FilterPattern"]
    counted = set(re.findall(r'\$\.event = "(\w+)"', pattern))
    assert counted == {"bug", "handler_failed", "response_unfinished", "unhandled_exception"}
    assert pattern.count("||") == len(counted) - 1
    sources = "".join(path.read_text() for path in (ROOT / "functions" / "motes").rglob("*.py"))
    assert {event for event in counted if f'logline("{event}"' in sources} == counted
