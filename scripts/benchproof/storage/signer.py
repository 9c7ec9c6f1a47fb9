"""The signer: a handle goes in, a signed URL or a refusal comes out. No Authorization, ever.

POST {"path": handle}. HTTP 400 is an observation ("not shared or doesn't exist", one answer for both);
what keeps an answer away is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchproof.errors import Unreachable
from benchproof.http import Http, Response
from benchproof.http.hosts import Endpoint, Target, UrlError

_MAX_ANSWER = 1 << 20
#: Answers that are asked for once more before they are believed.
DOUBTED = ("refused", "unauthorized", "malformed")


@dataclass(frozen=True, slots=True)
class Signed:
    """What the signer says of a handle.

    `status` is reachable, refused, unauthorized, malformed or unknown, `reason` a fixed code; `url` holds
    a signature, so neither repr nor a message shows it.
    """

    status: str
    reason: str | None
    http_status: int | None
    url: str | None = field(default=None, repr=False)


class Signer:
    """Asks the configured signer; one instance serves all threads of a job."""

    def __init__(self, http: Http, endpoint: str, storage: Iterable[str]) -> None:
        self._http, self._endpoint = http, endpoint
        self._storage = [Endpoint.of(url) for url in storage]

    def sign(self, handle: str) -> Signed:
        """Return the signer's answer for one handle; a request that stays without one is `unknown`."""
        try:
            answer = self._http.request(
                "POST",
                self._endpoint,
                what=handle,
                json={"path": handle},
                idempotent=True,
                max_bytes=_MAX_ANSWER,
                follow="same_origin",
            )
        except Unreachable as error:
            return Signed("unknown", error.cause, None)
        return self._read(answer)

    def _read(self, answer: Response) -> Signed:
        status = answer.status
        if status == 400:
            return Signed("refused", "not_shared_or_unknown", status)
        if status in (401, 403):
            return Signed("unauthorized", f"http_{status}", status)
        if status != 200:
            return Signed("unknown", f"http_{status}", status)
        try:
            url = json.loads(answer.body)["data"]["url"]
        except (ValueError, RecursionError):
            return Signed("malformed", "not_json", status)
        except (KeyError, TypeError, IndexError):
            return Signed("malformed", "no_url", status)
        return self._judged(url, status)

    def _judged(self, url: object, status: int) -> Signed:
        if not isinstance(url, str):
            return Signed("malformed", "no_url", status)
        try:
            target = Target.of(url)
        except UrlError:
            return Signed("malformed", "bad_url", status)
        if not any(endpoint.admits(target) for endpoint in self._storage):
            # Whether the data can be had is not known: we may not look.
            return Signed("unknown", "host_not_allowed", status)
        return Signed("reachable", None, status, url)
