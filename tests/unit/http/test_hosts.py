"""What may be contacted: wildcards, private addresses, names that don't resolve, unusable endpoints."""

from __future__ import annotations

import threading
import time
import traceback

import pytest
import requests

from benchproof.errors import ConfigError
from benchproof.http import client as client_module
from benchproof.http.hosts import is_public
from unit.http.conftest import (
    QUERY,
    SECRET,
    Broken,
    Client,
    Server,
    answer,
    fails,
    no_name,
)


def test_a_name_that_does_not_resolve() -> None:
    with Client("https://api.example.test", resolve=no_name) as client:
        fails(client, "https://api.example.test/x" + QUERY, "dns")
        assert client.waits == [0.5]


def test_a_resolver_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "RESOLVE_S", 0.05)
    release = threading.Event()

    def hang(*_: object) -> list[str]:
        release.wait(5)
        return []

    with Client("https://api.example.test", resolve=hang) as client:
        started = time.monotonic()
        fails(client, "https://api.example.test/x", "dns")
        assert time.monotonic() - started < 1
    release.set()


def test_a_redirect_goes_to_configured_hosts_only(client: Client, server: Server) -> None:
    for location in (
        "http://127.0.0.2:1/",
        f"http://127.0.0.1:{server.server_port + 1}/",
        f"https://127.0.0.1:{server.server_port}/",
        f"http://u:p@127.0.0.1:{server.server_port}/",
        "file:///etc/passwd",
        "http://[::1",
        "http://evil.test\\@127.0.0.1/",
    ):
        server.script = [answer(302, Location=location + QUERY)]
        fails(client, server.url, "host_not_allowed")


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://b.s3.us-west-2.amazonaws.com/k", True),
        ("https://s3.amazonaws.com/b/k", True),
        ("https://S3.AmazonAWS.com:443/b/k", True),
        ("https://amazonaws.com/k", False),
        ("https://amazonaws.com.evil.org/k", False),
        ("https://evilamazonaws.com/k", False),
        ("https://evil.org/.amazonaws.com", False),
        ("https://evil.org\\.amazonaws.com/", False),
        ("https://evil.org#.amazonaws.com/", False),
        ("https://evil.org?.amazonaws.com/", False),
        ("https://a@s3.amazonaws.com/", False),
        ("https://s3.amazonaws.com:8443/", False),
        ("http://s3.amazonaws.com/", False),
        ("https://s3.amazonaws.com./", False),
        ("https://s3%2eamazonaws.com/", False),
        ("https://..amazonaws.com/", False),
        ("https://evil.org\t.amazonaws.com/", False),
        ("//s3.amazonaws.com/", False),
        ("s3.amazonaws.com", False),
        ("", False),
    ],
)
def test_wildcards_allow_sub_domains_alone(url: str, allowed: bool) -> None:
    adapter = Broken(requests.ReadTimeout())
    resolve = {"resolve": lambda *_: ["52.0.0.1"]}
    with Client("https://*.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, url, "timeout" if allowed else "host_not_allowed")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%1"]
)
def test_a_wildcard_host_may_not_be_private(address: str) -> None:
    resolve = {"resolve": lambda *_: ["52.0.0.1", address]}
    adapter = Broken(requests.ReadTimeout())
    with Client("https://*.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, "https://x.amazonaws.com/", "host_not_allowed")
        assert client.traffic.hosts() == {}
    with Client("https://x.amazonaws.com", adapter=adapter, tries=1, **resolve) as client:
        fails(client, "https://x.amazonaws.com/", "timeout")


def test_public_addresses() -> None:
    assert is_public("52.0.0.1")
    assert is_public("2606:4700::1111")
    assert not is_public("224.0.0.1")
    assert not is_public("100.64.0.1")


@pytest.mark.parametrize(
    "url",
    ["https://u:SECRET1@github.com", "github.com", "ftp://github.com", "https://", "https://é.com",
     "https://x:SECRET1/", "https://*", "https://a b"],
)  # fmt: skip
def test_endpoints_that_cannot_be_used(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Client(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "address",
    [
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "::127.0.0.1", "2002:7f00:1::", "2002:a00:1::1"),
        *(
            "2001:0:a00:1::",
            "::ffff:169.254.169.254",
            "fe80::1%eth0",
            "::1",
            "100.64.0.1",
            "0.0.0.0",
        ),
    ],
)
def test_what_a_gateway_turns_into_a_private_address_is_private(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_public_addresses_stay_public(address: str) -> None:
    assert is_public(address)
