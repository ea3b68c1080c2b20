"""Verifies a Signature Version 4 as AWS does, from its description alone: no part of it is botocore's.

Source: "Create a signed AWS API request" (docs.aws.amazon.com/IAM, read 2026-11-29).
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit


def expected_signature(
    method: str, url: str, headers: Mapping[str, str], body: bytes, secret_key: str
) -> str:
    """The signature these headers should carry, by what their `authorization` says is signed."""
    parts = urlsplit(url)
    given = {name.lower(): " ".join(value.split()) for name, value in headers.items()} | {
        "host": parts.netloc
    }
    scope, signed = _told(given["authorization"])
    canonical = "\n".join(
        [
            method,
            # Every service but S3 wants the path as it is sent, encoded once more.
            quote(parts.path, safe="/~"),
            "&".join(sorted(parts.query.split("&"))) if parts.query else "",
            *(f"{name}:{given[name]}" for name in signed),
            "",
            ";".join(signed),
            hashlib.sha256(body).hexdigest(),
        ]
    )
    text = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            given["x-amz-date"],
            "/".join(scope),
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{secret_key}".encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def signature_of(headers: Mapping[str, str]) -> str:
    """The signature in an `authorization` header."""
    return next(v for n, v in headers.items() if n.lower() == "authorization").rpartition("Signature=")[2]


def _told(authorization: str) -> tuple[list[str], list[str]]:
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=[^/]+/([^,]+), SignedHeaders=([^,]+), Signature=[0-9a-f]{64}",
        authorization,
    )
    assert found is not None, authorization
    return found[1].split("/"), found[2].split(";")
