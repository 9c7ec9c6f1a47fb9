"""Plant one leak of every kind into a copy of the workflow, and let the gate find it:
python -m campaign.determinism [--only NAME].

Each leak goes into the script of another table, so that one run of the gate has all of them; what each table
follows must be what was planted, and every other file must be the same.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from conftest import ROOT, SNAKEMAKE, Bench, settings
from family import build_family
from upstream import Upstream

#: By condition: the script that is spoilt, a line of it, what stands there instead, and the table that shows.
LEAKS: Final[dict[str, tuple[str, str, str, str]]] = {
    "hash seed": (
        "check_licences.py",
        '    task.write("licences", rows)',
        '    rows[0]["deviations"] = list({"a", "b", "c", "d", "e"})\n    task.write("licences", rows)',
        "licences",
    ),
    "locale": (
        "summarise_models.py",
        '    task.write("models", summarise(runs, evals))',
        '    import locale\n    locale.setlocale(locale.LC_ALL, "")\n'
        "    rows = list(summarise(runs, evals))\n"
        '    rows[0]["n_missing"] += 5 * ("," in f"{1.5:n}")\n    locale.setlocale(locale.LC_ALL, "C")\n'
        '    task.write("models", rows)',
        "models",
    ),
    "working folder": (
        "check_published.py",
        "def main(task: job.Job) -> None:\n",
        "def main(task: job.Job) -> None:\n    import os\n"
        '    task.params.audit["made_by"]["notice"] = os.getcwd()\n',
        "published",
    ),
    "time zone": (
        "list_trees.py",
        "def main(task: job.Job) -> None:\n",
        "def main(task: job.Job) -> None:\n    import time\n"
        '    task.params.audit["made_by"]["notice"] = time.strftime("%z", time.localtime(1_768_000_000))\n',
        "tree",
    ),
    "threads": (
        "check_records.py",
        "def main(task: job.Job) -> None:\n",
        "def main(task: job.Job) -> None:\n    import os\n"
        '    task.params.audit["made_by"]["notice"] = os.environ["OMP_NUM_THREADS"]\n',
        "record_checks",
    ),
    "folder order": (
        "reconcile_manifests.py",
        "def main(task: job.Job) -> None:\n",
        "def main(task: job.Job) -> None:\n    import os\n"
        '    listed = os.listdir("results/2026-01-15")\n'
        '    told = [n for n in listed if n in ("logs", "config.json")]\n'
        '    task.params.audit["made_by"]["notice"] = told[0]\n',
        "reconciliation",
    ),
}


def plant(tree: Path, names: list[str]) -> None:
    """Copy the workflow, and spoil it in these ways."""
    for name in ("rules", "scripts", "config", "profiles", "envs"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "Snakefile", tree / "Snakefile")
    for name in names:
        script, line, leak, _ = LEAKS[name]
        path = tree / "scripts" / script
        text = path.read_text(encoding="utf-8")
        if line not in text:
            raise SystemExit(f"{script} has no line to spoil any more: {line.strip()}")
        path.write_text(text.replace(line, leak, 1), encoding="utf-8")


def gate(tree: Path, bench: Bench) -> str:
    """Run the gate of a workflow and return what it said."""
    bench.folder.mkdir(exist_ok=True)
    command = bench.command("verify_determinism")
    command[command.index("-s") + 1] = str(tree / "Snakefile")
    assert command[0] == str(SNAKEMAKE)
    done = subprocess.run(
        command, env=bench.environ(), cwd=bench.folder, capture_output=True, text=True, check=False
    )
    kept = bench.out.parent / "determinism" / bench.out.name / "summary.md"
    return kept.read_text(encoding="utf-8") if kept.exists() else done.stdout + done.stderr


def main() -> int:
    """Return 1 when a leak is not named by what it follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=LEAKS, action="append")
    names = parser.parse_args().only or list(LEAKS)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root / "tree", names)
        family = build_family(root / "family", small=True)
        with Upstream(family.root, family=family) as served:
            said = gate(root / "tree", Bench(root / "bench", settings(family, served)))
    for name in names:
        table = LEAKS[name][3]
        found = re.search(
            rf"^- {table}\.parquet DIFFERS .*\n- it follows (.*)$", said, re.MULTILINE
        )
        follows = found[1] if found else "not found"
        print(f"{name}: {table}: {follows}")
        missed += [name] if follows != name else []
    if missed:
        print(said[-4000:])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
