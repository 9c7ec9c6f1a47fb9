"""Claims, page and summary of a room, from its tables and the observations that were given to it.

A script of its own: to the workflow, tables of the data are made by the stages that ask the world, and it
would ask again. Claims and report are pure functions of both, and here both are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchproof import provenance
from benchproof.history.derive import Named
from benchproof.job import Job
from benchproof.workflow import Audit


class Files(list[str]):
    """The inputs of a rule as Snakemake gives them: a list, of which some have a name."""

    def __init__(self, paths: Iterable[str], **named: str) -> None:
        super().__init__([*paths, *named.values()])
        self.__dict__.update(named)


def main(audit: Audit) -> None:
    """Write claims.parquet into the report's folder, page and summary into the staging folder."""
    import check_claims
    import write_report

    pins = audit.result("pins")
    claims = Files(audit.claimed((), False), pins=pins, claims=str(provenance.CLAIMS))
    check_claims.main(_job(audit, "check_claims", claims, claims=audit.result("claims")))
    staged = {
        "html": audit.handover("staging/report.html"),
        "summary": audit.handover("staging/summary.md"),
    }
    write_report.main(_job(audit, "write_report", Files(audit.tables, pins=pins), **staged))


def _job(audit: Audit, rule: str, given: Files, **made: Any) -> Job:
    params = Named(audit=audit.params, code=audit.code(rule))
    return Job(Named(rule=rule, input=given, output=Named(made), params=params))


if __name__ == "__main__":
    main(Audit(json.loads(Path("settings.json").read_bytes())))
