"""benchproof audits published agent benchmarks from the outside."""

__version__ = "0.1.0"

import sys as _sys

# A script of the workflow: its process begins apart from the vault, before anything else is imported.
if type(getattr(_sys.modules.get("__main__"), "snakemake", None)).__module__.startswith(
    "snakemake."
):
    from benchproof.confinement.process import begin_if_job as _begin_if_job

    _begin_if_job()
