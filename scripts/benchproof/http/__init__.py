"""HTTP for the REST source, the signer and the storage probes: bounded, counted and discreet.

This room alone reads GITHUB_TOKEN and the proxy settings; within it client.py holds them. Inside:

- client.py: `Http`, which sends: retries, redirects, the token, proxies.
- hosts.py: what may be contacted.
- waits.py: which answers are tried again, and when.
- transport.py: connections, the stall rule, failures by cause, streams, compression.
- traffic.py: what is counted.
"""

from benchproof.http.client import Http, Response
from benchproof.http.traffic import HostTraffic, Traffic
from benchproof.http.transport import Stream, StreamFailed
from benchproof.http.waits import server_time

__all__ = [
    "HostTraffic",
    "Http",
    "Response",
    "Stream",
    "StreamFailed",
    "Traffic",
    "server_time",
]
