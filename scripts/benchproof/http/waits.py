"""Which answers are tried again, and how long a server asks to wait.

Tried again are 429, 500, 502, 503, 504, and GitHub's limits. Retry-After (seconds or a date) and
X-RateLimit-Reset are obeyed, judged by the server's clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from benchproof.http.transport import Failure

if TYPE_CHECKING:
    from benchproof.http.client import Response

#: GitHub: "wait for at least one minute before retrying" when a secondary limit names no time.
SECONDARY_S = 60.0
_RETRIED = frozenset({500, 502, 503, 504})


def server_time(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the server's clock by its Date header, else `now`: ours may be off by hours."""
    return _http_date(headers.get("Date", "")) or now


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that Retry-After asks for; None when it is absent, past or invalid."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]+", text):
        seconds = min(float(text), 1e9)
    else:
        until = _http_date(text)
        seconds = (until - server_time(headers, now)).total_seconds() if until else 0.0
    return seconds if seconds > 0 else None


def limit_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds until GitHub's allowance resets; None when the headers don't say."""
    text = headers.get("X-RateLimit-Reset", "").strip()
    if not re.fullmatch(r"[0-9]{1,12}", text):
        return None
    # One second more: the reset is given in whole seconds.
    return max(0.0, int(text) - server_time(headers, now).timestamp()) + 1


def verdict(response: Response, now: datetime) -> Failure | None:
    """Return why an answer is to be retried, or None for one that is the caller's."""
    status, headers = response.status, response.headers
    detail = f"HTTP {status}"
    asked = retry_after(headers, now)
    if status in (403, 429) and headers.get("X-RateLimit-Remaining", "").strip() == "0":
        return Failure("throttled", detail, asked or limit_reset(headers, now))
    if status in (403, 429) and _is_secondary(response.body):
        return Failure("throttled", detail, asked or SECONDARY_S)
    if status == 429 or (status == 403 and "Retry-After" in headers):
        return Failure("throttled", detail, asked)
    if status in _RETRIED and ("Retry-After" in headers or b"SlowDown" in response.body):
        return Failure("throttled", detail, asked)
    return Failure("server_error", detail) if status in _RETRIED else None


def _is_secondary(body: bytes) -> bool:
    """True for GitHub's documented message; the older wording is still in use on raw."""
    text = body.lower()
    return b"secondary rate limit" in text or b"abuse detection" in text
