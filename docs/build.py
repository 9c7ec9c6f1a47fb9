"""Write docs/statuses.md and docs/findings.md from the code, so that they cannot disagree with it.

.venv/bin/python docs/build.py
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "scripts"))

from benchproof.findings import RULES, SEVERITIES  # noqa: E402
from benchproof.report.html import MEANINGS  # noqa: E402

MADE = "<!-- made by docs/build.py -->\n\n"


def statuses() -> str:
    """Return the page of statuses."""
    rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in sorted(MEANINGS.items()))
    intro = "What stands in the `status` columns, and what it means."
    return f"{MADE}# Statuses\n\n{intro}\n\n| status | meaning |\n|---|---|\n{rows}"


def findings() -> str:
    """Return the page of finding kinds, worst first."""
    ranked = sorted(RULES.items(), key=lambda item: (SEVERITIES.index(item[1].severity), item[0]))
    rows = "".join(
        f"| {r.severity} | `{name}` | {r.message} | {r.remedy} |\n" for name, r in ranked
    )
    head = "| severity | rule | what is wrong | what to do |\n|---|---|---|---|\n"
    return f"{MADE}# Findings\n\nEvery kind of finding that an audit can report, worst first.\n\n{head}{rows}"


PAGES = {"statuses.md": statuses, "findings.md": findings}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
