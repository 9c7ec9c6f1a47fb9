"""A handle's name where no handle can stand: folders of the vault, jobs and their logs."""

from __future__ import annotations

import re
from hashlib import sha256


def folder_name(handle: str) -> str:
    """Return a name for a handle that no file system or shell minds, and no other handle's.

    Digits stay readable; letters don't, since two names may differ in their case alone.
    """
    plain = re.fullmatch(r"latch://([0-9]{1,40})\.node", handle)
    return plain.group(1) if plain else f"handle-{sha256(handle.encode()).hexdigest()[:16]}"
