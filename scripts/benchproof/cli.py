"""The `benchproof` command: what surrounds a run of the workflow.

Exit codes: 0 done, 10 something newly fails or differs, 11 an invariant does, 20 something is still unknown,
1 failed, 2 wrong usage or configuration, 75 another run holds the vault.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchproof import __version__, config, yamltext
from benchproof.confinement import confine, process
from benchproof.errors import BenchproofError, ConfigError, LeaseHeld, Unreadable
from benchproof.lease import Lease
from benchproof.pending import Pending
from benchproof.vault import Vault
from benchproof.watch import arguments

OK, FAILED, USAGE, INCOMPLETE, HELD = 0, 1, 2, 20, 75
DEFAULTS = Path(__file__).resolve().parents[2] / "config" / "config.yaml"
ACCEPTED = DEFAULTS.with_name("accepted.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors are one line on standard error."""
    options = _parser().parse_args(arguments)
    # Called from Python, the process is somebody else's, and what it may open is too.
    options.alone = arguments is None
    if options.alone:
        process.forbid_cores()
    try:
        return int(options.run(options))
    except ConfigError as error:
        code, message = USAGE, str(error)
    except LeaseHeld as error:
        code, message = HELD, str(error)
    except BenchproofError as error:
        code, message = FAILED, str(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # the rim of the process: its text could quote an answer
        from benchproof.job import unexpected

        code, message = FAILED, str(unexpected(error))
    print(f"benchproof: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchproof",
        description="Audits published agent benchmarks from the outside; snakemake runs the audit itself.",
    )
    parser.add_argument("--version", action="version", version=f"benchproof {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("summary", _summary, "print the first screen of a report"),
        ("pending", _pending, "list what an audit has not learnt yet; exit code 20 if anything"),
        ("gate", _gate, "say what fails that did not in the last complete report before"),
        ("drift", _drift, "compare this date with the newest complete one before, or two reports"),
        ("grade", _grade, "grade an answer of your own; expected values are never shown"),
        ("explain", _explain, "say what a finding, run, claim or number rests on"),
        ("verify", _verify, "check a report folder, offline: names the first byte that changed"),
        ("watch", _watch, "audit unattended, from pin to drift; says nothing when nothing is new"),
        (
            "purge",
            _purge,
            "delete reports, or what no report in the results folder needs of the vault",
        ),
    ):
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.set_defaults(run=run)
        command.add_argument(
            "--configfile", action="append", default=[], help="as for snakemake; may be repeated"
        )
        command.add_argument(
            "--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE"
        )
        if name == "summary":
            command.add_argument(
                "date", nargs="?", default="latest", help="a date; the latest complete report"
            )
        if name == "gate":
            command.add_argument(
                "date", nargs="?", help="a date with a report; the configured one, or today"
            )
        if name == "drift":
            command.add_argument(
                "reports",
                nargs="*",
                metavar="REPORT",
                help="FROM [TO]: dates or folders of reports",
            )
        if name in ("gate", "drift"):
            command.add_argument(
                "--accepted", default=str(ACCEPTED), metavar="FILE", help="what is accepted"
            )
        if name == "grade":
            command.add_argument("eval", help="an evaluation's id, or repository/id")
            command.add_argument("answer", help="a JSON file; - reads standard input")
        if name == "explain":
            command.add_argument(
                "id", help="a finding's id, a run's path, a claim's or a number's id"
            )
            command.add_argument(
                "--report", metavar="DATE|FOLDER", help="the report; without it the latest"
            )
        if name == "verify":
            from benchproof.sealing import command as verifying

            verifying.add_arguments(command)
        if name == "watch":
            arguments.add_watch(command, ACCEPTED)
        if name == "purge":
            which = command.add_mutually_exclusive_group()
            which.add_argument(
                "--report", metavar="DATE", help="delete this report and its hand-overs"
            )
            arguments.add_keep(which, command, "delete all but the newest N complete reports")
            command.add_argument(
                "--yes", action="store_true", help="delete; without it, only say what would go"
            )
    return parser


def _configured(options: argparse.Namespace) -> config.Config:
    """Return the configuration as snakemake would merge it from the same options."""
    merged: dict[str, Any] = {}
    for path in (DEFAULTS, *map(Path, options.configfile)):
        try:
            found = yamltext.load(path) or {}
        except (OSError, Unreadable) as error:
            why = error.reason if isinstance(error, Unreadable) else type(error).__name__
            raise ConfigError(f"{path}: not a readable YAML file ({why}).") from None
        if not isinstance(found, dict):
            raise ConfigError(f"{path}: a configuration is a mapping of keys to values.")
        _update(merged, found)
    for pair in options.config:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--config takes KEY=VALUE, not {pair!r}.")
        merged[key] = value
    return config.load(merged, os.environ.get(config.DAY) or config.today())


def _update(merged: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), dict):
            _update(merged[key], value)
        else:
            merged[key] = value


def _summary(options: argparse.Namespace) -> int:
    from benchproof.report import terminal

    audit = _configured(options)
    _give_up_vault(options, audit)
    results = Path(audit.results)
    path = results / options.date / "summary.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        known = sorted(
            item.parent.name
            for item in results.glob("*/summary.md")
            if item.parent.name != "latest"
        )
        there = (
            f"Reports here: {', '.join(known)}."
            if known
            else "There is no report here yet; run snakemake."
        )
        raise BenchproofError(f"{path}: no such report. {there}") from None
    terminal.show(text, sys.stdout)
    return OK


def _pending(options: argparse.Namespace) -> int:
    audit = _configured(options)
    vault = Vault(audit.resources)
    out = Path(audit.results, audit.label)
    if not (out / "pins.parquet").exists():
        print(f"{audit.label}: not begun; run snakemake.")
        return INCOMPLETE
    unknown = Pending(vault, audit, vault.work(audit.results, audit.label), out).unknown()
    for item in unknown:
        print(f"{item.stage}: {item.item}: {item.cause}")
    if unknown:
        print(f"{len(unknown)} unknown; snakemake asks for these alone.")
    elif not (out / "seal.json").exists():
        print(
            f"{audit.label}: nothing is unknown, and the report is not sealed yet; run snakemake."
        )
    else:
        print(f"{audit.label}: nothing is unknown.")
        return OK
    return INCOMPLETE


def _gate(options: argparse.Namespace) -> int:
    from benchproof.report import reading

    audit = _configured(options)
    _refuse_beside_a_run(audit)
    _give_up_vault(options, audit)
    label = options.date or audit.label
    folder = Path(audit.results, label)
    if folder.is_symlink():  # `latest`: acceptances are read on the day that it leads to
        folder = folder.with_name(folder.resolve().name)
    if not (folder / "seal.json").exists():
        _refuse_failed(folder)
        print(f"{folder}: no sealed report; run snakemake.")
        return INCOMPLETE
    fail_on = list(audit.merged["drift"]["fail_on"])
    outcome = reading.judged(folder, Path(audit.results), fail_on, Path(options.accepted))
    print("\n".join(outcome.lines))
    return outcome.code


def _drift(options: argparse.Namespace) -> int:
    from benchproof.report import drifting
    from benchproof.sources.opening import open_http, open_source

    audit = _configured(options)
    _refuse_beside_a_run(audit)
    if len(options.reports) > 2:
        raise ConfigError("drift takes two reports at most: FROM and TO.")
    results = Path(audit.results)
    old, new = _compared(audit, options.reports)
    if new is None:
        print(f"{results / audit.label}: no report yet; run snakemake.")
        return INCOMPLETE
    if not (new / "seal.json").exists():
        _refuse_failed(new)
    if old is None:
        print(drifting.NOTHING.format(label=new.name))
        return OK
    vault = Vault(audit.resources)
    there = vault.root.is_dir()
    # Commits that the vault lacks are brought into it, so that causes and rewritten histories are known.
    brings = there and not audit.merged["offline"] and os.access(vault.root, os.W_OK)
    settings = {**audit.merged, "offline": not brings}
    lease = Lease(vault.root)
    if brings:
        lease.acquire()
    try:
        with open_http(settings) as http:
            try:
                source = open_source(settings, vault, http) if there else None
            except ConfigError:  # no git here: commits are not known, and all else is
                source = None
            drift = drifting.compared(old, new, source, vault if there else None)
    finally:
        lease.release()
    _give_up_vault(options, audit)
    folder = drifting.place(results, old, new)
    drifting.write(drift, folder)
    drifting.seal(folder, old, new)
    verdict = drifting.judged(folder, new, audit.merged["drift"]["fail_on"], Path(options.accepted))
    print((folder / "summary.md").read_text(encoding="utf-8"), end="")
    print(f"Next: open {folder}/drift.html. Exit code {verdict.code}.")
    return verdict.code


def _compared(audit: config.Config, named: Sequence[str]) -> tuple[Path | None, Path | None]:
    """Return the earlier and the later report: named, configured, or this date and the one before it."""
    from benchproof.report import drifting, folders

    results, chosen = Path(audit.results), audit.merged["drift"]
    before, after = (*named, None, None)[:2]
    before, after = before or chosen["from"], after or chosen["to"]
    if after is None and not any((results / audit.label).glob("*.parquet")):
        latest = results / "latest"
        if named and latest.is_dir():
            after = "latest"
        else:
            return None, None
    new = folders.find(after or audit.label, results)
    return (folders.find(before, results) if before else drifting.earlier(new)), new


def _give_up_vault(options: argparse.Namespace, audit: config.Config) -> None:
    """From here on open nothing of the vault: what follows only shows."""
    if options.alone:
        confine.confine(Path(audit.resources), beside=[Path(audit.results)])


def _refuse_beside_a_run(audit: config.Config) -> None:
    vault = Vault(audit.resources)
    if vault.root.is_dir() and Lease(vault.root).held_by_other():
        raise LeaseHeld(f"another run holds {vault.root}; wait for it to end and ask again.")


def _refuse_failed(folder: Path) -> None:
    """Raise when jobs of an unfinished report failed."""
    from benchproof.outputs import ERROR

    logs = sorted(folder.glob("logs/*.log"))
    failed = [p.stem for p in logs if ERROR.search(p.read_text("utf-8", errors="replace"))]
    if failed:
        raise BenchproofError(f"{folder}: {', '.join(failed)} failed; run snakemake again.")


def _grade(options: argparse.Namespace) -> int:
    from benchproof.grading import asked

    audit = _configured(options)
    verdict = asked.grade_answer(Vault(audit.resources), audit, options.eval, options.answer)
    print("\n".join(asked.told(verdict)))
    return OK if verdict.status in ("graded", "no_submission") else INCOMPLETE


def _explain(options: argparse.Namespace) -> int:
    from benchproof.explain import explained

    print(explained(_configured(options), options.id, options.report))
    return OK


def _verify(options: argparse.Namespace) -> int:
    from benchproof.sealing import command

    return command.run(options, _configured(options))


def _watch(options: argparse.Namespace) -> int:
    from benchproof.watch import command

    return command.run(options, lambda: _configured(options))


def _purge(options: argparse.Namespace) -> int:
    from benchproof.purge import doomed, outdated, referring, remove, superseded

    audit = _configured(options)
    arguments.check_keep(options)
    vault = Vault(audit.resources)
    lease = Lease(vault.root)
    if vault.root.is_dir():
        lease.acquire()
    try:
        if options.keep is None:
            paths = doomed(vault, audit, options.report)
            reports = [options.report] if options.report else []
        else:
            paths = outdated(vault, audit, options.keep, forget=options.forget)
            reports = superseded(audit, options.keep)
        for line in referring(audit, reports):
            print(line)
        for path, size in paths:
            print(f"{size / 1e6:10.1f} MB  {path}")
        if not paths:
            print("Nothing to delete.")
        elif options.yes:
            remove(path for path, _ in paths)
            print(f"Deleted {len(paths)} items, {sum(size for _, size in paths) / 1e6:.1f} MB.")
        else:
            print("Nothing was deleted; say --yes to delete these.")
    finally:
        lease.release()
    return OK
