"""The Snakefile's side of an audit: its date, paths, lease, refusals, and the last words of a run.

Everything a rule file needs is a method here, so that rule files hold no logic.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import threading
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from benchproof import clocks, cluster, provenance
from benchproof import config as configuration
from benchproof.errors import BenchproofError, ClusterError, ConfigError, LeaseHeld, is_no_space
from benchproof.history.plan import Plan
from benchproof.lease import Lease
from benchproof.outputs import (
    CONTENT,
    DATA,
    ENGINE,
    ERROR,
    TABLES,
    comparison_label,
    config_text,
    write_config,
)
from benchproof.pending import Pending
from benchproof.recorded import Recorded
from benchproof.sealing.seal import is_complete, previous_report
from benchproof.sources.base import RepoSpec
from benchproof.vault import (
    Vault,
    discard,
    partial,
    private_file,
    private_folder,
    read_json,
    sweep,
    write_json,
)

DAY = configuration.DAY
#: Protocols of the stages that ask the world: an edit of code must not ask it again, a bump here does.
PROTOCOLS = {
    "pin_commits": 1,
    "mirror_content": 1,
    "list_commits": 1,
    "resolve_handles": 1,
    "probe_sizes": 1,
    "peek_snapshots": 1,
    "fetch_snapshot": 1,
}
EXIT_HELD = 75
#: What each target lets a run know of the data; the other targets of the content ask nobody for it.
_DATA_OF = {"handles": DATA[:2], "sizes": DATA[:3], "peek": DATA[:4], "fetch": DATA}
_CONTENT = ("pin", "reconcile", "evals", "regrade", "claims")
#: Tables that no claim is checked against: they are made later, or tell of the run alone.
_UNCLAIMED = ("claims", "data_findings", "traffic")
#: Bytes that a disk which isn't full has room for: a log and a table need a few blocks.
_LITTLE_ROOM = 1 << 16


class Audit:
    """One audit as the Snakefile sees it."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        day = os.environ.setdefault(DAY, configuration.today())
        asked = configuration.load(raw, day)
        #: The report that this run derives again, in a room of its own, instead of an audit.
        self.recorded = Recorded.of(asked, day) if asked.merged["report"] else None
        self.config = self.recorded.config if self.recorded else asked
        self.vault = Vault(self.config.resources)
        self.out = f"{self.config.results}/{self.config.label}"
        self._work = self.vault.work(self.config.results, self.config.label)
        self._lease = Lease(Path(asked.resources))
        self._jobs: str | None = None
        self._pending = Pending(self.vault, self.config, self._work, Path(self.out))
        self.past = Plan(self.config, self.result("pins"), self.code)
        self._parts: int | None = None
        self._warned: str | None = None

    @classmethod
    def open(cls, raw: Mapping[str, Any]) -> Audit:
        """Return the audit of a merged configuration; a wrong one ends the process with one line."""
        # Jobs import the library that runs here, whatever else the environment knows by its name.
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, dict.fromkeys([str(provenance.SCRIPTS), *known]))
        )
        try:
            return cls(raw)
        except BenchproofError as error:
            print(f"benchproof: {error}", file=sys.stderr)
            sys.exit(1)

    # -- paths and params of rules --------------------------------------------------------------------

    def result(self, name: str) -> str:
        """Return the path of a table, or of a file that is named with its ending."""
        return f"{self.out}/{name}" if "." in name else f"{self.out}/{name}.parquet"

    @property
    def tables(self) -> list[str]:
        """Paths of every table that a report is written from."""
        return [self.result(name) for name in TABLES]

    @property
    def wanted(self) -> list[str]:
        """Files of the default target: a whole report, or the past that `as_of` lists."""
        if self.config.commits:
            return [*self.past.tables, self.past.page, self.handover("history/judged.json")]
        return [*self.tables, *map(self.result, ("report.html", "summary.md", "seal.json"))]

    @property
    def content(self) -> list[str]:
        """Paths of the tables that commits alone decide."""
        return [self.result(name) for name in CONTENT]

    @property
    def reproduced(self) -> str | None:
        """The folder of the report that this run derives again."""
        return str(self.recorded.folder) if self.recorded else None

    def claimed(self, targets: Collection[str], inner: bool) -> list[str]:
        """Return the tables that claims are checked against: the content's, and those of the data that
        are there or that the targets of this run ask for. `inner` is a process that runs one job of it.
        """
        wanted = {name for target in targets for name in _data_of(target)}
        if not targets and not inner:
            wanted = set(DATA)
        names = [name for name in TABLES if name not in _UNCLAIMED]
        paths = {name: self.result(name) for name in names}
        return [
            path
            for name, path in paths.items()
            if name not in DATA or name in wanted or Path(path).exists()
        ]

    @property
    def metadata_folders(self) -> list[str]:
        """Snakemake's own folders that keep what rules were told and said."""
        return list(ENGINE)

    def handover(self, name: str) -> str:
        """Return the path of a file inside the vault through which jobs of this report hand over."""
        return str(self._work / name)

    def findings(self, rule: str) -> str:
        """Return the path of the findings that a rule hands over to `collect_findings`."""
        return self.handover(f"findings/{rule}.json")

    @cached_property
    def drift(self) -> Comparison:
        """The two reports that `drift` compares."""
        return Comparison(self.config, self.tables)

    def log(self, rule: str) -> str:
        """Return the path of a rule's log."""
        return f"{self.out}/logs/{rule}.log"

    def code(self, rule: str) -> str:
        """Return the digest of the code a rule runs, or its protocol number for those that ask the world."""
        return str(PROTOCOLS[rule]) if rule in PROTOCOLS else provenance.code_digest(rule)

    @property
    def claims(self) -> str:
        """Return the digest of what is claimed: others are checked again, whatever the time of their file."""
        return provenance.claims_digest()

    @property
    def params(self) -> dict[str, Any]:
        """What every script is told: the family, the vault, and what goes into a table's metadata."""
        return {
            "label": self.config.label,
            "as_of": self.config.as_of,
            "commits": len(self.config.commits),
            "members": self.config.members,
            "family": [
                {"repo": s.repo, "ref": s.ref, "evals": s.evals, "runs": s.runs}
                for s in self.config.family
            ],
            "resources": self.config.resources,
            "results": self.config.results,
            "work": str(self._work),
            "made_by": {"config": self.config.content_digest(), "notice": self.config.notice},
            # Of a report that is derived again: the vault whose jobs must stay out of it.
            **({"around": str(self.recorded.vault.root)} if self.recorded else {}),
        }

    @property
    def settings(self) -> str:
        """Return the file that tells the stages that ask the world how to ask: no input and no value of
        theirs, since other limits or endpoints must not make them ask again.
        """
        return self.handover("settings.json")

    @property
    def signing(self) -> str:
        """Return the file that tells with which key a report is signed: another one makes no other report."""
        return self.handover("signing.json")

    def ask_again(self, stage: str) -> str:
        """Return the file whose change makes a stage ask again for what it could not learn before."""
        return str(self._pending.marker(stage))

    @property
    def book(self) -> Path:
        """The signed URLs of this report, as long as a run needs them."""
        return self._work / "links.jsonl"

    @property
    def chosen(self) -> dict[str, Any]:
        """What is to be fetched, and how much of it: other choices make `choose_snapshots` run again.

        In how many jobs is not among them: it must not break the seal of a report.
        """
        fetch = self.config.merged["fetch"]
        return {"select": fetch["select"], "max_total_bytes": fetch["max_total_bytes"]}

    def shares(self, ending: str) -> list[str]:
        """Return what the shares of the recorded runs hand over; nothing where one job grades them all."""
        number = self._shares()
        names = (f"{share:04d}-of-{number:04d}" for share in range(1, number + 1))
        return [self.handover(f"shares/{name}.{ending}") for name in names] if number > 1 else []

    @property
    def _sharing(self) -> Path:
        return self._work / "sharing.json"

    def _shares(self) -> int:
        """Return in how many jobs the runs are graded: nested processes must see what the main one saw."""
        if self._parts is None and self._sharing.exists():
            return int(read_json(self._sharing)["shards"])
        return self._parts or int(self.config.merged["shards"])

    def _share_out(self, dry_run: bool) -> None:
        """Fix in how many jobs the runs are graded. What is graded keeps its number: to Snakemake, other
        inputs would be a reason to grade again.
        """
        known = int(read_json(self._sharing)["shards"]) if self._sharing.exists() else 1
        graded = Path(self.result("runs")).exists()
        self._parts = known if graded else int(self.config.merged["shards"])
        if not dry_run and (self._parts != known or not self._sharing.exists()):
            write_json(self._sharing, {"shards": self._parts})
            for path in (self._work / "shares").iterdir():  # of another number, and nobody's now
                path.unlink()

    def fetched(self, selection: str) -> list[str]:
        """Return the records of every part of a selection that `choose_snapshots` made."""
        return [
            self.handover(f"fetched/{part}.json") for part in read_json(Path(selection))["parts"]
        ]

    def part(self, name: str) -> list[dict[str, Any]]:
        """Return the objects of one part: another version of one makes its fetch run again."""
        found: list[dict[str, Any]] = read_json(self._work / "selection.json")["parts"][name]
        return found

    # -- the run --------------------------------------------------------------------------------------

    def prepare(self, dry_run: bool) -> None:
        """Before the DAG: mark what is to be asked again, unless another run lives or nothing will run."""
        try:
            if self._lease.held_by_other():
                return
            if self.recorded:
                self.recorded.verify()
                if not dry_run:
                    self.recorded.prepare()
            self.vault.create()
            # Snakemake would make these with the umask's rights.
            for name in ("findings", "staging", "fetched", "history", "shares"):
                private_folder(self._work / name)
            self._share_out(dry_run)
            if not dry_run:
                self._bring_to_present()
            self._pending.prepare(bump=not dry_run and not self.config.offline)
            if not dry_run and is_complete(Path(self.out)):
                # Left by a kill at the very end: a run with nothing to do has no end of its own.
                self.book.unlink(missing_ok=True)
        except BenchproofError as error:
            print(f"benchproof: {error}", file=sys.stderr)
            sys.exit(1)

    def _bring_to_present(self) -> None:
        """Let no file be from the future that this run's jobs read: of any date, and handed over."""
        inputs = [
            *Path(self.config.results).glob("*/*"),
            *(path for path in self._work.rglob("*") if path.is_file()),
            *provenance.CLAIMS.parent.glob("*.yaml"),
        ]
        self._warned = clocks.warning(*clocks.to_present(self.vault.root, inputs))
        if self._warned:
            print(self._warned, file=sys.stderr)

    def begin(self, targets: Collection[str] = (), jobs: str | None = None) -> None:
        """At the start of a run: take the lease, refuse to rewrite a finished date, keep the config.

        `jobs` is the name of what this run submits to a cluster.
        """
        self._jobs = jobs
        try:
            self._refuse_to_mix(targets)
            self._lease.acquire(jobs)
            atexit.register(self._lease.release)
            self.refuse_to_rewrite()
            self._clean_up()
            write_json(Path(self.settings), dict(self.config.merged))
            self._keep_config()
        except BenchproofError as error:
            _last_words([f"benchproof: {error}"])
            sys.exit(EXIT_HELD if isinstance(error, LeaseHeld) else 1)

    def _keep_config(self) -> None:
        """Write the merged configuration beside the tables, and where the report is rendered from: what a
        seal covers stays as it is until another report is written.
        """
        with private_file(self._work / "staging" / "settings.json") as handle:
            handle.write(config_text(self.config.merged).encode())
        write_json(Path(self.signing), {"key": self.config.merged["sign"]})
        kept = Path(self.result("config.json"))
        if kept.exists() and Path(self.result("seal.json")).exists():
            return
        write_config(kept.parent, self.config.merged)

    def succeed(self) -> None:
        """At the end of a good run: show what was asked for, and the first screen of the report."""
        _cancel_timers()
        self._forget_links()
        summary = Path(self.result("summary.md"))
        last = [summary.read_text(encoding="utf-8").rstrip()] if summary.exists() else []
        if last and not Path(self.result("seal.json")).exists():
            last = [
                f"The report of {self.config.label} tells of other files: run snakemake to write it again."
            ]
        screens = self._screens()
        if screens or last:
            _last_words(["\n\n".join([*screens, *last])])

    def fail(self) -> None:
        """At the end of a failed run: one line per failed job, ours and last."""
        _cancel_timers()
        self._forget_links()
        lines = self._screens()
        for path in sorted(Path(self.out, "logs").glob("*.log")):
            text = path.read_text(encoding="utf-8", errors="replace")
            said = ERROR.findall(text)
            lines += [
                f"benchproof: {path.stem} failed: {message} (log: {path})" for message in said[-1:]
            ]
        _last_words([*lines, *self._ended_badly()] or [self._warned or self._unsaid()])

    def _ended_badly(self) -> list[str]:
        """Return a line for each job that the cluster ended or lost: Snakemake doesn't say why."""
        try:
            found = cluster.failures(self._jobs) if self._jobs else []
        except ClusterError:
            return []
        logs = Path(".snakemake", "slurm_logs")
        return [
            f"benchproof: Slurm job {job.number} ({job.note}) ended {job.state}; docs/cluster.md says what "
            f"helps (log: {next(logs.rglob(f'{job.number}.log'), logs)})"
            for job in found
        ]

    def _refused(self) -> str | None:
        """Return what is likely when a cluster has none of this run's jobs: Snakemake swallows why."""
        try:
            if not self._jobs or not cluster.is_empty(self._jobs):
                return None
        except ClusterError:
            return None
        return (
            "benchproof: Slurm has no job of this run: it refuses a partition, QOS, memory or time that "
            "the profile names. --verbose shows the sbatch call; made by hand it says why (docs/cluster.md)."
        )

    def _screens(self) -> list[str]:
        """Return what this run's targets left to be shown, once."""
        found = []
        for path in sorted((self._work / "screens").glob("*.txt")):
            found.append(path.read_text(encoding="utf-8").rstrip())
            path.unlink()
        return found

    def _forget_links(self) -> None:
        """Delete the signed URLs, unless sizes are still to be asked for: each handle is signed once."""
        if not Path(self.result("handles")).exists() or Path(self.result("objects")).exists():
            self.book.unlink(missing_ok=True)

    def _unsaid(self) -> str:
        """Return what is known about a job that could not even write its log."""
        if refused := self._refused():
            return refused
        for folder in (self.out, str(self.vault.root), ".snakemake"):
            if Path(folder).exists() and _is_full(Path(folder)):
                return f"benchproof: no space left on the disk of {folder}; free room there and run again."
        return f"benchproof: stopped before a job could say why; run again to go on. Logs: {self.out}/logs"

    def _refuse_to_mix(self, targets: Collection[str]) -> None:
        """Raise ConfigError for a target that this configuration is not for: `reproduce` without its report,
        another one with a report, `verify_determinism` of a list of commits.
        """
        if self.recorded is None and "reproduce" in targets:
            raise ConfigError(
                "config: `report` is null; reproduce takes --config report=<folder of a report>."
            )
        if self.config.commits and "verify_determinism" in targets:
            raise ConfigError(
                "config: `as_of` lists commits; verify_determinism derives one date, or the past of one day."
            )
        if self.recorded is not None and set(targets) != {"reproduce"}:
            raise ConfigError("config: `report` is set; it is for `snakemake reproduce` alone.")

    def refuse_to_rewrite(self) -> None:
        """Raise ConfigError when this date is finished and other code or configuration made it."""
        seal = Path(self.result("seal.json"))
        if not is_complete(seal.parent):
            return
        made = json.loads(seal.read_text(encoding="utf-8"))["made_by"]
        now = {"config": self.config.content_digest(), "code": provenance.library_digest()}
        differing = [name for name in ("config", "code") if made[name] != now[name]]
        label = self.config.label
        unpinned = [s.repo for s in self.config.family if not self._pinned(s)]
        if unpinned and not differing:
            raise ConfigError(
                f"{self.out} is finished, and the vault {self.vault.root} has no pins of it (first: "
                f"{unpinned[0]}); it stays as it is. Bring its own vault back, give this run its own "
                f"--config results=…, or remove it with `benchproof purge --report {label}`."
            )
        if differing:
            raise ConfigError(
                f"{self.out} is finished and was made with other {' and '.join(differing)}; it stays as "
                "it is. Audit another --config date=…, give this one its own --config results=…, or "
                f"delete it with `benchproof purge --report {self.config.label} --yes` and this run's "
                "--configfile."
            )

    def _pinned(self, spec: RepoSpec) -> bool:
        return self.vault.pin_record(self.config.label, spec.repo, spec.ref).exists()

    def _clean_up(self) -> None:
        """Remove what killed or failed runs left: partial files, signed URLs of other reports, and logs
        that end in an error: only this run's are to be repeated at its end.
        """
        for path in self.vault.root.glob("handover/*/*/links.jsonl"):
            if path != self.book:
                path.unlink(missing_ok=True)
        for folder in (self.vault.root, Path(self.out)):
            sweep(folder)
        for name in ("said", "tmp"):
            shutil.rmtree(self._work / name, ignore_errors=True)
        for path in Path(self.out, "logs").glob("*.log"):
            if ERROR.search(path.read_text(encoding="utf-8", errors="replace")):
                path.unlink()


class Comparison:
    """What `drift` compares, and where that goes: this date and the newest complete one before it, unless
    the configuration names others.
    """

    def __init__(self, audited: configuration.Config, tables: list[str]) -> None:
        self._results, self._label = Path(audited.results), audited.label
        named = audited.merged["drift"]
        self._new = self._folder(named["to"] or audited.label)
        before = named["from"]
        self._old = self._folder(before) if before else _earlier(self._new)
        self._own = tables if self._new == self._results / audited.label else None

    @property
    def names(self) -> list[str] | None:
        """The two folders; None when there is nothing to compare with."""
        return None if self._old is None else [str(self._old), str(self._new)]

    @property
    def inputs(self) -> list[str]:
        """The files that a comparison rests on: this date's are made, others are there or are not."""
        if self._old is None:
            return []
        made = [*self._own, str(self._new / "seal.json")] if self._own else _there(self._new)
        return [*_there(self._old), *made]

    @property
    def wanted(self) -> dict[str, str]:
        """What the target needs: the comparison, or this date's report when there is none to make."""
        if self._old is None:
            return {"seal": str(self._results / self._label / "seal.json")}
        return {"table": self.file("drift.parquet")}

    def file(self, name: str) -> str:
        """Return the path of a file of the comparison."""
        return (
            f"{self._results}/drift/{comparison_label(self._results, self._old, self._new)}/{name}"
        )

    def _folder(self, named: str) -> Path:
        """Return a folder below the results, unless only another one has the name."""
        below = self._results / named
        return Path(named) if Path(named).is_dir() and not below.is_dir() else below


def _earlier(new: Path) -> Path | None:
    return previous_report(new.parent, new.name)


def _there(folder: Path) -> list[str]:
    """Return the tables and the seal that a folder holds."""
    names = [f"{name}.parquet" for name in TABLES] + ["seal.json"]
    return [str(folder / name) for name in names if (folder / name).exists()]


def _data_of(target: str) -> tuple[str, ...]:
    """Return the tables of the data that a target, a rule's name or a file, needs anyway."""
    if target in _CONTENT or Path(target).suffix == ".parquet":
        return tuple(name for name in DATA if name == Path(target).stem and "." in target)
    return _DATA_OF.get(target, DATA)


def _is_full(folder: Path) -> bool:
    """True when a file of a few blocks finds no room: a quota is not seen in what a disk has free."""
    probe = partial(folder / "room")
    try:
        probe.write_bytes(b"\0" * _LITTLE_ROOM)
    except OSError as error:
        return is_no_space(error)
    finally:
        discard(probe)
    return False


def _cancel_timers() -> None:
    """End the timers of Snakemake's rate limiter: each would hold up the end of the process by a second."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


def _last_words(lines: list[str]) -> None:
    """Print after everything that Snakemake still has to say."""
    sys.stdout.flush()
    atexit.register(lambda: print("\n".join(lines), file=sys.stderr, flush=True))
