"""Retries and waits: what a server asks for, and the budget that bounds it."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from unit.http.conftest import (
    NOW,
    QUERY,
    Client,
    Server,
    answer,
    fails,
)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_passing_trouble_is_retried(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status), answer(status), answer(body=b"good")]
    assert client.get(server.url).body == b"good"
    assert client.waits == [0.5, 1.0]


def test_a_signing_post_is_retried_as_a_post(client: Client, server: Server) -> None:
    server.script = [answer(503), answer(503), answer()]
    client.request("POST", server.url, json={"path": "latch://1.node"}, idempotent=True)
    assert server.lines() == ["POST /"] * 3
    assert {body for *_, body in server.log} == {b'{"path": "latch://1.node"}'}
    assert server.log[0][2]["Content-Type"] == "application/json"


def test_a_post_that_may_not_be_repeated_is_sent_once(client: Client, server: Server) -> None:
    server.script = [answer(503)]
    fails(client, server.url, "server_error", method="POST", json={})
    assert len(server.log) == 1


def test_trouble_that_stays_is_an_error_with_its_cause(client: Client, server: Server) -> None:
    server.script = [answer(502)]
    message = fails(client, server.url + "/x" + QUERY, "server_error")
    assert client.waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert f"GET {server.url}/x: not reachable (server_error). HTTP 502, tried 6" in message
    assert "o/n at main" in fails(client, server.url, "server_error", what="o/n at main")


def date(seconds: float) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("status", [429, 503, 403])
@pytest.mark.parametrize(
    ("value", "waits"),
    [
        ("7", [7.0]),
        ("0", [0.5]),
        ("-5", [0.5]),
        ("soon", [0.5]),
        ("", [0.5]),
        ("1.5", [0.5]),
        ("١٢", [0.5]),
        (date(20), [20.0]),
        (date(-20), [0.5]),
        ("Fri, 99 Foo 2026", [0.5]),
    ],
)
def test_retry_after_in_any_form(
    client: Client, server: Server, status: int, value: str, waits: list[float]
) -> None:
    value = value.encode().decode("latin-1")
    server.script = [answer(status, Retry_After=value), answer(body=b"good")]
    assert client.get(server.url).body == b"good"
    assert client.waits == waits


def test_a_date_is_judged_by_the_servers_clock(client: Client, server: Server) -> None:
    """The server lives an hour ahead: 20 s later there is 20 s here too."""
    server.script = [answer(503, Date=date(3600), Retry_After=date(3620)), answer()]
    client.get(server.url)
    assert client.waits == [20.0]


@pytest.mark.parametrize("value", ["86400", "9" * 500, date(86400)])
def test_a_wait_beyond_the_budget_fails_at_once(client: Client, server: Server, value: str) -> None:
    server.script = [answer(503, Retry_After=value)]
    message = fails(client, server.url, "throttled")
    assert client.waits == []
    assert "asked to wait" in message
    assert "http.max_wait_s allows 300 s" in message


def test_waits_share_one_budget(client: Client, server: Server) -> None:
    server.script = [answer(429, Retry_After="140")]
    fails(client, server.url, "throttled")
    assert client.waits == [140.0, 140.0]


def test_slow_down_of_s3_is_a_throttle(client: Client, server: Server) -> None:
    server.script = [answer(503, b"<Error><Code>SlowDown</Code></Error>")]
    fails(client, server.url, "throttled")


def reset(seconds: float) -> str:
    return str(int((NOW + timedelta(seconds=seconds)).timestamp()))


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"X_RateLimit_Reset": reset(60)}, [61.0]),
        ({"X_RateLimit_Reset": reset(-60)}, [1.0]),
        ({"X_RateLimit_Reset": "soon"}, [0.5]),
        ({}, [0.5]),
        ({"X_RateLimit_Reset": reset(60), "Retry_After": "9"}, [9.0]),
        ({"X_RateLimit_Reset": reset(3660), "Date": date(3600)}, [61.0]),
    ],
)
def test_the_primary_limit_is_waited_for(
    client: Client, server: Server, status: int, headers: dict[str, str], waits: list[float]
) -> None:
    server.script = [answer(status, b"", X_RateLimit_Remaining="0", **headers), answer()]
    client.get(server.url)
    assert client.waits == waits


def test_the_primary_limit_beyond_the_budget(client: Client, server: Server) -> None:
    server.script = [answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset(3000))]
    assert "asked to wait 3001 s" in fails(client, server.url, "throttled")


def test_the_secondary_limit_without_a_time_waits_a_minute(client: Client, server: Server) -> None:
    body = b'{"message": "You have exceeded a secondary rate limit. Please wait."}'
    server.script = [answer(403, body), answer(429, body), answer()]
    client.get(server.url)
    assert client.waits == [60.0, 60.0]


def test_a_refusal_is_no_limit(client: Client, server: Server) -> None:
    server.script = [answer(403, b'{"message": "Forbidden"}', X_RateLimit_Remaining="12")]
    assert client.get(server.url).status == 403
