"""Laws of the optional CloudFront before the gateway: it keeps nothing, and waits longer than motes is silent."""

from typing import Any

import pytest

from infra.templates import CLOUDFRONT, chosen, read
from motes.settings import Settings

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_BUT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return read(CLOUDFRONT)


def config(template: dict[str, Any], **parameters: str) -> dict[str, Any]:
    return chosen(template, **parameters)["Distribution"]["Properties"]["DistributionConfig"]


def test_the_shortest_gap_is_longer_than_motes_is_ever_silent(template: dict[str, Any]) -> None:
    (origin,) = config(template)["Origins"]
    assert origin["CustomOriginConfig"]["OriginReadTimeout"] == {"Ref": "MaxGap"}
    shortest = template["Parameters"]["MaxGap"]["MinValue"]
    silent = Settings.model_fields["heartbeat_s"].default + 0.5
    unanswered = Settings.model_fields["commit_after_s"].default + 0.5
    assert max(silent, unanswered) < shortest


def test_nothing_is_kept_or_compressed_and_the_callers_key_goes_on(template: dict[str, Any]) -> None:
    behaviour = config(template)["DefaultCacheBehavior"]
    assert behaviour["CachePolicyId"] == CACHING_DISABLED
    assert behaviour["OriginRequestPolicyId"] == ALL_BUT_HOST
    assert behaviour["Compress"] is False
    assert {"GET", "POST", "DELETE", "OPTIONS"} <= set(behaviour["AllowedMethods"])


def test_nothing_travels_in_the_clear(template: dict[str, Any]) -> None:
    (origin,) = config(template)["Origins"]
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert config(template)["DefaultCacheBehavior"]["ViewerProtocolPolicy"] == "https-only"


def test_a_name_of_ones_own_comes_with_its_certificate(template: dict[str, Any]) -> None:
    assert "Aliases" not in config(template)
    named = config(template, Domain="llm.example.com", CertificateArn="arn")
    assert named["Aliases"] == [{"Ref": "Domain"}]
    assert named["ViewerCertificate"]["AcmCertificateArn"] == {"Ref": "CertificateArn"}
