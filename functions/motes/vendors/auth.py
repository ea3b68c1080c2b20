"""AWS's signature (SigV4) over a request that is about to be sent. The signing is botocore's.

Credentials, service, region and time come as arguments. Must never sign anything but the request as it goes
out: whatever changes it afterwards makes the signature void.
Source: "Signature Version 4 for API requests" (docs.aws.amazon.com/IAM, read 2026-11-29).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from motes.dataclass import dataclass
from motes.errors import PrepareError
from motes.vendors.vendor import Auth

Sign = Callable[[str, str, Mapping[str, str], bytes, datetime], dict[str, str]]
"""Method, URL, headers, body and time of a request: its headers, signed."""

DEFAULT_REGION: Final = "us-east-1"
_TIMESTAMP: Final = "%Y%m%dT%H%M%SZ"
# A region stands between the dots of a host's name: bedrock-runtime.eu-west-1.amazonaws.com
_REGION: Final = re.compile(r"\.([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})\.")


@dataclass(frozen=True, slots=True)
class AWSCredentials:
    """Who signs. A session token belongs to temporary credentials."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, secret: str) -> "AWSCredentials | None":
        """The credentials a secret stands for, `id:key` or `id:key:session token`; None for a bearer key."""
        access_key, *rest = secret.split(":", 2)
        if not access_key or not rest or not rest[0]:
            return None
        return cls(access_key, rest[0], rest[1] if len(rest) > 1 and rest[1] else None)


def signer(auth: Auth, credentials: AWSCredentials) -> Sign:
    """What signs a request. Raises PrepareError where botocore is not installed."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
    except ImportError:
        raise PrepareError("signing a request for AWS needs botocore: install motes[aws]") from None
    who = Credentials(credentials.access_key, credentials.secret_key, credentials.session_token)

    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes, now: datetime) -> dict[str, str]:
        request = AWSRequest(method=method, url=url, headers=dict(headers), data=body)
        request.context["timestamp"] = now.strftime(_TIMESTAMP)
        made: Any = SigV4Auth(who, auth.name, region_of(url) or auth.region or DEFAULT_REGION)
        # The parts of `add_auth`, which would ask the clock itself.
        made._modify_request_before_signing(request)
        said = made.string_to_sign(request, made.canonical_request(request))
        made._inject_signature_to_request(request, made.signature(said, request))
        return {name.lower(): value for name, value in request.headers.items()}

    return sign


def region_of(url: str) -> str | None:
    """The region an address names, if it names one."""
    found = _REGION.search(f".{urlsplit(url).hostname or ''}.")
    return found[1] if found else None
