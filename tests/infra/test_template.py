"""Laws of the template as CloudFormation sees it, after SAM's own transformation."""

import re
from typing import Any

import pytest

from infra.templates import ROOT, as_list, chosen, of_type, statements
from motes.settings import Settings
from motes.store.dynamo_usage import USAGE

LAMBDA_LIMIT = 900
BOTH = {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}
# X-Ray has no resources to name, and the keys under a path are whatever the operator put there. Everything
# else that a star stands for must be written here first.
STARS = {
    ("TracePolicy", "xray:PutTraceSegments"),
    ("TracePolicy", "xray:PutTelemetryRecords"),
    ("VendorKeyPolicy", "ssm:GetParametersByPath"),
}


def resources_of(template: dict[str, Any], kind: str, **parameters: Any) -> dict[str, dict[str, Any]]:
    return of_type({"Resources": chosen(template, **parameters)}, kind)


def names_function(reference: Any, name: str) -> bool:
    return reference in ({"Ref": name}, {"Fn::GetAtt": [name, "Arn"]})


def permissions(template: dict[str, Any], **parameters: Any) -> dict[str, dict[str, Any]]:
    """What everybody may do with the streaming function, by action."""
    found = resources_of(template, "AWS::Lambda::Permission", **parameters).values()
    return {item["Properties"]["Action"]: item["Properties"] for item in found}


def url(template: dict[str, Any], function: str, **parameters: Any) -> dict[str, Any]:
    urls = resources_of(template, "AWS::Lambda::Url", **parameters).values()
    (properties,) = (
        u["Properties"] for u in urls if names_function(u["Properties"]["TargetFunctionArn"], function)
    )
    return properties


def test_a_public_url_has_both_permissions(transformed: dict[str, Any]) -> None:
    given = permissions(transformed, UrlAccess="public")
    assert url(transformed, "StreamFunction", UrlAccess="public")["AuthType"] == "NONE"
    assert set(given) == BOTH
    assert all(p["Principal"] == "*" for p in given.values())
    assert all(names_function(p["FunctionName"], "StreamFunction") for p in given.values())
    assert given["lambda:InvokeFunctionUrl"]["FunctionUrlAuthType"] == "NONE"
    assert given["lambda:InvokeFunction"]["InvokedViaFunctionUrl"] is True


def test_a_signed_url_is_open_to_nobody_by_itself_and_both_rights_are_in_one_policy(
    transformed: dict[str, Any],
) -> None:
    assert url(transformed, "StreamFunction", UrlAccess="iam")["AuthType"] == "AWS_IAM"
    assert permissions(transformed, UrlAccess="iam") == {}
    policies = resources_of(transformed, "AWS::IAM::ManagedPolicy", UrlAccess="iam")
    assert rights(policies, "CallerPolicy") == BOTH
    assert "CallerPolicy" not in resources_of(transformed, "AWS::IAM::ManagedPolicy", UrlAccess="public")


@pytest.mark.parametrize("access", ["public", "iam"])
def test_the_operators_api_always_wants_a_signature(transformed: dict[str, Any], access: str) -> None:
    assert url(transformed, "ManageFunction", UrlAccess=access)["AuthType"] == "AWS_IAM"
    assert rights(chosen(transformed, UrlAccess=access), "OperatorPolicy") == BOTH


def rights(resources: dict[str, Any], policy: str) -> set[str]:
    allowed = (s for name, s in statements(resources) if name == policy)
    return {action for statement in allowed for action in as_list(statement["Action"])}


def test_what_may_invoke_may_do_so_through_the_url_only(transformed: dict[str, Any]) -> None:
    invoking = [
        s
        for name, s in statements(chosen(transformed, UrlAccess="iam"))
        if name.endswith("Policy") and s["Action"] == "lambda:InvokeFunction"
    ]
    assert len(invoking) == 2
    assert all(s["Condition"] == {"Bool": {"lambda:InvokedViaFunctionUrl": "true"}} for s in invoking)


def test_the_streaming_url_streams_and_leaves_cors_to_the_app(transformed: dict[str, Any]) -> None:
    properties = url(transformed, "StreamFunction")
    assert properties["InvokeMode"] == "RESPONSE_STREAM"
    assert "Cors" not in properties
    assert url(transformed, "ManageFunction")["InvokeMode"] == "BUFFERED"


def test_no_function_may_take_longer_than_lambda_allows(transformed: dict[str, Any]) -> None:
    parameter = transformed["Parameters"]["StreamTimeout"]
    assert parameter["MaxValue"] <= LAMBDA_LIMIT
    assert parameter["Default"] <= LAMBDA_LIMIT
    functions = of_type(transformed, "AWS::Lambda::Function")
    timeouts = {name: item["Properties"]["Timeout"] for name, item in functions.items()}
    assert timeouts.pop("StreamFunction") == {"Ref": "StreamTimeout"}
    assert all(0 < seconds <= LAMBDA_LIMIT for seconds in timeouts.values())


def test_whatever_margins_are_chosen_the_warning_precedes_the_end_and_both_precede_the_timeout(
    transformed: dict[str, Any],
) -> None:
    parameters = transformed["Parameters"]
    warn, stop = parameters["DeadlineWarnSeconds"], parameters["DeadlineStopSeconds"]
    assert 0 < stop["MinValue"] <= stop["MaxValue"] < warn["MinValue"]
    assert warn["MaxValue"] < parameters["StreamTimeout"]["MinValue"]
    assert Settings.model_fields["deadline_warn_s"].default == warn["Default"]
    assert Settings.model_fields["deadline_stop_s"].default == stop["Default"]


def test_the_cleanup_has_time_for_one_schedule_only(transformed: dict[str, Any]) -> None:
    """A run that is still going when the next one starts would do its work again."""
    (schedule,) = of_type(transformed, "AWS::Scheduler::Schedule").values()
    assert schedule["Properties"]["ScheduleExpression"] == "rate(15 minutes)"
    functions = of_type(transformed, "AWS::Lambda::Function")
    assert functions["CleanupFunction"]["Properties"]["Timeout"] < 15 * 60


def test_the_schedule_retries_and_what_fails_waits_in_the_queue(transformed: dict[str, Any]) -> None:
    queue = {"Fn::GetAtt": ["CleanupDeadLetters", "Arn"]}
    (schedule,) = of_type(transformed, "AWS::Scheduler::Schedule").values()
    target = schedule["Properties"]["Target"]
    assert target["RetryPolicy"]["MaximumRetryAttempts"] > 0
    assert target["DeadLetterConfig"]["Arn"] == queue
    (invoke,) = of_type(transformed, "AWS::Lambda::EventInvokeConfig").values()
    assert invoke["Properties"]["DestinationConfig"]["OnFailure"]["Destination"] == queue
    senders = [
        name
        for name, s in statements(chosen(transformed))
        if s["Action"] == "sqs:SendMessage" and s["Resource"] == queue
    ]
    assert sorted(senders) == ["CleanupFunctionDueRole", "CleanupRole"]


def test_two_stacks_of_one_account_share_no_name(transformed: dict[str, Any]) -> None:
    """SAM gives a schedule the fixed name of its resource, unless it is told another."""
    named = (
        "Name",
        "FunctionName",
        "LogGroupName",
        "QueueName",
        "TableName",
        "RoleName",
        "ManagedPolicyName",
    )
    permission = "AWS::Lambda::Permission"
    for item in transformed["Resources"].values():
        properties = {} if item["Type"] == permission else item.get("Properties", {})
        for name in named:
            given = properties.get(name, {"Ref": "AWS::StackName"})
            assert "AWS::StackName" in str(given) or "Ref" in given, item


def test_every_function_logs_into_a_group_that_forgets(transformed: dict[str, Any]) -> None:
    groups = of_type(transformed, "AWS::Logs::LogGroup")
    assert all(item["Properties"]["RetentionInDays"] for item in groups.values())
    for name, item in of_type(transformed, "AWS::Lambda::Function").items():
        logging = item["Properties"]["LoggingConfig"]
        assert logging["LogGroup"]["Ref"] in groups, name
        assert logging["LogFormat"] == "JSON", name


def test_the_streaming_host_is_put_in_place_by_the_wrapper(transformed: dict[str, Any]) -> None:
    function = of_type(transformed, "AWS::Lambda::Function")["StreamFunction"]["Properties"]
    assert function["Environment"]["Variables"]["AWS_LAMBDA_EXEC_WRAPPER"] == "/var/task/bootstrap"
    for name in ("ManageFunction", "CleanupFunction"):
        other = of_type(transformed, "AWS::Lambda::Function")[name]["Properties"]
        assert "AWS_LAMBDA_EXEC_WRAPPER" not in other["Environment"]["Variables"]


def test_every_function_is_told_where_things_are(transformed: dict[str, Any]) -> None:
    for item in of_type(transformed, "AWS::Lambda::Function").values():
        told = item["Properties"]["Environment"]["Variables"]
        assert told["MOTES_HOME"] == "/tmp/motes"  # noqa: S108 (on Lambda it is nobody else's)
        assert told["MOTES_KEY_PATH"] == {"Ref": "KeyPath"}
        assert told["MOTES_TABLE"] == {"Fn::GetAtt": ["Storage", "Outputs.TableName"]}


def test_the_fuse_is_absent_until_it_is_set(transformed: dict[str, Any]) -> None:
    def reserved(**parameters: Any) -> Any:
        function = chosen(transformed, **parameters)["StreamFunction"]["Properties"]
        return function.get("ReservedConcurrentExecutions")

    assert reserved() is None
    assert reserved(ReservedConcurrency="0") == {"Ref": "ReservedConcurrency"}


@pytest.mark.parametrize("access", ["public", "iam"])
@pytest.mark.parametrize("key", ["", "arn:aws:kms:us-east-1:123456789012:key/a"])
def test_no_right_is_wider_than_the_written_list(transformed: dict[str, Any], access: str, key: str) -> None:
    resources = chosen(transformed, UrlAccess=access, KeyEncryptionArn=key)
    wide = set()
    for name, statement in statements(resources):
        assert statement["Effect"] == "Allow"
        assert "NotAction" not in statement
        assert "NotResource" not in statement
        for action in as_list(statement["Action"]):
            assert "*" not in action, (name, action)
            if "*" in str(statement["Resource"]):
                wide.add((name, action))
    assert wide == STARS


def test_amazons_models_are_asked_with_the_role_only_where_that_was_chosen(
    transformed: dict[str, Any],
) -> None:
    def rights(**parameters: str) -> tuple[str, dict[str, list[str]]]:
        resources = chosen(transformed, **parameters)
        told = resources["StreamFunction"]["Properties"]["Environment"]["Variables"]["MOTES_AWS_KEYS"]
        found = {
            action: [one["Fn::Sub"] for one in s["Resource"]]
            for _, s in statements(resources)
            for action in as_list(s["Action"])
            if action.startswith("bedrock:")
        }
        return told, found

    told, found = rights()
    assert (told, found) == ("false", {})
    told, found = rights(BedrockModels="yes")
    assert (told, set(found)) == ("true", {"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"})
    for resources in found.values():
        assert all(":bedrock:*:" in resource and not resource.endswith(":*") for resource in resources)
    assert transformed["Resources"]["BedrockPolicy"]["Properties"]["Roles"] == [{"Ref": "StreamRole"}]


def test_no_managed_policy_of_amazons_is_used(transformed: dict[str, Any]) -> None:
    for name, role in of_type(transformed, "AWS::IAM::Role").items():
        for policy in role["Properties"].get("ManagedPolicyArns", []):
            assert policy["Ref"] in transformed["Resources"], name


def test_each_function_has_a_role_of_its_own(transformed: dict[str, Any]) -> None:
    roles = [item["Properties"]["Role"] for item in of_type(transformed, "AWS::Lambda::Function").values()]
    assert len({str(role) for role in roles}) == len(roles) == 3


def test_what_anyone_can_reach_can_neither_list_nor_make_callers_keys(transformed: dict[str, Any]) -> None:
    """It looks one up by its hash. All else it may do with the table is about vendors' health, usage and runs."""
    found = on_the_table(transformed, "StreamRole")
    assert found.pop(None) == {"GetItem"}
    assert found == {
        "HEALTH": {"UpdateItem"},
        f"{USAGE}#*": {"PutItem"},
        "RUN#*": {"BatchGetItem", "Query", "UpdateItem", "BatchWriteItem", "PutItem"},
        "OWNER#*": {"Query", "BatchWriteItem", "PutItem"},
        "RUNS": {"BatchWriteItem", "PutItem"},
    }


def test_the_cleanup_can_do_nothing_with_keys_nor_make_anything(transformed: dict[str, Any]) -> None:
    found = on_the_table(transformed, "CleanupRole")
    assert found == {
        None: {"Query"},
        "RUN#*": {"BatchGetItem", "Query", "UpdateItem", "BatchWriteItem"},
        "OWNER#*": {"BatchWriteItem"},
        "RUNS": {"BatchWriteItem"},
    }
    everywhere = [
        s
        for name, s in statements(chosen(transformed))
        if name == "CleanupRole" and "dynamodb" in str(s["Action"]) and "Condition" not in s
    ]
    assert [s["Resource"] for s in everywhere] == [{"Fn::Sub": "${Storage.Outputs.TableArn}/index/due"}]


def on_the_table(transformed: dict[str, Any], role: str) -> dict[str | None, set[str]]:
    """What a role may do with DynamoDB, by partition; None is everywhere."""
    found: dict[str | None, set[str]] = {}
    for name, s in statements(chosen(transformed)):
        if name != role or "dynamodb" not in str(s["Action"]):
            continue
        ((_, keys),) = s.get("Condition", {"": {"dynamodb:LeadingKeys": [None]}}).items()
        for key in keys["dynamodb:LeadingKeys"]:
            actions = {action.removeprefix("dynamodb:") for action in as_list(s["Action"])}
            found.setdefault(key, set()).update(actions)
    return found


def test_vendors_keys_are_read_under_one_path_only(transformed: dict[str, Any]) -> None:
    resources = [
        resource
        for _, s in statements(chosen(transformed))
        if s["Action"] == "ssm:GetParametersByPath"
        for resource in s["Resource"]
    ]
    ends = [resource["Fn::Sub"].partition("parameter")[2] for resource in resources]
    assert ends == ["${KeyPath}", "${KeyPath}/*"]


def test_a_key_of_ones_own_may_be_decrypted_with_and_no_other(transformed: dict[str, Any]) -> None:
    arn = "arn:aws:kms:us-east-1:123456789012:key/a"
    with_key = list(statements(chosen(transformed, KeyEncryptionArn=arn)))
    assert [s["Resource"] for _, s in with_key if s["Action"] == "kms:Decrypt"] == [
        {"Ref": "KeyEncryptionArn"}
    ]
    assert not any(s["Action"] == "kms:Decrypt" for _, s in statements(chosen(transformed)))


def test_the_outputs_say_where_it_is_and_how_to_begin(transformed: dict[str, Any]) -> None:
    outputs = transformed["Outputs"]
    assert outputs["BaseUrl"]["Value"] == {"Fn::Sub": "${StreamFunctionUrl.FunctionUrl}v1"}
    assert "--aws-sigv4" in outputs["FirstKey"]["Value"]["Fn::Sub"]
    assert "SecureString" in outputs["VendorKey"]["Value"]["Fn::Sub"]


# What a call of DynamoDB's client needs the right to. A transaction needs the rights of what is in it.
RIGHTS = {
    "get_item": {"dynamodb:GetItem"},
    "put_item": {"dynamodb:PutItem"},
    "update_item": {"dynamodb:UpdateItem"},
    "transact_write_items": {"dynamodb:PutItem", "dynamodb:UpdateItem"},
    "get_paginator": {"dynamodb:Query"},
    "query": {"dynamodb:Query"},
    "batch_get_item": {"dynamodb:BatchGetItem"},
    "batch_write_item": {"dynamodb:BatchWriteItem"},
}


def test_what_the_store_calls_is_allowed_to_somebody(transformed: dict[str, Any]) -> None:
    sources = (ROOT / "functions" / "motes" / "store").glob("dynamo*.py")
    called = {call for file in sources for call in re.findall(r"\bclient\.([a-z_]+)\(", file.read_text())}
    allowed = {action for _, s in statements(chosen(transformed)) for action in as_list(s["Action"])}
    assert called
    for call in called:
        assert RIGHTS[call] <= allowed, call
