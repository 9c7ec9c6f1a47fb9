"""Fetching: one object behind a handle into the vault, in parallel ranges, resumable at any instant.

- engine.py: `fetch`, which brings one object or says why not.
- transfer.py, lane.py: the connections. means.py, patience.py: with what, and how long each goes on.
- plan.py: which bytes are asked for next.
- answer.py: what an answer is worth.
- store.py, part.py, journal.py, owner.py: finished and unfinished files.
- digests.py: what was brought, against the ETag.
"""

from benchproof.storage.fetch.engine import CHUNK_BYTES, fetch
from benchproof.storage.fetch.store import Record, Store

__all__ = ["CHUNK_BYTES", "Record", "Store", "fetch"]
