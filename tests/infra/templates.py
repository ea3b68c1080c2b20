"""Templates as data, and the little that is needed to see what a choice of parameters makes of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cfnlint.decode import decode

ROOT = Path(__file__).parents[2]
STORAGE = ROOT / "infra" / "storage.yaml"
OBSERVABILITY = ROOT / "infra" / "observability.yaml"
CLOUDFRONT = ROOT / "infra" / "cloudfront.yaml"
TEMPLATE = ROOT / "template.yaml"


def read(path: Path) -> dict[str, Any]:
    """A template as it is written, intrinsic functions in their long form."""
    template, faults = decode(str(path))
    assert not faults, faults
    return template


def of_type(template: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The resources of one type, by name."""
    return {name: item for name, item in template["Resources"].items() if item["Type"] == kind}


def chosen(template: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:
    """The resources that there are under these parameters, with every `Fn::If` decided."""
    defaults = {name: item.get("Default") for name, item in template.get("Parameters", {}).items()}
    return _Choice(template, {**defaults, **parameters}).resources()


def statements(resources: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(resource, statement) of every policy that gives rights to somebody."""
    for name, item in resources.items():
        properties = item.get("Properties", {})
        documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        if "PolicyDocument" in properties:
            documents.append(properties["PolicyDocument"])
        for document in documents:
            for statement in document["Statement"]:
                yield name, statement


def as_list(value: Any) -> list[Any]:
    """What may stand alone or in a list."""
    return value if isinstance(value, list) else [value]


class _Choice:
    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        self._template = template
        self._parameters = parameters

    def resources(self) -> dict[str, Any]:
        there = {
            name: item
            for name, item in self._template["Resources"].items()
            if "Condition" not in item or self._holds(item["Condition"])
        }
        return self._decided(there)

    def _holds(self, condition: Any) -> bool:
        if isinstance(condition, str):
            return self._holds(self._template["Conditions"][condition])
        ((word, value),) = condition.items()
        match word:
            case "Condition":
                return self._holds(value)
            case "Fn::Not":
                return not self._holds(value[0])
            case "Fn::Equals":
                left, right = (self._value(side) for side in value)
                return left == right
        raise AssertionError(f"{word} in a condition")

    def _value(self, side: Any) -> Any:
        return self._parameters[side["Ref"]] if isinstance(side, dict) else side

    def _decided(self, node: Any) -> Any:
        if isinstance(node, list):
            items = (self._decided(item) for item in node)
            return [item for item in items if item != {"Ref": "AWS::NoValue"}]
        if not isinstance(node, dict):
            return node
        if set(node) == {"Fn::If"}:
            condition, yes, no = node["Fn::If"]
            return self._decided(yes if self._holds(condition) else no)
        pairs = ((key, self._decided(value)) for key, value in node.items())
        return {key: value for key, value in pairs if value != {"Ref": "AWS::NoValue"}}
