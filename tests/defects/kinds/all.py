"""Every kind, imported so that its cases are entered, in the order of the page."""

from __future__ import annotations

from importlib import import_module

ORDER = (
    *("manifest", "tree", "files", "graders", "seeded", "runs", "published", "claims", "storage"),
    "clean",
)
for _name in ORDER:
    import_module(f"defects.kinds.{_name}")
