"""`benchproof watch`: how a run begins, one at a time, on one UTC day."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchproof import config
from benchproof.config import DAY
from benchproof.errors import BenchproofError, ConfigError, LeaseHeld
from benchproof.lease import Lease
from benchproof.watch import arguments, message, status
from benchproof.watch.run import Plan, Run, printed

#: What snakemake is told by the run itself; argparse takes an option's first letters for it as well.
_OWN: Final = ("--configfiles", "--directory", "--snakefile")
_OWN_SHORT: Final = ("-C", "-d", "-s")


def run(options: argparse.Namespace, configured: Callable[[], config.Config]) -> int:
    """Run once and return the exit code; everything that is said goes to standard output, for a mail."""
    # Before the configuration is read: whatever takes how long, the run has this day.
    os.environ.setdefault(DAY, config.today())
    try:
        plan = _plan(options, configured())
        lease = Lease(Path(plan.config.resources))
        try:
            lease.acquire()
        except LeaseHeld as error:
            return _held(plan, error)
        try:
            return Run(plan).go()
        finally:
            lease.release()
    except BenchproofError as error:
        code = message.USAGE if isinstance(error, ConfigError) else 1
        heading = "not started" if code == message.USAGE else "failed"
        printed(message.unfinished(os.environ[DAY], code, heading, [f"benchproof: {error}"]).text)
        return code


def _plan(options: argparse.Namespace, read: config.Config) -> Plan:
    arguments.check_keep(options)
    for word in options.extra:
        if _is_own(word):
            raise ConfigError(f"{word}: stands before --, or the run itself sees to it.")
    extra = list(options.extra)
    if options.workflow_profile:
        extra += ["--workflow-profile", options.workflow_profile]
    return Plan(
        config=read,
        configfiles=options.configfile,
        pairs=options.config,
        extra=extra,
        limit_s=options.limit,
        accepted=Path(options.accepted),
        keep=options.keep,
        forget=options.forget,
        prometheus=Path(options.prometheus) if options.prometheus else None,
    )


def _is_own(word: str) -> bool:
    """True for an option of the run's own, also when it is cut short or has its value attached."""
    name = word.partition("=")[0]
    if name.startswith("--"):
        return any(own.startswith(name) for own in _OWN)
    return name.startswith(_OWN_SHORT)


def _held(plan: Plan, error: LeaseHeld) -> int:
    """Leave the vault to the run that has it. One that overlaps is no news, one that does not end is."""
    now, found = datetime.now(UTC), status.read(Path(plan.config.results))
    if found.state == status.RUNNING and found.started_at is not None and not sys.stdout.isatty():
        lasts = (now - datetime.fromisoformat(found.started_at)).total_seconds()
        if lasts < plan.limit_s:
            return message.HELD
    line = message.subject(os.environ[DAY], "not started: another run does not end")
    printed(f"{line}\nbenchproof: {error}\n")
    return message.HELD
