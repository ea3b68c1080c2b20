"""The table as `infra/storage.yaml` declares it, made in moto; and DynamoDB that throttles."""

from pathlib import Path

import yaml
from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import MockRawResponse

TEMPLATE = Path(__file__).parents[2] / "infra" / "storage.yaml"
TABLE = "motes-test"
# What CloudFormation sets by other calls than the one that makes the table.
_SET_LATER = ("TimeToLiveSpecification", "PointInTimeRecoverySpecification", "SSESpecification")


class _Template(yaml.SafeLoader):
    """Reads short intrinsic functions as what they are given."""


_Template.add_multi_constructor("!", lambda loader, _, node: loader.construct_scalar(node))


def make_table(client, name=TABLE):
    """The table, empty."""
    properties = yaml.load(TEMPLATE.read_text(), _Template)["Resources"]["Table"]["Properties"]  # noqa: S506
    wanted = {key: value for key, value in properties.items() if key not in _SET_LATER}
    client.create_table(TableName=name, **wanted)


def refusing(times, code="ProvisionedThroughputExceededException", left=None):
    """A `before-send` handler that answers so many times with an error; `left` counts down.

    moto sees the request all the same and does what it says: it is the answer that is lost.
    """
    left = left if left is not None else [times]

    def answer(request, **_):
        if left[0] <= 0:
            return None
        left[0] -= 1
        body = f'{{"__type":"com.amazonaws#{code}","message":"said in the response"}}'.encode()
        return AWSResponse(request.url, 400, {"x-amzn-requestid": "1"}, MockRawResponse(body))

    return answer
