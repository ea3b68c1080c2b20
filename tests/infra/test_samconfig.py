"""Laws of `samconfig.toml`: three stages that do not touch each other."""

import tomllib
from typing import Any

import pytest

from infra.templates import ROOT, TEMPLATE, read

STAGES = ("default", "staging", "prod")


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    return tomllib.loads((ROOT / "samconfig.toml").read_text())


def overrides(config: dict[str, Any], stage: str) -> dict[str, str]:
    pairs = config[stage]["deploy"]["parameters"]["parameter_overrides"].split()
    return dict(pair.split("=", 1) for pair in pairs)


def test_every_stage_is_there_and_is_linted(config: dict[str, Any]) -> None:
    assert set(config) == {"version", *STAGES}
    assert all(config[stage]["validate"]["parameters"]["lint"] for stage in STAGES)


def test_no_two_stages_share_a_stack_or_keys(config: dict[str, Any]) -> None:
    stacks = {config[stage]["global"]["parameters"]["stack_name"] for stage in STAGES}
    paths = {overrides(config, stage)["KeyPath"] for stage in STAGES}
    assert len(stacks) == len(paths) == len(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_what_a_stage_sets_is_a_parameter_and_allowed(config: dict[str, Any], stage: str) -> None:
    parameters = read(TEMPLATE)["Parameters"]
    for name, value in overrides(config, stage).items():
        allowed = parameters[name].get("AllowedValues")
        assert allowed is None or value in {str(item) for item in allowed}


@pytest.mark.parametrize("stage", STAGES)
def test_a_deployment_may_make_roles_and_nested_stacks_and_no_named_ones(
    config: dict[str, Any], stage: str
) -> None:
    capabilities = config[stage]["deploy"]["parameters"]["capabilities"].split()
    assert sorted(capabilities) == ["CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM"]
