"""One leak of every kind, in real processes under the gate's conditions: each file names its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchproof.determinism import judging
from benchproof.determinism.compare import without_effect
from benchproof.determinism.conditions import DESIGN, Plan, plan
from benchproof.determinism.deriving import Recorded, Workshop
from benchproof.determinism.observed import observed
from benchproof.determinism.places import Locales, locales
from benchproof.vault import Vault, read_json

#: What a job must not do, by the file that it spoils; `clean` is what it should.
JOB = """
import locale, os, time
from pathlib import Path

out = Path(os.environ["OUT"])
words = ["i", "I", "z", "Z", "a.b", "aB", "1,5"]

def write(name, value):
    (out / name).write_text(f"first\\n{value}\\n", encoding="utf-8")

write("hash seed", list({f"scbench/{number}" for number in range(40)}))
write("time zone", time.strftime("%Y-%m-%d %H:%M", time.localtime(1_768_000_000)))
write("folder order", [path.name for path in Path(os.environ["KNOWN"]).glob("*")])
write("working folder", Path("x").absolute())
locale.setlocale(locale.LC_ALL, "")
write("locale", [sorted(words, key=locale.strxfrm), f"{1.5:n}"])
locale.setlocale(locale.LC_ALL, "C")
threads = int(os.environ["OMP_NUM_THREADS"])
numbers = [1 / n for n in range(1, 1000)]
write("threads", sum(sum(numbers[at::threads]) for at in range(threads)))
mode = Path("made")
mode.touch()
write("umask", oct(mode.stat().st_mode))
mode.unlink()
write("clean", sorted({f"scbench/{number}" for number in range(40)}))
os._exit(0)
"""
LEAKS = ("hash seed", "time zone", "folder order", "working folder", "locale", "threads", "umask")


class Planted:
    """Six derivations of one job that leaks everything."""

    def __init__(self, root: Path) -> None:
        self.spoken = locales(root / "locales")
        self.plan: Plan = plan({"source": ("git",), "locale": self.spoken.names}, {})
        shop = Workshop(root, sys.executable, self.spoken, {"git": Vault(root / "vault")})
        recorded = Recorded("2026-01-15", {"date": "2026-01-15"}, [], {}, {}, None)
        self.given = {name: self.plan.given(name) for name in DESIGN}
        self.seen: dict[str, dict[str, str]] = {name: {} for name in DESIGN}
        self.folders: dict[str, Path] = {}
        self.problems: list[str] = []
        known = shop.known()
        for one in self.plan.derivations:
            room = root / "rooms" / one.given["working folder"]
            script = room / ".snakemake" / "scripts" / "tmp123.leak_all.py"
            script.parent.mkdir(parents=True, exist_ok=True)
            script.write_text(JOB)
            out, into = root / "made" / one.name, root / "witnesses" / one.name
            out.mkdir(parents=True)
            into.mkdir(parents=True)
            environment = shop.environment(recorded, one, into)
            subprocess.run(
                [sys.executable, str(script)],
                cwd=room,
                env=environment | {"OUT": str(out), "KNOWN": str(known)},
                umask=int(one.given["umask"], 8),
                check=True,
                timeout=60,
            )
            witnesses = [read_json(path) for path in into.iterdir()]
            values, problems = observed(witnesses, ["leak_all"], {}, [])
            self.problems += problems
            for name, value in values.items():
                self.seen[name][one.name] = value
            self.folders[one.name] = out


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return Planted(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("leak", LEAKS)
def test_each_leak_is_found_and_follows_its_condition(planted: Planted, leak: str) -> None:
    (product,) = (one for one in judging.products(planted.folders) if one.name == leak)
    found = judging.disagreement(product, planted.folders, planted.given)
    if leak == "locale" and planted.spoken.unvaried:
        pytest.skip("this machine has no locale that sorts otherwise, and cannot make one")
    assert not product.agrees
    assert found.place == "line 2"
    assert found.suspects == (leak,)


def test_what_leaks_nothing_is_the_same(planted: Planted) -> None:
    (product,) = (one for one in judging.products(planted.folders) if one.name == "clean")
    assert product.agrees


def test_the_conditions_are_seen_from_inside(planted: Planted) -> None:
    """All those that hold in one process; the others belong to several jobs."""
    assert not planted.problems
    given = {leak: planted.given[leak] for leak in LEAKS}
    assert not without_effect(given, planted.seen)
    assert set(planted.seen["folder order"].values()) == {"abcdefg", "gfedcba", "gcbfdae"}
    assert set(planted.seen["umask"].values()) == {"022", "077"}


def test_a_condition_that_is_not_put_into_force_is_told(planted: Planted) -> None:
    """As on a machine whose libraries don't know a zone's name."""
    given = {"time zone": {"A": "Nowhere/Else", "B": "UTC"}}
    seen = {"time zone": dict.fromkeys("AB", "+0000 UTC +0000 UTC")}
    (said,) = without_effect(given, seen)
    assert "did not take effect" in said


def test_without_other_locales_there_are_still_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchproof.determinism.places._first", lambda names, folder: None)
    found = locales(tmp_path / "none")
    assert found == Locales(("C", "C.UTF-8"), tmp_path / "none", found.unvaried)
    assert found.unvaried == "no locale like tr_TR or de_DE is installed or can be made"
    assert found.environment("C") == {"LC_ALL": "C"}
