"""Audits through a real Slurm of two nodes without a way out, and what may happen to their jobs (BR-51).

`make test-slurm` brings the cluster up and asks for these; nothing else submits a job, wherever it runs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from benchproof import cluster
from benchproof.watch.nested import GRACE_S
from conftest import ROOT, Bench, content, kill_group, settings
from family import Family, build_family
from upstream import Upstream

HOME = os.environ.get("SLURM_TESTBED", "")
PLUGIN = importlib.util.find_spec("snakemake_executor_plugin_slurm")
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.workflow,
    pytest.mark.skipif(not HOME, reason="no Slurm test bed; `make test-slurm` brings one up"),
    pytest.mark.skipif(PLUGIN is None, reason="the Slurm executor is missing; `make env-slurm`"),
]
#: The profile that users have; looked at every few seconds, since these jobs are short.
PROFILE = (
    "--workflow-profile",
    str(ROOT / "profiles" / "slurm"),
    "--slurm-init-seconds-before-status-checks",
    "2",
    "--seconds-between-status-checks",
    "1",
    "--latency-wait",
    "5",
)
#: Submissions that the family costs: what rests on its commits, what opens its data, what rests on both.
SUBMISSIONS = 3
PATIENCE_S = 240
#: Whether the test bed keeps accounts, and has the command that its Debian lacks (scrontab.sh builds it).
ACCOUNTS = bool(os.environ.get("SLURM_TESTBED_ACCOUNTING"))
SCRONTAB = shutil.which("scrontab")
STARTED: list[subprocess.Popen[str]] = []
#: How many jobs Slurm had recorded when a test began: pytest may reuse its folder.
EARLIER: list[int] = [0]


@pytest.fixture(scope="module")
def served(small_family: Family) -> Iterator[Upstream]:
    with Upstream(small_family.root, family=small_family) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def local(
    tmp_path_factory: pytest.TempPathFactory, small_family: Family, served: Upstream
) -> dict[str, bytes]:
    """The content tables of the same audit on one machine."""
    bench = Bench(tmp_path_factory.mktemp("local"), settings(small_family, served))
    done = bench.run(timeout=900)
    assert done.returncode == 0, done.stdout[-2000:]
    return dict(content(bench.out))


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    """Each test begins with two good nodes, and leaves neither a run nor a job."""
    if HOME:
        resume()
        EARLIER.append(len(recorded()))
    yield
    while STARTED:
        STARTED.pop().kill()
    if HOME:
        subprocess.run(["scancel", f"--user={os.getuid()}"], check=True)


@pytest.fixture
def bench(tmp_path: Path, small_family: Family, served: Upstream) -> Bench:
    return Bench(tmp_path, settings(small_family, served))


def audit(bench: Bench, *arguments: str) -> str:
    """Audit through Slurm, require success, and return what was said; the last of two profiles counts."""
    done = bench.run(*PROFILE, *arguments, cores=1, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def start(bench: Bench, *arguments: str) -> subprocess.Popen[str]:
    STARTED.append(bench.start(*arguments, *PROFILE, "--cores", "1"))
    return STARTED[-1]


def recorded() -> list[str]:
    path = Path(HOME, "log", "jobs.txt")
    return path.read_text().splitlines() if path.exists() else []


def submitted(bench: Bench) -> list[dict[str, str]]:
    """What Slurm has recorded, in this test, of the jobs of this bench that are over, in their order."""
    found = []
    for line in recorded()[EARLIER[-1] :]:
        job = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if job["WorkDir"] == str(bench.folder):
            found.append(job)
    return sorted(found, key=lambda job: int(job["JobId"]))


def scontrol(*arguments: str) -> None:
    subprocess.run(["scontrol", *arguments], check=True, capture_output=True)


def resume() -> None:
    """Bring both nodes back; Slurm refuses that for one that is well."""
    for node in ("node1", "node2"):
        command = ["scontrol", "update", f"nodename={node}", "state=resume"]
        subprocess.run(command, check=False, capture_output=True)


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.2)


def name_of(bench: Bench) -> str:
    """Wait for the run to hold the vault and return the name that its jobs bear."""
    path = bench.vault / "lease.json"
    until(path.exists)
    time.sleep(0.2)
    return str(json.loads(path.read_text())["jobs"])


def running(name: str) -> str:
    """Wait for a job of that name to run on a node, and return its number."""

    def there() -> bool:
        return any(job.state == "RUNNING" for job in cluster.leftovers(name))

    until(there)
    return cluster.leftovers(name)[0].number


def finish(process: subprocess.Popen[str]) -> None:
    assert process.wait(timeout=900) == 0


def test_the_same_bytes_for_three_submissions(bench: Bench, local: dict[str, bytes]) -> None:
    """Content tables as on one machine; only the login node asks the world; nothing is left behind."""
    audit(bench)
    assert content(bench.out) == local
    jobs = submitted(bench)
    assert [job["JobState"] for job in jobs] == ["COMPLETED"] * SUBMISSIONS
    assert {job["ProcCnt"] for job in jobs} == {"1"}
    assert len({job["Name"] for job in jobs}) == 1
    assert not (bench.vault / "lease.json").exists()
    assert "Nothing to be done" in audit(bench)
    assert len(submitted(bench)) == SUBMISSIONS


def test_the_whole_planted_family(tmp_path: Path) -> None:
    """1,057 runs, planted faults, a snapshot that is fetched and opened: no more submissions."""
    family = build_family(tmp_path / "family", planted=True)
    with Upstream(family.root, family=family) as upstream:
        chosen = settings(family, upstream, fetch={"select": "smallest"})
        here, there = (Bench(tmp_path / name, chosen) for name in ("here", "there"))
        here.folder.mkdir()
        there.folder.mkdir()
        done = here.run(timeout=900)
        assert done.returncode == 0, done.stdout[-2000:]
        audit(there)
    assert content(there.out) == content(here.out)
    assert len(submitted(there)) == SUBMISSIONS
    assert [row["status"] for row in there.rows("files")] == ["ok"]


def own_profile(folder: Path, fetch: bool = False) -> tuple[str, str]:
    """Return the option for a copy of the profile with what docs/cluster.md appends to its groups."""
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    documented = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert documented is not None
    text = (ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8")
    profile = yaml.safe_load(f"{text}{documented.group(1)}")
    if fetch:
        profile["groups"].append("fetch_snapshot=fetch")
        profile["group-components"] = ["fetch=60"]
        profile["set-resources"]["fetch_snapshot"] = {"slurm_partition": "transfer"}
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    return ("--workflow-profile", str(folder))


def test_stages_that_ask_the_world_may_go_to_a_partition(
    bench: Bench, local: dict[str, bytes], tmp_path: Path
) -> None:
    """A profile of the user's own: a group makes a rule a job, its resources say where."""
    audit(bench, *own_profile(tmp_path / "mine"))
    assert content(bench.out) == local
    jobs = submitted(bench)
    assert sorted(job["Partition"] for job in jobs) == ["compute"] * SUBMISSIONS + ["transfer"] * 2


def test_snapshots_may_be_fetched_there_too(bench: Bench, tmp_path: Path) -> None:
    bench.settings["fetch"] = {"select": "smallest"}
    audit(bench, "fetch", *own_profile(tmp_path / "mine", fetch=True))
    assert [row["status"] for row in bench.rows("files")] == ["ok"]
    assert [job["Partition"] for job in submitted(bench)].count("transfer") == 3


def test_a_cancelled_job_and_a_node_that_goes_down(bench: Bench, local: dict[str, bytes]) -> None:
    """The first is submitted again by Snakemake, the second queued again by Slurm: one run, no hand."""
    process = start(bench)
    name = name_of(bench)
    first = running(name)
    subprocess.run(["scancel", first], check=True)
    until(lambda: any(job.number != first for job in cluster.leftovers(name)))
    running(name)
    node = subprocess.run(
        ["squeue", "-h", "-t", "running", "--name", name, "-o", "%N"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    scontrol("update", f"nodename={node}", "state=down", "reason=test")
    try:
        finish(process)
    finally:
        resume()
    assert content(bench.out) == local
    states = [job["JobState"] for job in submitted(bench)]
    assert states[0] == "CANCELLED"
    assert states.count("COMPLETED") == SUBMISSIONS


def test_a_drained_cluster_is_waited_for(bench: Bench) -> None:
    """Jobs stay pending, nothing is submitted twice, and the run goes on when nodes are back."""
    scontrol("update", "nodename=node1,node2", "state=drain", "reason=test")
    try:
        process = start(bench, "regrade")
        name = name_of(bench)
        until(lambda: [job.state for job in cluster.leftovers(name)] == ["PENDING"])
        time.sleep(12)  # several looks at the queue
        assert [job.state for job in cluster.leftovers(name)] == ["PENDING"]
    finally:
        resume()
    finish(process)
    assert [job["JobState"] for job in submitted(bench)] == ["COMPLETED"]


def test_a_job_without_enough_memory_gets_more(bench: Bench, local: dict[str, bytes]) -> None:
    audit(bench, "regrade", "--default-resources", "mem_mb=100*attempt**3", "runtime=5")
    jobs = submitted(bench)
    assert [job["JobState"] for job in jobs] == ["FAILED", "COMPLETED"]
    assert ["mem=100M" in jobs[0]["Tres"], "mem=800M" in jobs[1]["Tres"]] == [True, True]
    assert content(bench.out)["runs.parquet"] == local["runs.parquet"]


def test_a_job_over_its_time_gets_more(bench: Bench, local: dict[str, bytes]) -> None:
    """A job that hangs is ended by its time limit, which an administrator lowers here to a minute."""
    process = start(bench, "regrade")
    first = running(name_of(bench))
    subprocess.run(["scancel", "--signal=STOP", "--full", first], check=True)
    scontrol("update", f"jobid={first}", "timelimit=1")
    finish(process)
    jobs = submitted(bench)
    assert [job["JobState"] for job in jobs] == ["TIMEOUT", "COMPLETED"]
    assert int(jobs[1]["TimeLimit"]) == 2 * 5
    assert content(bench.out)["runs.parquet"] == local["runs.parquet"]


def test_a_job_that_never_succeeds_is_tried_three_times(bench: Bench) -> None:
    """Bounded, and said: the nested snakemakes do not multiply the tries."""
    done = bench.run(
        "regrade", *PROFILE, "--default-resources", "mem_mb=100", "runtime=5", cores=1, timeout=600
    )
    assert done.returncode == 1
    assert [job["JobState"] for job in submitted(bench)] == ["FAILED"] * 3
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"benchproof: Slurm job {submitted(bench)[-1]['JobId']} (")
    assert "ended FAILED" in last


def test_a_killed_run_with_jobs_in_flight(bench: Bench, local: dict[str, bytes]) -> None:
    """The next run ends what the cluster still does for the dead one, and the audit with the same bytes."""
    process = start(bench)
    name = name_of(bench)
    left = running(name)
    kill_group(process)
    assert [job.number for job in cluster.leftovers(name)] == [left]
    audit(bench)
    assert cluster.leftovers(name) == []
    assert content(bench.out) == local
    states = {job["JobId"]: job["JobState"] for job in submitted(bench)}
    assert states.pop(left) in (
        "CANCELLED",
        "FAILED",
    )  # the nodes are this host: its processes end first
    assert list(states.values()) == ["COMPLETED"] * SUBMISSIONS


def test_a_second_run_leaves_a_living_ones_jobs_alone(bench: Bench) -> None:
    process = start(bench, "regrade")
    name = name_of(bench)
    running(name)
    second = bench.run("regrade", *PROFILE, cores=1)
    assert second.returncode == 75, second.stdout[-2000:]
    finish(process)
    assert [job["JobState"] for job in submitted(bench)] == ["COMPLETED"]


def test_an_interrupted_run_ends_its_jobs(bench: Bench) -> None:
    """SIGINT, as Ctrl-C or a timer's KillSignal gives it."""
    process = start(bench)
    name = name_of(bench)
    running(name)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=GRACE_S) != 0
    assert cluster.leftovers(name) == []
    assert not (bench.vault / "lease.json").exists()


@pytest.mark.skipif(not ACCOUNTS, reason="a test bed without accounts; SLURM_TESTBED_ACCOUNTING=1")
@pytest.mark.parametrize("command", ["squeue", "sacct"])
def test_an_account_a_qos_and_a_partition(bench: Bench, command: str) -> None:
    """What docs/cluster.md has in its table; either command tells what became of a job."""
    chosen = ["slurm_account=audits", "slurm_partition=transfer"]
    resources = ["--default-resources", "mem_mb=1000*attempt", "runtime=5*attempt", *chosen]
    also = ["--slurm-status-command", command, "--slurm-qos", "nightly", *resources]
    process = start(bench, "regrade", *also)
    first = running(name_of(bench))
    if (
        command == "squeue"
    ):  # sacct's "CANCELLED by 0" is no end to the executor, which waits for ever
        subprocess.run(["scancel", first], check=True)
    finish(process)
    jobs = submitted(bench)
    expected = ["CANCELLED", "COMPLETED"] if command == "squeue" else ["COMPLETED"]
    assert [job["JobState"] for job in jobs] == expected
    for job in jobs:
        assert [job[key] for key in ("Account", "QOS", "Partition")] == [
            "audits",
            "nightly",
            "transfer",
        ]


def test_what_slurm_refuses_ends_the_run_at_once(bench: Bench) -> None:
    """A partition that is not there: the executor keeps the reason to itself, but shows what it called."""
    also = ["--default-resources", "mem_mb=1000", "slurm_partition=nowhere", "--verbose"]
    done = bench.run("regrade", *PROFILE, *also, cores=1)
    assert done.returncode == 1
    assert re.search(r"sbatch --parsable .* -p nowhere ", done.stdout)
    assert done.stdout.splitlines()[-1].startswith("benchproof: Slurm has no job of this run: ")
    assert submitted(bench) == []
    assert not (bench.vault / "lease.json").exists()


def recipe(start_of_line: str) -> str:
    """A line of docs/scheduling.md with the lines right before it that configure it."""
    page = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^((?:#SCRON .*\n)*{re.escape(start_of_line)}.*\n)", page, re.MULTILINE)
    return str(found)


def installed(bench: Bench) -> None:
    """Put into the bench's folder what the recipes call there, and a mail program that keeps mails."""
    (bench.folder / "share").symlink_to(ROOT / "share")
    bench.settings["date"] = None
    bench.command()
    for name, text in (
        (
            ".venv/bin/benchproof",
            f'exec {sys.executable} -m benchproof "$@" --configfile settings.json',
        ),
        (".venv/bin/snakemake", f'exec {sys.executable} -m snakemake -s {ROOT}/Snakefile "$@"'),
        ("bin/mail", f"cat >> {bench.folder}/mail"),
    ):
        path = bench.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\nexport PYTHONPATH={ROOT}/scripts\n{text}\n")
        path.chmod(0o755)
    (bench.folder / "profiles").symlink_to(ROOT / "profiles")


@pytest.mark.skipif(SCRONTAB is None, reason="no scrontab here; tests/slurm/scrontab.sh builds it")
def test_a_line_in_scrontab(bench: Bench, local: dict[str, bytes]) -> None:
    """The documented lines, each minute: a job that submits the others; what it says is mailed once."""
    installed(bench)
    lines = recipe("0 3 * * 1  cd /srv/benchproof && .venv/bin/benchproof watch --limit 20h")
    for theirs, ours in (
        ("0 3 * * 1", "* * * * *"), ("20:30:00", "1:30:00"), ("--limit 20h", "--limit 1h"),
        ("=login", "=transfer"), ("/srv/benchproof &&", f"{bench.folder} && PATH=$PWD/bin:$PATH;"),
    ):  # fmt: skip
        assert theirs in lines
        lines = lines.replace(theirs, ours)
    subprocess.run(["scrontab", "-"], input=lines, text=True, check=True)
    status = bench.folder / "results" / "status.json"
    try:
        until(lambda: status.exists() and json.loads(status.read_text())["state"] == "ended")
        first = json.loads(status.read_text())["started_at"]
        until(lambda: json.loads(status.read_text())["started_at"] > first)
        until(lambda: json.loads(status.read_text())["state"] == "ended")
    finally:
        subprocess.run(["scrontab", "-r"], check=True)
    (folder,) = (bench.folder / "results").glob("2*")
    assert content(folder).keys() == local.keys()
    mail = (bench.folder / "mail").read_text().splitlines()
    assert mail[0].endswith(": 1 invariant newly fails")
    assert sum("newly fails" in line for line in mail) == 1
    assert json.loads(status.read_text())["exit_code"] == 0


def test_a_job_that_submits_the_others(bench: Bench, local: dict[str, bytes]) -> None:
    """Where login nodes end long processes, the documented job runs snakemake."""
    installed(bench)
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`(sbatch --mem.*?)`", page)
    command = command.replace("snakemake ", "snakemake --configfile settings.json ")
    command = command.replace("--time 1-0", "--time 1:00:00 --partition transfer --wait")
    done = subprocess.run(["sh", "-c", command], cwd=bench.folder, check=False)
    (said,) = bench.folder.glob("slurm-*.out")
    assert done.returncode == 0, said.read_text()[-3000:]
    (folder,) = (bench.folder / "results").glob("2*")
    assert content(folder).keys() == local.keys()
    assert len(submitted(bench)) == SUBMISSIONS + 1
