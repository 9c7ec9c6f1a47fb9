"""A job's process: apart from the vault, and nothing that it prints or that crashes leave goes elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchproof import provenance
from benchproof.confinement.needs import NEEDS, NOTHING, Need
from benchproof.outputs import ERROR

SECRET = "an invented secret 42.75"
ROOT = provenance.SCRIPTS.parent
#: A script as Snakemake begins it: `snakemake` stands in its module before anything is imported.
BEGIN = """
import sys, types

class Names(list):
    pass

class Given:
    def __init__(self, rule, root):
        vault = root + "/resources"
        work = vault + "/handover/results/day"
        self.rule = rule
        self.input = Names([root + "/results/day/pins.parquet", work + "/findings/mine.json"])
        self.output = Names([work + "/staging/page"])
        audit = {"resources": vault, "work": work, "results": root + "/results", "label": "day", "family": []}
        self.params = types.SimpleNamespace(audit=audit)
        self.log = [root + "/results/day/logs/" + rule + ".log"]

Given.__module__ = "snakemake.iocontainers"
snakemake = Given(sys.argv[1], sys.argv[2])
SECRET = " ".join(["an invented", "secret", str(42 + 0.75)])
"""
RUN = "from benchproof import job\njob.run(main, snakemake)\n"


class Job:
    """A folder with a vault, and scripts that run in it as jobs do."""

    def __init__(self, root: Path) -> None:
        self.root, self.vault = root, root / "resources"
        self.work = self.vault / "handover" / "results" / "day"
        for path in (self.work / "findings/mine.json", self.work / "findings/other.json"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET)
        (self.vault / "content").mkdir()
        (self.vault / "content" / "bytes").write_text(SECRET)
        (root / "results" / "day" / "logs").mkdir(parents=True)

    def run(self, code: str, rule: str = "write_report") -> subprocess.CompletedProcess[str]:
        """Run a script and check that the secret is nowhere outside of the vault."""
        script = self.root / f"tmp12345678.{rule}.py"
        script.write_text(BEGIN + code)
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(script), rule, str(self.root)],
            env={"PYTHONPATH": str(provenance.SCRIPTS), "PATH": "/usr/bin:/bin"},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        written = [p for p in self.root.rglob("*") if p.is_file() and self.vault not in p.parents]
        outside = "".join(path.read_text() for path in written)
        assert SECRET not in outside + done.stdout + done.stderr
        return done

    def errors(self, rule: str = "write_report") -> list[str]:
        """Return the error lines of a rule's log."""
        path = self.root / "results" / "day" / "logs" / f"{rule}.log"
        return ERROR.findall(path.read_text())

    def said(self, rule: str = "write_report") -> str:
        """Return what the vault keeps of what a rule printed."""
        return (self.work / "said" / f"{rule}.txt").read_text()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def main(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"def main(task):\n{body}{RUN}"


def test_every_rule_has_its_needs_and_no_other_has() -> None:
    rules = set()
    for path in (ROOT / "rules").glob("*.smk"):
        for block in re.split(r"\n(?=rule |checkpoint )", path.read_text())[1:]:
            name = re.match(r"(?:rule|checkpoint) (\w+):", block)
            if name and "\n    script:" in block:
                rules.add(name[1])
    assert rules == NEEDS.keys()


def test_every_rule_says_where_its_vault_is() -> None:
    for path in (ROOT / "rules").glob("*.smk"):
        text = path.read_text()
        assert text.count("\n    script:") == text.count("\n        audit=AUDIT.params,"), path.name


def test_what_renders_needs_nothing() -> None:
    """No entry of theirs opens, starts or asks anything: what they read of the vault, they declare."""
    renders = {
        *("collect_findings", "summarise_models", "check_claims", "gate", "drift"),
        *("draw_history", "judge_history", "history", "reproduce", "handles", "peek", "fetch"),
    }
    assert {rule for rule, need in NEEDS.items() if need == NOTHING} == renders
    assert NEEDS["write_report"] == Need(("work/staging",))


def test_a_stray_print_of_the_vault_fails_its_job_in_one_line(job: Job) -> None:
    done = job.run(main("print(open('resources/content/bytes').read())"))
    assert done.returncode == 1
    (error,) = job.errors()
    assert re.fullmatch(
        r"a confined job tried to open the vault \(open\) at write_report\.py:\d+; it was stopped\. "
        r"Report this as a defect\.",
        error,
    )
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_a_rule_reads_what_it_declares_and_not_what_lies_beside(job: Job) -> None:
    read = "task.seen = open('resources/handover/results/day/findings/{}.json').read()"
    write = "open('resources/handover/results/day/staging/page', 'w').write(task.seen)"
    assert job.run(main("class task: pass", read.format("mine"), write)).returncode == 0
    assert (job.work / "staging" / "page").read_text() == SECRET
    assert job.run(main("class task: pass", read.format("other"), write)).returncode == 1
    assert "tried to open the vault" in job.errors()[0]
    log = (job.root / "results/day/logs/write_report.log").read_text()
    assert "kept from the vault by: hook, " in log


def test_a_job_that_renders_afterwards_gives_up_what_it_read(job: Job) -> None:
    """By rule: the scripts of others, run for the past inside a job, give up nothing of it."""
    read = "open('resources/content/bytes')"
    later = main(f"{read}; job.process.give_up('collect_findings'); {read}")
    assert job.run(later, "backfill_history").returncode == 0
    code = main(
        read, "task.give_up_vault()", "open('resources/handover/results/day/staging/p', 'w')", read
    )
    assert job.run(code, "diff_reports").returncode == 1
    assert (job.work / "staging" / "p").exists()
    assert "tried to open the vault" in job.errors("diff_reports")[0]
    kept = main("task.give_up_vault(job.Path('resources/content'))", read)
    assert job.run(kept, "diff_reports").returncode == 0


def test_a_rule_opens_what_it_needs(job: Job) -> None:
    code = main("assert open('resources/content/bytes').read() == SECRET")
    assert job.run(code, "lint_evals").returncode == 0


PLACES = {
    "main": main("raise KeyError(SECRET)"),
    "chain": main(
        "try: raise KeyError(SECRET)", "except KeyError as e: raise OSError(SECRET) from e"
    ),
    "note": main("e = ValueError()", "e.add_note(SECRET)", "raise e"),
    "finally": main("try: raise KeyError(SECRET)", "finally: int(SECRET)"),
    "group": main("raise ExceptionGroup(SECRET, [ValueError(SECRET)])"),
    "base group": main("raise BaseExceptionGroup(SECRET, [SystemExit(SECRET)])"),
    "recursion": main("print(SECRET)", "def deep(s): deep(s)", "deep(SECRET)"),
    "memory": main("raise MemoryError(SECRET)"),
    "exit with a text": main("raise SystemExit(SECRET)"),
    "interrupt in a handler": main(
        "try: int(SECRET)", "except ValueError: raise KeyboardInterrupt"
    ),
    "import": f"import benchproof\nint(SECRET)\n{main('pass')}",
    "import in a library": "import benchproof\nexec('raise ImportError(SECRET)')\n" + main("pass"),
    "after the run": "import benchproof.job\nclass Bad(str): pass\nraise LookupError(SECRET)\n",
    "abort": main("print(SECRET, flush=True)", "import os; os.abort()"),
    "segmentation fault": main("import ctypes; print(SECRET); ctypes.string_at(0)"),
}
#: They end the process; the others are said and survived.
QUIET = {
    "print": main("print(SECRET)", "import sys; print(SECRET, file=sys.__stderr__)"),
    "descriptor": main("import os; os.write(1, SECRET.encode()); os.write(2, SECRET.encode())"),
    "thread": main(
        "import threading",
        "t = threading.Thread(target=int, args=(SECRET,))",
        "t.start(); t.join()",
    ),
    "unraisable": main("class Bad:", "    def __del__(self): int(SECRET)", "Bad()"),
    "warning": main("import warnings; warnings.warn(SECRET)"),
    "logging of a library": main("import logging; logging.getLogger('lib').error(SECRET)"),
    "bad logging": main("import logging; logging.getLogger('lib').error('%d', SECRET)"),
    "temporary file": main(
        "import tempfile; tempfile.NamedTemporaryFile('w', delete=False).write(SECRET)"
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_what_ends_a_job_leaves(job: Job, place: str) -> None:
    """`Job.run` looks for the secret in all that was printed and written outside of the vault."""
    done = job.run(PLACES[place])
    assert done.returncode not in (0, None)
    if place in ("abort", "segmentation fault", "interrupt in a handler"):
        return
    (error,) = job.errors()
    assert error.startswith("internal error ")
    assert error.endswith(f"stays in {job.work}/said/write_report.txt.")
    assert SECRET in job.said()


@pytest.mark.parametrize("place", QUIET)
def test_nothing_of_what_a_job_says_leaves(job: Job, place: str) -> None:
    done = job.run(QUIET[place])
    assert done.returncode == 0
    assert (done.stdout, done.stderr) == ("", "")
    if place == "temporary file":
        (file,) = (job.work / "tmp" / "write_report").iterdir()
        assert (file.read_text(), file.stat().st_mode & 0o777) == (SECRET, 0o600)
    else:
        assert SECRET in job.said()


def test_a_file_of_the_handovers_is_added_to_and_none_beside_it(job: Job) -> None:
    """Signed URLs go into a journal that lies among what other jobs hand over."""
    add = "from benchproof.journal import Journal; Journal(job.Path('{}')).add('key', {{}})"
    book = "resources/handover/results/day/links.jsonl"
    assert job.run(main(add.format(book)), "probe_sizes").returncode == 0
    assert (job.work / "links.jsonl").read_text()
    assert job.run(main(add.format(f"{book}.other")), "probe_sizes").returncode == 1


def test_what_a_program_of_a_job_prints_stays_too(job: Job) -> None:
    done = job.run(main("import subprocess; subprocess.run(['echo', SECRET])"), "pin_commits")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert job.said("pin_commits").strip() == SECRET


def test_a_job_that_says_nothing_leaves_nothing(job: Job) -> None:
    assert job.run(main("pass")).returncode == 0
    assert not list((job.work / "said").iterdir())
    assert not list((job.work / "tmp").iterdir())


def test_no_memory_is_written_to_a_disk(job: Job) -> None:
    """A limit of one byte also keeps the kernel from starting what takes cores through a pipe."""
    code = main(
        "import ctypes, resource",
        "assert resource.getrlimit(resource.RLIMIT_CORE) in ((1, 1), (0, 0))",
        "assert sys.platform != 'linux' or ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0",
    )
    assert job.run(code).returncode == 0


def test_a_rule_that_runs_audits_keeps_the_vault_and_its_tongue(job: Job) -> None:
    done = job.run(main("print(open('resources/content/bytes').read())"), "verify_determinism")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_vault_around_the_vault_is_closed_too(job: Job) -> None:
    """A report that is derived again has its own vault inside of the one whose bytes it rests on."""
    inner: dict[str, Any] = {"resources": f"{job.vault}/reproduce/day/vault"}
    begin = f"snakemake.params.audit.update({inner!r}, around={str(job.vault)!r})\n"
    done = job.run(begin + main("open('resources/content/bytes')"), "list_trees")
    assert done.returncode == 1
    assert "tried to open the vault" in job.errors("list_trees")[0]
