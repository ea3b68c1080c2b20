"""Data URLs (RFC 2397): what a caller sends inline, as media type and base64.

Must never fetch anything and never decode what is base64 already. Raises InvalidRequest for a URL without
data.
"""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

from motes.errors import InvalidRequest

_HEAD: Final = "data:"


def is_data_url(url: str) -> bool:
    """Whether it holds its data itself."""
    return url[: len(_HEAD)].lower() == _HEAD


def parted(url: str, place: str) -> tuple[str, str]:
    """Media type and base64 of a data URL; `place` names it in an error."""
    head, comma, data = url[len(_HEAD) :].partition(",")
    mime, *parameters = (piece.strip().lower() for piece in head.split(";"))
    if not comma or not data:
        raise InvalidRequest(
            f"{place}: a data URL holds nothing after its comma", param=place, code="invalid_data_url"
        )
    if "base64" not in parameters:
        return mime or "text/plain", base64.b64encode(unquote_to_bytes(data)).decode()
    plain = unquote_to_bytes(data).decode("ascii", "ignore") if "%" in data else data
    return mime or "text/plain", "".join(plain.split())


def text_of(data: str, place: str) -> str:
    """The text that base64 holds. Raises InvalidRequest where it is none."""
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise InvalidRequest(
            f"{place}: the data is not valid base64", param=place, code="invalid_file"
        ) from None
