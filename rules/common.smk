# What every rule file uses: AUDIT knows the date, the folders, the digests and the lease of this run.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from benchproof.workflow import Audit

AUDIT = Audit.open(config)
if workflow.is_main_process:
    AUDIT.prepare(workflow.dryrun)
