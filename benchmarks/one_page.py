"""The one-page way to a content audit: REST for trees, one raw GET per file, urllib, grading in place.

`content_audit.py` runs this in a process of its own and compares with it. It does what the published
scripts do and asks for what they ask for: `reconcile`, `project`, `contract` and `regrade` are one
script each, fetching evaluations one after the other and results with 16 threads. `pooled` is kinder
than any of them: one process, every file once, 16 threads throughout.

usage: one_page.py {reconcile,project,contract,regrade,pooled} < request.json

The request names `api` and `raw`, base URLs, and `repos`, a list of {repo, evals, runs}. One line of
JSON with counts comes out; no value of a file does.
"""

from __future__ import annotations

import json
import sys
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

THREADS = 16
GRADED_KEYS = ("grader", "graders", "canary")


@dataclass(frozen=True)
class Member:
    """A repository and where its evaluations lie."""

    repo: str
    evals: str
    runs: str


@dataclass
class Site:
    """Where to ask; evaluations come through `evals_pool` threads."""

    api: str
    raw: str
    members: list[Member]
    evals_pool: int = 1
    facts: Counter[str] = field(default_factory=Counter)

    def tree(self, member: Member) -> set[str]:
        """Return the paths of all files of a repository."""
        answer = _json(f"{self.api}/repos/{member.repo}/git/trees/main?recursive=1")
        if answer.get("truncated"):
            raise SystemExit(f"{member.repo}: the listing is truncated, counts would be wrong")
        return {item["path"] for item in answer["tree"] if item["type"] == "blob"}

    def file(self, member: Member, path: str) -> Any:
        """Return a JSON file of a repository."""
        return _json(f"{self.raw}/{member.repo}/main/{urllib.parse.quote(path)}")

    def listed(self, member: Member) -> tuple[int, set[str]]:
        """Return the number of rows of a manifest and the paths it names."""
        return _rows(self.file(member, f"{member.evals}/manifest.json"), member.evals)

    def evaluations(self, member: Member, paths: Iterable[str]) -> list[Any]:
        """Return evaluations, one after the other unless the pool is larger."""
        return _each(lambda path: self.file(member, path), sorted(paths), self.evals_pool)


def _json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=90) as answer:
        return json.loads(answer.read())


def _each(work: Callable[[Any], Any], items: Iterable[Any], threads: int) -> list[Any]:
    if threads == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def _rows(manifest: Any, folder: str) -> tuple[int, set[str]]:
    """Read either shape of manifest: a bare list without paths, or an object that has them."""
    if isinstance(manifest, list):
        paths = {f"{folder}/{row['task']}/{row['eval_id']}.json" for row in manifest}
        return len(manifest), paths
    return len(manifest["evals"]), {row["path"] for row in manifest["evals"]}


def _matched(site: Site, member: Member, rows: int, listed: set[str], files: set[str]) -> None:
    present = {
        path
        for path in files
        if path.startswith(f"{member.evals}/")
        and path.endswith(".json")
        and not path.endswith(("manifest.json", "vocabulary.json"))
    }
    site.facts["rows"] += rows
    site.facts["evals"] += len(listed)
    site.facts["orphans"] += len(present - listed)
    site.facts["dangling"] += len(listed - present)


def _projected(site: Site, evaluation: Any) -> None:
    kept = {key: value for key, value in evaluation.items() if key not in GRADED_KEYS}
    site.facts["fields"] += len(kept)
    node = kept.get("data_node") or []
    site.facts["handles"] += 1 if isinstance(node, str) else len(node)


def _counted(site: Site, evaluation: Any) -> None:
    waiting = [evaluation["grader"]] if "grader" in evaluation else evaluation.get("graders", [])
    waiting = list(waiting)
    while waiting:
        grader = waiting.pop()
        config = grader.get("config", {})
        site.facts["graders"] += 1
        site.facts["tolerances"] += len(config.get("tolerances", {}))
        waiting.extend(config.get("children", []))


def numeric_rule(evaluation: Any) -> Any:
    """Return the configuration of a numeric_tolerance grader, None for an eval without one."""
    grader = evaluation.get("grader") or {}
    return grader.get("config") if grader.get("type") == "numeric_tolerance" else None


def numeric_scores(config: Any, answer: Any) -> dict[str, float]:
    """Return 1.0 or 0.0 for every field: `value` is a band, lower and upper are offsets."""
    scores = {}
    for name, truth in config["ground_truth"].items():
        tolerance = config["tolerances"][name]
        low = high = tolerance.get("value")
        if low is None:
            low, high = tolerance["lower"], tolerance["upper"]
        inside = name in answer and -low <= float(answer[name]) - float(truth) <= high
        scores[name] = 1.0 if inside else 0.0
    return scores


def _graded(site: Site, rules: dict[str, Any], path: str, record: Any) -> None:
    config = rules.get(path.split("/")[1])
    result = (record.get("result") or {}).get("grader_result")
    if config is None or result is None:
        site.facts["no_submission" if config is not None else "no_rule"] += 1
        return
    scores = numeric_scores(config, record["result"]["agent_answer"])
    passed = all(score == 1.0 for score in scores.values())
    mean = sum(scores.values()) / len(scores)
    site.facts["graded"] += 1
    site.facts["agree"] += passed == result["passed"]
    site.facts["score_agrees"] += abs(mean - result["score"]) <= 1e-9
    site.facts["fields_agree"] += scores == result["field_scores"]


def _results(member: Member, files: set[str]) -> list[str]:
    prefix = f"{member.runs}/"
    return sorted(p for p in files if p.startswith(prefix) and p.endswith("/result.json"))


def reconcile(site: Site) -> None:
    """Match every manifest with its tree."""
    for member in site.members:
        rows, listed = site.listed(member)
        _matched(site, member, rows, listed, site.tree(member))


def project(site: Site) -> None:
    """Read every evaluation and keep what carries no answer."""
    for member in site.members:
        for evaluation in site.evaluations(member, site.listed(member)[1]):
            _projected(site, evaluation)


def contract(site: Site) -> None:
    """Read every evaluation again and count graders and tolerances."""
    for member in site.members:
        for evaluation in site.evaluations(member, site.listed(member)[1]):
            _counted(site, evaluation)


def regrade(site: Site) -> None:
    """Read evaluations once more where runs follow a numeric rule, and grade every run."""
    for member in site.members:
        evaluations = site.evaluations(member, site.listed(member)[1])
        rules = {item["id"]: rule for item in evaluations if (rule := numeric_rule(item))}
        if rules:
            _regrade(site, member, rules, _results(member, site.tree(member)))


def _regrade(site: Site, member: Member, rules: dict[str, Any], paths: list[str]) -> None:
    records = _each(lambda path: site.file(member, path), paths, THREADS)
    for path, record in zip(paths, records, strict=True):
        _graded(site, rules, path, record)


def pooled(site: Site) -> None:
    """Do all of it in one process, every file once."""
    manifests = _each(site.listed, site.members, THREADS)
    trees = _each(site.tree, site.members, THREADS)
    wanted: list[tuple[Member, str]] = []
    for member, (rows, listed), files in zip(site.members, manifests, trees, strict=True):
        _matched(site, member, rows, listed, files)
        wanted += [(member, path) for path in sorted(listed)]
        wanted += [(member, path) for path in _results(member, files)]
    found = _each(lambda pair: site.file(*pair), wanted, THREADS)
    rules: dict[Member, dict[str, Any]] = {member: {} for member in site.members}
    for (member, path), value in zip(wanted, found, strict=True):
        if path.startswith(f"{member.evals}/"):
            _projected(site, value)
            _counted(site, value)
            if (rule := numeric_rule(value)) is not None:
                rules[member][value["id"]] = rule
        else:
            _graded(site, rules[member], path, value)


SCRIPTS: dict[str, Callable[[Site], None]] = {
    "reconcile": reconcile,
    "project": project,
    "contract": contract,
    "regrade": regrade,
}


def main() -> int:
    """Run one script against the request on standard input; print its counts."""
    request = json.load(sys.stdin)
    members = [Member(item["repo"], item["evals"], item["runs"]) for item in request["repos"]]
    site = Site(request["api"], request["raw"], members)
    if sys.argv[1] == "pooled":
        pooled(site)
    else:
        SCRIPTS[sys.argv[1]](site)
    print(json.dumps(site.facts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
