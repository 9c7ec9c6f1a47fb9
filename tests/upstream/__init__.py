"""The embedded upstream: GitHub, signer and storage on one loopback port, with switchable
faults.
"""

from upstream.faults import KINDS, Fault
from upstream.log import Record
from upstream.objects import StoredObject
from upstream.server import TOKEN, Upstream

__all__ = ["KINDS", "TOKEN", "Fault", "Record", "StoredObject", "Upstream"]
