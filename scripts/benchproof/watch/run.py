"""The steps of a watched run: audit, gate, drift, purge. It holds the lease from the first to the last."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchproof import accepted
from benchproof.analysis.gate import FAILED, INCOMPLETE
from benchproof.config import Config
from benchproof.errors import BenchproofError, ConfigError, LeaseHeld
from benchproof.findings import SEVERITIES
from benchproof.job import unexpected
from benchproof.pending import Pending
from benchproof.progress import duration
from benchproof.report import reading
from benchproof.sealing.seal import SEAL, is_complete
from benchproof.vault import Vault
from benchproof.watch import changed, logs, message, metrics, status
from benchproof.watch.message import HELD, USAGE, Changes, Message
from benchproof.watch.nested import Nested, environment
from benchproof.workflow import Audit

SNAKEFILE: Final = Path(__file__).resolve().parents[3] / "Snakefile"


@dataclass(frozen=True)
class Plan:
    """What a run is told: the configuration, as read and as snakemake reads it again, and its options."""

    config: Config
    configfiles: Sequence[str]
    pairs: Sequence[str]
    extra: Sequence[str]
    limit_s: float
    accepted: Path
    keep: int | None = None
    forget: bool = False
    prometheus: Path | None = None

    def command(self, targets: Sequence[str]) -> list[str]:
        """Return the nested snakemake. Options that take all words that follow stand at its end."""
        command = [sys.executable, "-m", "snakemake", *targets, "--snakefile", str(SNAKEFILE)]
        command += self.extra
        for option, words in (("--configfile", self.configfiles), ("--config", self.pairs)):
            command += [option, *words] if words else []
        return command


def _now() -> datetime:
    return datetime.now(UTC)


class Run:
    """One run under the lease. `go` returns its exit code; what there is to say is printed before the status
    calls it said, so that a kill in between says it twice rather than never.
    """

    def __init__(self, plan: Plan, clock: Callable[[], datetime] = _now) -> None:
        self._plan, self._clock = plan, clock
        self._config = plan.config
        self._label = plan.config.label
        self._vault = Vault(plan.config.resources)
        self._results = Path(plan.config.results)
        self._out = self._results / self._label
        self._before, self._misread = status.checked(self._results)
        self._told = self._before.told if self._before.told_of == self._label else ()
        started = clock()
        self._complete = False
        self._unmeasured: BenchproofError | None = None
        self._log = logs.RunLog(self._vault.root, started)
        self._status = self._before.begun(self._label, started, self._log.path.name)

    def go(self) -> int:
        """Run all steps; raises TableError when not even the status can be written and nothing was said."""
        with Nested(self._plan.limit_s) as nested:  # what would end this process waits for its end
            for path in self._results.glob(f"{status.NAME}.*.part"):  # of a run that was killed
                path.unlink(missing_ok=True)
            if self._misread:
                status.set_aside(self._results)
            if self._before.state == status.RUNNING:
                self._log.say([f"the run that began at {self._before.started_at} never ended"])
            self._write(self._status)
            try:
                found = self._steps(nested)
            except BenchproofError as error:
                found = self._stopped_by(error)
            except Exception as error:  # the rim of the run: nothing above could withhold the text
                found = self._stopped_by(unexpected(error))
            return self._end(self._tidied(found))

    def _steps(self, nested: Nested) -> Message:
        accepted.load(self._plan.accepted, accepted.day_of(self._label))
        audit = Audit(self._config.merged)
        audit.refuse_to_rewrite()
        # Without an earlier complete report there is nothing to compare with.
        drift = Path(audit.drift.file("drift.parquet")).parent if audit.drift.names else None
        command = self._plan.command(["all", "diff_reports"] if drift else ["all"])
        return self._audit(nested, command) or self._judge(drift)

    def _audit(self, nested: Nested, command: Sequence[str]) -> Message | None:
        """Run snakemake; return what there is to say when it did not come to a report."""
        self._log.say([f"{status.instant(self._clock())} {' '.join(command)}"])
        code = nested.run(command, self._log.path, environment(self._vault.root))
        self._log.say([f"{status.instant(self._clock())} snakemake ended with {code}"])
        said = self._log.last_words(message.MOST)
        if code and nested.stopped is not None:
            over = f"its limit of {duration(self._plan.limit_s)}"
            why = over if nested.stopped == "limit" else nested.stopped
            return self._unfinished(INCOMPLETE, f"stopped by {why}; the next run goes on", said)
        if code == HELD:
            raise LeaseHeld("another run took the vault.")
        if code == USAGE:
            lines = ["snakemake does not understand its arguments (those after --)."]
            return self._unfinished(USAGE, "not started", lines)
        if code:
            full = "no space left; free room and run again" if self._log.lacks_room() else None
            last = said or [
                f"benchproof: snakemake ended with {code}: {full or 'no word of ours'}."
            ]
            return self._unfinished(FAILED, "a job failed", last)
        if not (self._out / SEAL).exists():
            return self._unfinished(INCOMPLETE, "there is no report: see the log", said)
        return None

    def _judge(self, drift: Path | None) -> Message:
        """Return what the report of this run says that the last complete one did not."""
        self._step("gate")
        fail_on = list(self._config.merged["drift"]["fail_on"])
        outcome = reading.judged(self._out, self._results, fail_on, self._plan.accepted)
        work = self._vault.work(self._config.results, self._label)
        unknown = Pending(self._vault, self._config, work, self._out).unknown()
        found = Counter(row["severity"] for row in reading.report(self._out).findings)
        self._status = replace(
            self._status,
            findings={name: found[name] for name in SEVERITIES},
            unknown=len(unknown),
            complete=_latest(self._results),
        )
        self._log.say(outcome.lines)
        self._step("drift")
        changes = Changes()
        if drift is not None:
            changes = changed.read(drift, self._out, fail_on, self._plan.accepted)
        self._status = replace(self._status, drift=changes.groups)
        complete = self._complete = is_complete(self._out)
        pages = [str(self._out / "report.html"), *([changes.page] if changes.page else [])]
        where = f"Report: {', '.join(pages)}"
        return message.judged(self._label, outcome.new, changes, unknown, complete, where)

    def _tidied(self, found: Message) -> Message:
        """Delete what has had its time, after a run that came to a report; a failure of that, or of the
        metrics, or a status that somebody damaged, is told last, and hides nothing.
        """
        try:
            logs.prune(self._vault.root)
            if self._plan.keep is not None and found.standing is not None:
                self._purge(self._plan.keep)
        except BenchproofError as error:
            found = self._failed_too(found, "purge", error)
        if self._unmeasured is not None:
            found = self._failed_too(found, "metrics", self._unmeasured)
        if self._misread:
            found = self._failed_too(found, "reading the status", self._damaged())
        return found

    def _damaged(self) -> BenchproofError:
        place = self._results / status.NAME
        return BenchproofError(
            f"{place}: {'; '.join(self._misread)}. What could be read of it counts, a new one was written, "
            f"and the former is kept as {status.ASIDE}: what was said before may be said again."
        )

    def _failed_too(self, found: Message, what: str, error: BenchproofError) -> Message:
        found = found.unless_told(self._told)
        failed = self._unfinished(FAILED, f"{what} failed", [f"benchproof: {error}"])
        told = (*found.lines, found.where) if found.lines else ()
        code = FAILED if found.standing is not None else found.code
        return replace(failed, code=code, lines=(*told, *failed.lines))

    def _purge(self, keep: int) -> None:
        """Delete what is beyond the reports to be kept, and name it in the log."""
        from benchproof import purge

        self._step("purge")
        paths = purge.outdated(self._vault, self._config, keep, forget=self._plan.forget)
        gone = purge.superseded(self._config, keep)
        self._log.say(purge.referring(self._config, gone))
        self._log.say(f"delete {path} ({size} bytes)" for path, size in paths)
        purge.remove(path for path, _ in paths)

    def _stopped_by(self, error: BenchproofError) -> Message:
        code = USAGE if isinstance(error, ConfigError) else FAILED
        code = HELD if isinstance(error, LeaseHeld) else code
        early = code == USAGE and self._status.step == "audit"
        why = "not started" if early else f"{self._status.step} failed"
        return self._unfinished(code, why, [f"benchproof: {error}"])

    def _unfinished(self, code: int, why: str, lines: Sequence[str]) -> Message:
        return message.unfinished(self._label, code, why, lines, f"Log: {self._log.path}")

    def _end(self, found: Message) -> int:
        left = found.unless_told(self._told)
        heard = printed(left.text)
        self._log.say(left.text.splitlines())
        if found.standing is not None and heard:
            known = tuple(dict.fromkeys([*self._told, *found.news]))
            self._status = replace(self._status, told=known, told_of=self._label)
        first = left.lines[0] if left.lines else ""
        now, complete = self._clock(), self._complete
        ended = self._status.ended(left.code, now, complete=complete, subject=first, next=left.next)
        try:
            self._write(ended)
        except BenchproofError as error:
            if not left.text:
                raise
            return self._unrecorded(left, error)
        return left.code

    def _unrecorded(self, said: Message, error: BenchproofError) -> int:
        """Add to what was said that it isn't recorded, unless that is what it says."""
        if str(error) not in said.text:
            printed(f"benchproof: {error}\n")
        return FAILED if said.standing is not None else said.code

    def _step(self, name: str) -> None:
        self._status = replace(self._status, step=name)
        self._write(self._status)

    def _write(self, now: status.Status) -> None:
        status.write(self._results, now)
        if self._plan.prometheus is not None:
            try:
                metrics.write(self._plan.prometheus, now, str(self._results.absolute()))
            except BenchproofError as error:  # no reason to audit nothing
                self._unmeasured = error


def printed(text: str) -> bool:
    """Print a text, and return whether it arrived: a mail program may be gone, or a disk be full."""
    try:
        print(text, end="", flush=True)
    except OSError:
        # What is left in the buffer would be written at the end of the process, and change its exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _latest(results: Path) -> str | None:
    link = results / "latest"
    return os.readlink(link) if link.is_symlink() and is_complete(link) else None
