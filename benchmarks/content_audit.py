"""Compare the content audit with the one-page way, both against one upstream that answers late.

usage: content_audit.py [--repo [OWNER/NAME=]BARE_CLONE ...] [--latency-ms 50] [--repeat 3] [--json FILE]

Every round audits cold, the same date again and a later date with unmoved commits, then gets the same
facts the one-page way. Ratios are taken within a round. The data are the invented family unless bare
clones are named; of those nothing is printed and nothing kept. Requests and bytes are the server's count.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from benchproof import tables  # noqa: E402
from family import build_family  # noqa: E402

SNAKEMAKE = Path(sys.executable).parent / "snakemake"
DAY, LATER = "2026-01-15", "2026-01-16"
NETWORK_STAGES = ("pin_commits", "mirror_content")
SCRIPTS = ("reconcile", "project", "contract", "regrade")
AREAS = ("git", "api", "raw")
COLD, SAME, NEXT = "audit, cold", "audit, same date", "audit, later date"
POOLED, PUBLISHED = "one-page, pooled", "one-page, 4 scripts"
#: What both ways must agree on before their times mean anything.
SHARED_FACTS = ("graded", "agree", "score_agrees", "fields_agree")


@dataclass
class Measured:
    """One way measured once; times in seconds, bytes as the server sent them."""

    wall: float
    cpu: float
    stages: float | None
    requests: dict[str, int]
    bytes_out: dict[str, int]
    facts: dict[str, int] = field(default_factory=dict)


class Server:
    """The embedded upstream in a process of its own, so that it shares no interpreter with a client."""

    def __init__(self, root: Path, latency_ms: float, family: Path | None = None) -> None:
        command = [sys.executable, "-m", "upstream", "--root", str(root), "--control"]
        command += ["--latency-ms", str(latency_ms), "--print-config", "--with-parent"]
        command += [] if family is None else ["--family", str(family)]
        self._process = subprocess.Popen(
            command, env=_environment(ROOT / "tests"), stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        told = json.loads(self._process.stdout.readline())
        self.url: str = told["url"]
        self.endpoints: dict[str, Any] = told["endpoints"]

    def reset(self) -> None:
        """Forget what was asked so far."""
        request = urllib.request.Request(f"{self.url}/_control/faults", method="DELETE")
        urllib.request.urlopen(request).close()

    def counts(self) -> dict[str, dict[str, int]]:
        """Return requests and bytes per area since the last reset."""
        with urllib.request.urlopen(f"{self.url}/_control/counts") as answer:
            found: dict[str, dict[str, int]] = json.loads(answer.read())
        return found

    def requests(self) -> list[dict[str, Any]]:
        """Return what was asked since the last reset, one record a request."""
        with urllib.request.urlopen(f"{self.url}/_control/requests") as answer:
            found: list[dict[str, Any]] = json.loads(answer.read())
        return found

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.communicate()


@contextmanager
def _served(root: Path, latency_ms: float) -> Iterator[Server]:
    server = Server(root, latency_ms)
    try:
        yield server
    finally:
        server.stop()


def _environment(*path: Path) -> dict[str, str]:
    """Return what a client may see of our environment; no proxy stands between it and the upstream."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | ({"PYTHONPATH": os.pathsep.join(map(str, path))} if path else {})


def _timed(server: Server, work: Callable[[], dict[str, int]]) -> Measured:
    """Run `work`, whose child processes do everything, and return what it took."""
    server.reset()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    facts = work()
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    counts = server.counts()
    return Measured(
        wall,
        cpu,
        None,
        {area: counts[area]["requests"] for area in AREAS},
        {area: counts[area]["bytes_out"] for area in AREAS},
        facts,
    )


class Audits:
    """Our audits in one folder: the first is cold, a second date finds its vault."""

    def __init__(self, folder: Path, members: Sequence[Mapping[str, str]], server: Server) -> None:
        self._folder, self._members, self._server = folder, members, server

    def run(self, day: str) -> Measured:
        """Audit a date with the whole command."""
        measured = _timed(self._server, lambda: self._snakemake(day))
        measured.facts = self._facts(day)
        measured.stages = self._stage_seconds(day)
        return measured

    def _snakemake(self, day: str) -> dict[str, int]:
        settings = {"date": day, "family": self._members, "endpoints": self._server.endpoints}
        path = self._folder / "settings.json"
        path.write_text(json.dumps({**settings, "results": "results", "resources": "resources"}))
        command = [str(SNAKEMAKE), "-s", str(ROOT / "Snakefile"), "--directory", str(self._folder)]
        command += ["--cores", "2", "--configfile", str(path)]
        done = subprocess.run(
            command, env=_environment(), cwd=self._folder, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"the audit failed with {done.returncode}: {done.stderr[-600:]}")
        return {}

    def _facts(self, day: str) -> dict[str, int]:
        runs = tables.read(self._folder / "results" / day / "runs.parquet", "runs")
        graded = [run for run in runs if run["status"] == "graded"]
        agreeing = {"agree": "passed_agrees", "score_agrees": "score_agrees"}
        agreeing["fields_agree"] = "fields_agree"
        counts = {name: sum(r[column] is True for r in graded) for name, column in agreeing.items()}
        return {"graded": len(graded), **counts}

    def _stage_seconds(self, day: str) -> float:
        """Seconds of the jobs that ask the network, process start included, as Snakemake noted them."""
        seconds: dict[str, float] = {}
        for path in (self._folder / ".snakemake" / "metadata").rglob("*"):
            record = json.loads(path.read_bytes()) if path.is_file() else {}
            if record.get("rule") in NETWORK_STAGES and f"/{day}/" in str(record.get("log")):
                seconds[record["rule"]] = record["endtime"] - record["starttime"]
        return sum(seconds.values())


def _one_page(
    scripts: Sequence[str], members: Sequence[Mapping[str, str]], server: Server
) -> Callable[[], dict[str, int]]:
    """Return what runs one-page scripts one after the other and returns their facts."""
    request = {"api": server.endpoints["github_api"], "raw": server.endpoints["github_raw"]}
    text = json.dumps({**request, "repos": members})

    def run() -> dict[str, int]:
        facts: dict[str, int] = {}
        for script in scripts:
            command = [sys.executable, str(HERE / "one_page.py"), script]
            done = subprocess.run(
                command, env=_environment(), input=text, capture_output=True, text=True
            )
            if done.returncode:
                raise SystemExit(f"one_page.py {script} failed: {done.stderr[-600:]}")
            facts |= json.loads(done.stdout)
        return facts

    return run


def measure_round(
    folder: Path, members: Sequence[Mapping[str, str]], server: Server
) -> dict[str, Measured]:
    """Measure every way once and require that all found the same; raises SystemExit if not."""
    audits = Audits(folder, members, server)
    found = {COLD: audits.run(DAY), SAME: audits.run(DAY), NEXT: audits.run(LATER)}
    found[SAME].stages = 0.0
    found[POOLED] = _timed(server, _one_page(["pooled"], members, server))
    found[PUBLISHED] = _timed(server, _one_page(SCRIPTS, members, server))
    told = {way: [item.facts.get(name, 0) for name in SHARED_FACTS] for way, item in found.items()}
    if len({tuple(facts) for facts in told.values()}) != 1:
        raise SystemExit(f"the ways found different facts ({', '.join(SHARED_FACTS)}): {told}")
    return found


def _spread(values: Sequence[float], digits: int = 2) -> str:
    middle = statistics.median(values)
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return f"{middle:.{digits}f} ({low}-{high})"


def report(rounds: Sequence[Mapping[str, Measured]]) -> str:
    """Return the tables as text: medians with least and most, then ratios."""
    head = f"{'way':<20} {'wall s':>20} {'cpu s':>20} {'network stages s':>20}"
    lines = [head + "".join(f" {f'{area} req / kB':>16}" for area in AREAS)]
    for way in (COLD, SAME, NEXT, POOLED, PUBLISHED):
        each = [found[way] for found in rounds]
        stages = [item.stages for item in each if item.stages is not None]
        line = (
            f"{way:<20} {_spread([i.wall for i in each]):>20} {_spread([i.cpu for i in each]):>20}"
        )
        line += f" {_spread(stages) if stages else 'all of it':>20}"
        for area in AREAS:
            requests = statistics.median(item.requests[area] for item in each)
            kilobytes = statistics.median(item.bytes_out[area] for item in each) / 1000
            line += f" {f'{requests:.0f} / {kilobytes:.1f}':>16}"
        lines.append(line)
    return "\n".join([*lines, "", *_ratios(rounds)])


def _ratios(rounds: Sequence[Mapping[str, Measured]]) -> list[str]:
    def wall(way: str) -> Callable[[Mapping[str, Measured]], float]:
        return lambda found: found[way].wall

    def stages(way: str) -> Callable[[Mapping[str, Measured]], float]:
        return lambda found: found[way].stages or 0.0

    pairs = [
        (one, two, wall(one), wall(two)) for one in (PUBLISHED, POOLED) for two in (COLD, NEXT)
    ]
    stage = "network stages of "
    pairs += [
        (one, f"{stage}{two}", wall(one), stages(two))
        for one in (PUBLISHED, POOLED)
        for two in (COLD, NEXT)
    ]
    pairs += [(NEXT, COLD, wall(NEXT), wall(COLD)), (SAME, COLD, wall(SAME), wall(COLD))]
    lines = ["ratio of wall seconds, median (least-most) over rounds"]
    for one, two, above, below in pairs:
        values = [above(found) / below(found) for found in rounds]
        lines.append(f"  {f'{one} / {two}':<62} {_spread(values)}")
    asked = [[sum(found[way].requests.values()) for way in (POOLED, COLD)] for found in rounds]
    lines.append(
        f"  {'requests, ' + POOLED + ' / ' + COLD:<62} {_spread([one / two for one, two in asked])}"
    )
    return lines


def _members(root: Path, clones: Sequence[str]) -> list[dict[str, str]]:
    """Put what is to be served below `root` and return it as a family."""
    if not clones:
        return build_family(root).config
    members = []
    for given in clones:
        name, sign, path = given.rpartition("=")
        source = Path(path).resolve()
        if not (source / "HEAD").is_file():
            raise SystemExit(f"--repo {given}: no bare clone is there; name its git directory")
        repo = name if sign else f"local/{source.name.removesuffix('.git')}"
        place = root / f"{repo}.git"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(source)
        members.append({"repo": repo, "ref": "main", "evals": "evals", "runs": "trajectories"})
    return members


def main() -> int:
    """Measure, print the tables, and write the rounds as JSON when asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repo", action="append", default=[], metavar="[OWNER/NAME=]BARE_CLONE")
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory(prefix="benchproof-bench-") as name:
        temporary = Path(name)
        members = _members(temporary / "upstream", given.repo)
        with _served(temporary / "upstream", given.latency_ms) as server:
            for number in range(given.repeat):
                folder = temporary / f"round{number}"
                folder.mkdir()
                rounds.append(measure_round(folder, members, server))
    print(
        f"{len(members)} repositories, {rounds[0][COLD].facts['graded']} graded runs, "
        f"{given.latency_ms:g} ms before every answer, {given.repeat} rounds, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print(report(rounds))
    if given.json:
        told = [{way: asdict(item) for way, item in found.items()} for found in rounds]
        given.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
