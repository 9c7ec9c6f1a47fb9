"""What may be contacted: URLs read strictly, endpoints, addresses, and what is known of a host.

Only configured origins are contacted, after redirects too. A host that is allowed by a wildcard
must resolve to public addresses; a host that is configured by name may be private.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchproof.errors import Cause, ConfigError

_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+\Z")
_UNSAFE = re.compile(r"[^\x21-\x7e]|\\")
_PORTS = {"http": 80, "https": 443}


class UrlError(ValueError):
    """A URL that is refused; the text says why and repeats none of it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads; parsing is strict, so that no other parser can read another host in it."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> Target:
        """Raises UrlError for anything but a plain absolute http(s) URL without userinfo."""
        if _UNSAFE.search(url):
            raise UrlError("it holds a character that no URL may hold")
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
            if parts.netloc.startswith("["):
                host = ipaddress.IPv6Address(host).compressed
        except ValueError:
            # The library's text repeats what it could not parse; ours must not.
            raise UrlError("it can't be parsed") from None
        if "@" in parts.netloc:
            raise UrlError("it holds a user name or password")
        if parts.scheme not in _PORTS or not parts.netloc:
            raise UrlError("it isn't an absolute http or https URL")
        if ":" not in host and not _HOST.match(host):
            raise UrlError("its host name isn't plain ASCII")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], parts.path)

    @property
    def shown(self) -> str:
        """Host, and the port when it isn't the scheme's own: a row of the traffic table."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A configured endpoint; `wildcard` ones allow each sub-domain of their host, at any depth."""

    target: Target
    wildcard: bool

    @classmethod
    def of(cls, text: str) -> Endpoint:
        scheme, mark, rest = text.partition("://*.")
        try:
            return cls(Target.of(f"{scheme}://{rest}" if mark else text), bool(mark))
        except UrlError as error:
            # The text itself may hold a password, so it isn't repeated.
            message = f"endpoints: a URL can't be used: {error}. Write https://host[:port][/path]."
        raise ConfigError(message)

    def admits(self, target: Target) -> bool:
        """True when the endpoint allows contacting the target's origin."""
        if self.wildcard:
            same = target.host.endswith("." + self.target.host)
            return same and target.origin[::2] == self.target.origin[::2]
        return target.origin == self.target.origin

    def contains(self, target: Target) -> bool:
        """True when the target lies under the endpoint's own URL, path included."""
        base = self.target.path.rstrip("/")
        return self.admits(target) and (target.path == base or target.path.startswith(base + "/"))


@dataclass(slots=True)
class HostState:
    """What this process knows of a host."""

    answered: bool = False
    down_since: float | None = None
    down_cause: Cause = "no_network"
    addresses: tuple[float, list[str]] | None = None
    proxies: dict[str, str] | None = None


def is_public(address: str) -> bool:
    """True for an address that the whole internet can reach (not private, loopback, link-local)."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return all(one.is_global and not one.is_multicast for one in _reached(ip))


#: Prefixes of 96 bits before an IPv4 address that a gateway or this machine translates to: NAT64 (RFC 6052)
#: and what is deprecated and still routed by some (::a.b.c.d).
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))


def _reached(
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the addresses that packets to an address may end at: an IPv6 one can hold IPv4 ones."""
    if not isinstance(ip, ipaddress.IPv6Address):
        return [ip]
    if ip.ipv4_mapped:
        return [ip.ipv4_mapped]
    inner = [ip.sixtofour, *(ip.teredo or ())]
    if any(ip in network for network in _TRANSLATED):
        inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return [ip, *(address for address in inner if address is not None)]


def is_address(host: str) -> bool:
    """True for a literal IP address, False for a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def getaddrinfo(host: str, port: int) -> list[str]:
    """Return the addresses that this machine's resolver gives for a host."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
