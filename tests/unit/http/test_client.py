"""Requests as sent, hosts that are down, redirects, the token, proxies."""

from __future__ import annotations

import json
import logging
import select
import socket
import traceback
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from benchproof.errors import ConfigError
from unit.http.conftest import (
    LINK,
    NOW,
    QUERY,
    SECRET,
    TOKEN,
    Client,
    Handler,
    Server,
    Step,
    answer,
    fails,
    no_name,
    serve_tls,
)

# --- a plain request -----------------------------------------------------------------------------


def test_a_request_says_who_asks_and_wants_no_compression(client: Client, server: Server) -> None:
    response = client.get(server.url + "/a?b=c")
    assert (response.status, response.body, response.complete) == (200, b"ok", True)
    method, path, headers, body = server.log[0]
    assert (method, path, body) == ("GET", "/a?b=c", b"")
    assert headers["User-Agent"].startswith("benchproof/")
    assert headers["Accept-Encoding"] == "identity"
    assert not {"Authorization", "Cookie", "X-Api-Key"} & headers.keys()


def test_connections_are_kept_and_cookies_are_not(client: Client, server: Server) -> None:
    server.script = [answer(Set_Cookie="a=b"), answer(), answer(404, b"no"), answer()]
    for _ in range(4):
        client.get(server.url)
    assert server.connections == 1
    assert all("Cookie" not in headers for _, _, headers, _ in server.log)


def test_netrc_is_never_read(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    client.get(server.url)
    assert "Authorization" not in server.log[0][2]


def test_an_answer_shows_no_secret(client: Client, server: Server) -> None:
    response = client.get(server.url + "/" + QUERY)
    assert response.url.endswith(QUERY)
    assert SECRET not in repr(response)


@pytest.mark.parametrize("name", ["Authorization", "cookie"])
def test_callers_cannot_set_what_only_the_client_may(client: Client, name: str) -> None:
    with pytest.raises(ValueError, match="not the caller's"):
        client.get("http://127.0.0.1/", headers={name: "x"})


@pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 403, 404, 409, 416, 422, 451, 501])
def test_other_statuses_are_the_callers(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status, b"" if status in (204, 304) else b"x")]
    assert client.get(server.url).status == status
    assert client.waits == []


def test_json_is_sent_as_json(client: Client, server: Server) -> None:
    client.request("POST", server.url, json={"path": "é"})
    assert json.loads(server.log[0][3]) == {"path": "é"}
    assert server.log[0][3].isascii()


# --- hosts that are down -------------------------------------------------------------------------


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_refused_connection_is_given_up_quickly() -> None:
    host = f"127.0.0.1:{closed_port()}"
    url = f"http://{host}/x"
    with Client(url) as client:
        fails(client, url + QUERY, "refused")
        assert client.waits == [0.5]
        assert client.traffic.hosts()[host].requests == 2
        # For a while nobody else tries: a run without a network ends soon.
        fails(client, url + QUERY, "refused")
        assert client.traffic.hosts()[host].requests == 2
        client.time += 11
        fails(client, url, "refused")
        assert client.traffic.hosts()[host].requests == 4


def test_a_host_that_has_answered_gets_all_tries(server: Server) -> None:
    with Client(server.url, tries=4) as client:
        server.script = [answer(Connection="close")]
        client.get(server.url)
        server.shutdown()
        server.server_close()
        fails(client, server.url, "refused")
        assert client.waits == [0.5, 1.0, 2.0]


# --- redirects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_get_follows_redirects(client: Client, server: Server, status: int) -> None:
    server.script = [answer(status, Location="/b?c=%20d"), answer(body=b"good")]
    response = client.get(server.url + "/a")
    assert (response.body, response.redirects) == (b"good", (status,))
    assert response.url == server.url + "/b?c=%20d"
    assert server.lines() == ["GET /a", "GET /b?c=%20d"]


def test_a_post_stays_a_post(client: Client, server: Server) -> None:
    """BR-11 (b)."""
    server.script = [answer(307, Location="/b"), answer(301, Location="/c"), answer(body=b"good")]
    assert client.request("POST", server.url + "/a", json=[1]).body == b"good"
    assert server.lines() == ["POST /a", "POST /b", "POST /c"]
    assert [body for *_, body in server.log] == [b"[1]"] * 3


def test_a_post_answered_303_is_an_error(client: Client, server: Server) -> None:
    server.script = [answer(303, Location="/b")]
    fails(client, server.url, "malformed", method="POST", idempotent=True)
    assert server.lines() == ["POST /"]


@pytest.mark.parametrize("status", [301, 302])
def test_a_post_is_not_repeated_elsewhere(server: Server, other: Server, status: int) -> None:
    server.script = [answer(status, Location=other.url)]
    with Client(server.url, other.url) as client:
        fails(client, server.url, "malformed", method="POST", json={})
    assert other.log == []


def test_following_can_be_bounded(server: Server, other: Server) -> None:
    server.script = [answer(301, Location=other.url)]
    with Client(server.url, other.url) as client:
        assert client.get(server.url).body == b"ok"
        fails(client, server.url, "host_not_allowed", follow="same_origin")
        assert client.get(server.url, follow="none").status == 301


def test_a_circle_of_redirects_ends(client: Client, server: Server) -> None:
    server.script = [answer(302, Location="/")]
    fails(client, server.url, "malformed")
    assert len(server.log) == 6


# --- the token -----------------------------------------------------------------------------------


def with_token(server: Server, *allowed: str, token: str = TOKEN, path: str = "/api") -> Client:
    environ = {"GITHUB_TOKEN": token}
    return Client(*allowed, authorized=[server.url + path], environ=environ)


def authorizations(server: Server) -> list[str | None]:
    return [headers.get("Authorization") for _, _, headers, _ in server.log]


def test_the_token_goes_where_it_is_asked_for_and_meant(server: Server) -> None:
    """One server may be API and storage at once: the path counts too."""
    with with_token(server) as client:
        client.get(server.url + "/api/a", auth=True)
        client.get(server.url + "/api/a")
        client.get(server.url + "/apis", auth=True)
        client.get(server.url + "/storage", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}", None, None, None]


def test_the_token_is_dropped_when_the_host_changes(server: Server, other: Server) -> None:
    """Also when a later redirect leads back."""
    server.script = [answer(302, Location=other.url), answer()]
    other.script = [answer(302, Location=server.url + "/api/b")]
    with with_token(server, other.url) as client:
        client.get(server.url + "/api/a", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}", None]
    assert authorizations(other) == [None]


def test_the_token_survives_a_redirect_within(server: Server) -> None:
    server.script = [answer(301, Location="/api/b"), answer(302, Location="/raw"), answer()]
    with with_token(server) as client:
        client.get(server.url + "/api/a", auth=True)
    assert authorizations(server) == [f"Bearer {TOKEN}"] * 2 + [None]


def test_a_refused_token_is_dropped_once(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    def step(handler: Handler) -> None:
        answer(401 if handler.headers.get("Authorization") else 200)(handler)

    server.script = [step]
    with with_token(server) as client:
        had_token = client.has_token
        for _ in range(2):
            assert client.get(server.url + "/api", auth=True).status == 200
        assert (had_token, client.has_token) == (True, False)
        assert client.waits == []
    assert authorizations(server) == [f"Bearer {TOKEN}", None, None]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in warnings] == [
        "GITHUB_TOKEN is refused by GitHub (401): going on without it. Renew or unset it."
    ]


def test_401_without_a_token_is_the_callers(client: Client, server: Server) -> None:
    server.script = [answer(401)]
    assert client.get(server.url, auth=True).status == 401
    assert len(server.log) == 1


@pytest.mark.parametrize("token", ["TOK\nEN3", " TOKEN3", "TOKEN3\r\nX: y", "TOKEN3\x00", "é"])
def test_a_token_that_cannot_be_sent_is_a_config_error(server: Server, token: str) -> None:
    with pytest.raises(ConfigError, match="GITHUB_TOKEN") as caught:
        with_token(server, token=token)
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


def test_an_empty_token_is_none(server: Server) -> None:
    with with_token(server, token="") as client:
        assert not client.has_token


# --- proxies -------------------------------------------------------------------------------------


def test_proxies_of_the_environment_are_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only the proxy can resolve; the proxy's password is for the proxy alone."""
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("//", "//u:p@"))
    with Client("http://api.example.test", resolve=no_name) as client:
        assert client.get("http://api.example.test/x").body == b"ok"
    assert server.lines() == ["GET http://api.example.test/x"]
    assert server.log[0][2]["Proxy-Authorization"].startswith("Basic ")
    assert "Authorization" not in server.log[0][2]


def test_no_proxy_is_honoured(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert client.get(server.url).body == b"ok"


def test_a_dead_proxy_is_named_by_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://u:SECRET1@127.0.0.1:{closed_port()}")
    with Client("https://api.example.test") as client:
        fails(client, LINK, "refused")


def test_a_proxy_that_refuses(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    server.script = [answer(407)]
    with Client("https://api.example.test") as client:
        fails(client, LINK, "refused")
    assert server.lines() == ["CONNECT api.example.test:443"] * 2


def tunnel(port: int) -> Step:
    """A step that lets a CONNECT through to a port here, whatever host it names."""

    def step(handler: Handler) -> None:
        handler.close_connection = True
        with socket.create_connection(("127.0.0.1", port)) as far:
            handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ends = {handler.connection: far, far: handler.connection}
            while ready := select.select(list(ends), [], [], 5)[0]:
                data = ready[0].recv(65536)
                if not data:
                    break
                ends[ready[0]].sendall(data)

    return step


def test_a_proxy_is_tunnelled_through(
    server: Server, other: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate is the far server's, and the proxy sees neither path nor token."""
    serve_tls(server, certificate)
    other.script = [tunnel(server.server_port)]
    monkeypatch.setenv("HTTPS_PROXY", other.url)
    url = "https://127.0.0.1:1/x"
    environ = {"SSL_CERT_FILE": f"{certificate}.crt", "GITHUB_TOKEN": TOKEN}
    with Client(authorized=[url], environ=environ) as client:
        assert client.get(url, auth=True).body == b"ok"
    assert other.lines() == ["CONNECT 127.0.0.1:1"]
    assert authorizations(other) == [None]
    assert authorizations(server) == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_proxy_of_another_kind_is_a_config_error(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with Client("https://api.example.test") as client, pytest.raises(ConfigError, match="proxy"):
        client.get(LINK)


@pytest.mark.parametrize(
    ("offset_s", "said"),
    [
        (0, None),
        (880, None),
        (-880, None),
        (3600, "60 minutes behind"),
        (-3600, "60 minutes ahead"),
    ],
    ids=["equal", "a little behind", "a little ahead", "an hour behind", "an hour ahead"],
)
def test_a_clock_that_is_far_off_is_told_once(
    server: Server,
    client: Client,
    caplog: pytest.LogCaptureFixture,
    offset_s: int,
    said: str | None,
) -> None:
    """BR-52: AWS allows a quarter of an hour; the server's Date header tells."""
    theirs = NOW + timedelta(seconds=offset_s)
    server.script = [answer(Date=format_datetime(theirs, usegmt=True))]
    for _ in range(3):
        client.get(server.url)
    told = [r.getMessage() for r in caplog.records if "clock" in r.getMessage()]
    assert len(told) == (said is not None)
    assert said is None or said in told[0]


def test_without_a_date_nothing_is_said_of_the_clock(
    server: Server, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.get(server.url)
    assert not [r for r in caplog.records if "clock" in r.getMessage()]
