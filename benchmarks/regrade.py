"""Grade many recorded runs, invented in memory, through the code that the audit grades with.

usage: regrade.py [--runs 100000] [--repeat 3] [--json FILE]

The records have the length and form of the real ones and follow the invented family's rules; answers are
drawn anew for each, so that right, wrong and on-bound ones mix. Three things are timed over the same
bytes: `json.loads` alone, the audit's grading (parse, grade, compare, readings, tables written), and the
grading as the audit reads, from a content archive with every blob hashed again. Records are made before
the clock starts; peak memory is what grading adds to them.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from benchproof import streams  # noqa: E402
from benchproof.analysis.runs import Streamed, regrade_repository  # noqa: E402
from benchproof.inventory.repository import Repository  # noqa: E402
from benchproof.sources import content  # noqa: E402
from benchproof.sources.base import Entry, RepoSpec  # noqa: E402
from benchproof.sources.objects import object_id  # noqa: E402
from family import EvalDraft, draft_family  # noqa: E402
from family.rules import grader_result  # noqa: E402

SPEC = RepoSpec("bench/invented", "main", "evals", "trajectories")
COMMIT = "0" * 40
#: Runs of the real family, which the audit should grade within 0.3 s once local.
FAMILY_RUNS = 1041
Blobs = dict[str, bytes]


class Memory:
    """Stands in for a content archive: the same blobs, unpacked and unhashed."""

    def __init__(self, entries: list[Entry], blobs: Blobs) -> None:
        self.entries, self._blobs = entries, blobs

    def listing(self) -> Iterator[Entry]:
        """Yield the entries."""
        return iter(self.entries)

    def has(self, sha: str) -> bool:
        """True when the blob is here."""
        return sha in self._blobs

    def read(self, sha: str) -> bytes:
        """Return a blob."""
        return self._blobs[sha]


def invented(number: int) -> tuple[list[Entry], Blobs]:
    """Return listing and blobs of a repository with `number` recorded runs."""
    draft = draft_family(repos=["scbench"])
    templates = draft.runs["scbench"]
    evals = {item.eval_id: item for item in draft.evals["scbench"]}
    files = {item.path: json.dumps(item.data).encode() for item in evals.values()}
    rng = random.Random("regrade")
    for count in range(number):
        run = templates[count % len(templates)]
        folder = run.folder.rsplit("/", 1)[0]
        files[f"{folder}/r{count}/result.json"] = _record(rng, evals[run.eval_id], run.result)
    entries, blobs = [], {}
    for path, data in sorted(files.items()):
        sha = object_id("blob", data)
        entries.append(Entry(path.encode(), "100644", sha, len(data)))
        blobs[sha] = data
    return entries, blobs


def _record(rng: random.Random, item: EvalDraft, template: dict[str, Any]) -> bytes:
    answer = {rule.name: _drawn(rng, rule) for rule in item.fields}
    graded = grader_result(item.fields, answer)
    told = {"agent_answer": answer, "grader_result": graded, "passed": graded["passed"]}
    return json.dumps({**template, "result": {**template["result"], **told}}).encode()


def _drawn(rng: random.Random, rule: Any) -> Any:
    kind = rng.random()
    if kind < 0.02 and "value" in rule.tolerance:
        return rule.at_bound(rng)
    return rule.inside(rng) if kind < 0.6 else rule.outside(rng)


def _clock(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall and CPU seconds of `work`."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _peak() -> float:
    """Return the highest resident memory of this process since `_forget_peak`, MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:", 1)[1].split(None, 1)[0]) / 1000


def _forget_peak() -> float:
    """Let the peak start again from what is resident now; return that, MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _grade(store: content.Content | Memory) -> None:
    """Grade, and write both tables to nowhere in particular."""
    with (
        tempfile.TemporaryFile() as one,
        tempfile.TemporaryFile() as two,
        streams.writing(one, "runs", {}) as runs,
        streams.writing(two, "run_fields", {}) as run_fields,
    ):
        repository = Repository(SPEC, COMMIT, cast(content.Content, store))
        regrade_repository(repository, Streamed(runs, run_fields))


def _parse(blobs: Blobs) -> None:
    for data in blobs.values():
        json.loads(data)


def _archive(path: Path, entries: list[Entry], blobs: Blobs) -> None:
    def pairs() -> Iterator[tuple[str, bytes]]:
        yield from blobs.items()

    content.save(path, entries, pairs())


def _from_archive(path: Path) -> None:
    with content.opened(path) as archive:
        _grade(archive)


def measure(number: int, repeat: int) -> dict[str, Any]:
    """Measure one number of runs; times are lists of (wall, cpu) seconds, memory is in MB."""
    entries, blobs = invented(number)
    store = Memory(entries, blobs)
    before = _forget_peak()
    graded = _clock(lambda: _grade(store))
    peak = _peak()
    found: dict[str, Any] = {
        "runs": number,
        "megabytes": sum(map(len, blobs.values())) / 1e6,
        "added_mb": peak - before,
        "loads": [],
        "grade": [graded],
        "archive": [],
    }
    with tempfile.TemporaryDirectory(prefix="benchproof-bench-") as folder:
        path = Path(folder) / "content.zip"
        _archive(path, entries, blobs)
        for turn in range(repeat):
            found["loads"].append(_clock(lambda: _parse(blobs)))
            if turn:
                found["grade"].append(_clock(lambda: _grade(store)))
            found["archive"].append(_clock(lambda: _from_archive(path)))
    return found


def _spread(values: Sequence[float], digits: int = 2) -> str:
    middle = statistics.median(values)
    return f"{middle:.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def report(found: dict[str, Any]) -> str:
    """Return one measurement as text: ratios first."""
    lines = [f"{found['runs']} runs, {found['megabytes']:.1f} MB of JSON"]
    cpu = {name: [pair[1] for pair in found[name]] for name in ("loads", "grade", "archive")}
    for name, shown in (
        ("grade", "grading / json.loads"),
        ("archive", "from archive / json.loads"),
    ):
        ratios = [one / two for one, two in zip(cpu[name], cpu["loads"], strict=True)]
        lines.append(f"  {shown:<28} {_spread(ratios)} (cpu)")
    for name, shown in (("loads", "json.loads"), ("grade", "grading"), ("archive", "from archive")):
        wall = _spread([pair[0] for pair in found[name]])
        rate = found["runs"] / statistics.median(cpu[name])
        lines.append(
            f"  {shown:<28} wall {wall} s, cpu {_spread(cpu[name])} s, {rate:,.0f} runs per cpu s"
        )
    lines.append(f"  {'memory added by grading':<28} {found['added_mb']:.0f} MB at the peak")
    return "\n".join(lines)


def main() -> int:
    """Measure, print, and write the figures as JSON when asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    found = [measure(number, given.repeat) for number in sorted({FAMILY_RUNS, given.runs})]
    print("\n".join(report(item) for item in found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
