"""The gate: what this machine can vary, the derivations, and the verdict on them."""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path
from typing import Final

from benchproof.determinism import judging
from benchproof.determinism.compare import without_effect
from benchproof.determinism.conditions import DESIGN, FEW, RUNS, Derivation, Plan, plan
from benchproof.determinism.deriving import CLAIMS, RENDERING, RULES, Made, Recorded, Workshop
from benchproof.determinism.observed import SHARE, observed
from benchproof.determinism.places import locales, other_source
from benchproof.determinism.words import Verdict
from benchproof.outputs import CONTENT
from benchproof.vault import Vault, private_folder

log = logging.getLogger("benchproof")
#: What a former gate left of one date, and the next replaces.
_LEFT: Final = ("rooms", "made", "witnesses", "logs")


def judge(recorded: Recorded, vault: Vault, python: str, own: Path) -> Verdict:
    """Derive a date under all conditions and compare; `own` is the folder of its report.

    Raises BenchproofError when a derivation fails.
    """
    began = time.monotonic()
    base = private_folder(vault.root / "determinism" / recorded.label)
    _clear(base, _LEFT)
    shop, planned = _prepare(recorded, vault, base, python)
    made = {one.name: _derived(shop, recorded, one) for one in planned.derivations}
    seen, problems = _observed(planned, made, recorded.report is None)
    given = {name: planned.given(name) for name in DESIGN}
    folders = {name: one.folder for name, one in made.items()}
    products = judging.products(folders)
    differing = [judging.disagreement(one, folders, given) for one in products if not one.agrees]
    # Claims are a function of the observations too: those of a sealed report were given.
    names = [*CONTENT, "claims"] if recorded.report else list(CONTENT)
    same, others = judging.against_report(own, folders["A"], names)
    _clear(base, _LEFT if not differing else _LEFT[:1])
    return Verdict(
        recorded.label,
        planned,
        seen,
        products,
        differing,
        [*problems, *without_effect(given, seen)],
        same,
        others,
        sum(len(one.witnesses) for one in made.values()),
        time.monotonic() - began,
        None if recorded.report else "there is no sealed report whose observations could be given",
        str(base),
    )


def _prepare(recorded: Recorded, vault: Vault, base: Path, python: str) -> tuple[Workshop, Plan]:
    """Return the workshop, and the plan of what can be varied here."""
    read = [spec for spec in recorded.family if spec.repo not in recorded.absences]
    other = other_source(recorded.settings, Vault(base.parent / "other"), read, recorded.pins)
    spoken = locales(base.parent / "locales")
    source = recorded.settings["source"]
    brought = any(
        recorded.pins[spec.repo].commit_sha and spec.repo not in other.absent for spec in read
    )
    available = {
        "source": (source, other.name) if brought else (source,),
        "locale": spoken.names,
    }
    causes = {"source": other.unvaried, "locale": spoken.unvaried}
    unvaried = {name: why for name, why in causes.items() if why is not None}
    shop = Workshop(base, python, spoken, {source: vault, other.name: other.vault})
    runs = FEW if recorded.settings["derivations"] == len(FEW) else RUNS
    return shop, plan(available, unvaried, runs)


def _derived(shop: Workshop, recorded: Recorded, one: Derivation) -> Made:
    began = time.monotonic()
    made = shop.derive(recorded, one)
    log.info(
        "derivation %s: %d jobs, %.0f s", one.name, len(made.witnesses), time.monotonic() - began
    )
    return made


def _observed(
    planned: Plan, made: dict[str, Made], without_report: bool
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return what was observed of each condition by derivation, and what is wrong with that."""
    seen: dict[str, dict[str, str]] = {name: {} for name in DESIGN}
    problems = []
    for one in planned.derivations:
        left = made[one.name]
        shared = one.given["shares of runs"] != "1"
        last = CLAIMS if without_report else RENDERING.stem
        rules = [*(rule for rule in RULES if shared or rule != SHARE), last]
        values, wrong = observed(left.witnesses, rules, left.sources, CONTENT)
        problems += [f"{one.name}: {sentence}" for sentence in wrong]
        for name, value in values.items():
            seen[name][one.name] = value
    return seen, problems


def _clear(base: Path, names: tuple[str, ...]) -> None:
    for name in names:
        shutil.rmtree(base / name, ignore_errors=True)
