"""What each rule opens of the vault: the files that it declares, and what stands here; nothing else.

Names are below the vault, and below the hand-overs of the report where they begin with `work/`. A rule
that only renders has no entry of its own to make: NOTHING. A test holds NEEDS to the rule files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Need:
    """What a rule opens of the vault beyond the files it declares, and whether it starts programs or asks
    the network. What it lists it can't read.
    """

    opens: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    programs: bool = False
    network: bool = False
    #: It runs audits of its own, whose jobs are confined themselves.
    whole: bool = False


#: Rules that turn tables and declared hand-overs into what leaves.
NOTHING: Final = Need()
#: Rules that read upstream bytes, as the mirror stage proved them.
_BYTES: Final = Need(opens=("content",))
_GIT: Final = ("mirrors", "history", "objects", "home", "work/traffic")
_DATA: Final = ("observed", "work/links.jsonl", "work/traffic")
#: How fast earlier fetches were: their records lie among the hand-overs of all reports.
_RATE: Final = Need(opens=("snapshots", "handover/*/*/fetched"), lists=("handover",))

NEEDS: Final[Mapping[str, Need]] = {
    "pin_commits": Need(("pins", *_GIT), programs=True, network=True),
    "mirror_content": Need(("pins", "content", *_GIT), programs=True, network=True),
    "list_trees": _BYTES,
    "reconcile_manifests": _BYTES,
    "project_evals": _BYTES,
    "lint_evals": _BYTES,
    "check_licences": _BYTES,
    "lint_contents": _BYTES,
    "resolve_handles": Need(_DATA, network=True),
    "probe_sizes": Need(_DATA, network=True),
    "peek_snapshots": Need(("peeks", *_DATA), programs=True, network=True),
    "choose_snapshots": _RATE,
    "fetch_snapshot": Need(("snapshots", *_DATA), programs=True, network=True),
    "inspect_snapshots": Need(("snapshots",), programs=True),
    "handles": NOTHING,
    "sizes": _RATE,
    "peek": NOTHING,
    "fetch": NOTHING,
    "grade_share": _BYTES,
    "regrade_runs": _BYTES,
    "check_records": _BYTES,
    "check_published": _BYTES,
    "summarise_models": NOTHING,
    "check_claims": NOTHING,
    "collect_findings": NOTHING,
    "collect_traffic": Need(("work/traffic",)),
    # It lists in the crate what it has rendered.
    "write_report": Need(("work/staging",)),
    # It looks for everything that is secret, in a process of its own.
    "seal_report": Need(("content", "handover", "observed"), programs=True),
    "gate": NOTHING,
    "list_commits": Need(_GIT, programs=True, network=True),
    "backfill_history": Need(
        ("pins", "content", "work/history", *_GIT), programs=True, network=True
    ),
    "draw_history": NOTHING,
    "judge_history": NOTHING,
    "history": NOTHING,
    "reproduce": NOTHING,
    "diff_reports": Need(("content", *_GIT), programs=True, network=True),
    "drift": NOTHING,
    "verify_determinism": Need(whole=True),
}
