"""How long a vendor asks to be left alone, in seconds.

Must never raise, and never give a wait that nobody can mean.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

# Nobody means more than milliseconds, nor a wait longer than a month.
_DECIMALS: Final = 3
_LONGEST: Final = 30 * 86_400.0
_DURATION: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)s")


def of_headers(headers: Mapping[str, str], now: datetime) -> float | None:
    """From `retry-after-ms` or `retry-after` (seconds or a date, RFC 9110 10.2.3). Names are lower case."""
    try:
        seconds = _seconds(headers, now)
    except (ValueError, TypeError, OverflowError):
        return None
    return None if seconds is None else _meant(seconds)


def of_duration(text: str) -> float | None:
    """From a duration as Google writes it in JSON: `34.5s`."""
    told = _DURATION.fullmatch(text)
    return _meant(float(told[1])) if told else None


def _seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    if "retry-after-ms" in headers:
        return float(headers["retry-after-ms"]) / 1000
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    return (parsedate_to_datetime(value) - now).total_seconds() if value else None


def _meant(seconds: float) -> float | None:
    if not isfinite(seconds) or seconds > _LONGEST:
        return None
    return round(max(0.0, seconds), _DECIMALS)
