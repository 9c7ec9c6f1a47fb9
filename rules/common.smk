# What the rule files share. AUDIT knows the date, the folders, the digests and the lease of this run.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from benchproof import cluster
from benchproof.workflow import Audit

AUDIT = Audit.open(config)
if workflow.is_main_process:
    AUDIT.prepare(workflow.dryrun)


def fetched_records(wildcards):
    """Return the records of all chosen snapshots, once they are chosen."""
    return AUDIT.fetched(checkpoints.choose_snapshots.get().output.selection)


def claimed_tables(wildcards):
    """Return the tables that claims are checked against in this run."""
    asked = workflow.dag_settings
    return AUDIT.claimed(asked.targets, bool(asked.target_jobs))
