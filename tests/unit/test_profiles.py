"""Where a rule runs when jobs are submitted: every rule has its place, and no other setting is lost."""

from __future__ import annotations

import re
from typing import Any

import yaml

from benchproof.workflow import PROTOCOLS
from conftest import ROOT

#: Rules whose jobs are submissions of their own: as many as the user asks for, and one behind a checkpoint.
ALONE = {"grade_share", "inspect_snapshots"}


def profile(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8")
    )
    return found


def rules() -> dict[str, str]:
    """Every rule's text, by its name."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "rules").glob("*.smk"))]
    parts = re.split(r"^(?:rule|checkpoint) (\w+):$", "\n".join(texts), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def local() -> set[str]:
    text = (ROOT / "Snakefile").read_text(encoding="utf-8")
    listed = re.search(r"^localrules:\n((?:    \w+,\n)+)", text, re.MULTILINE)
    assert listed is not None
    return set(re.findall(r"\w+", listed.group(1)))


def grouped() -> dict[str, str]:
    return dict(entry.split("=") for entry in profile("slurm")["groups"])


def test_every_rule_with_a_script_runs_here_or_in_a_group() -> None:
    scripted = {name for name, text in rules().items() if "    script:" in text}
    assert scripted == (local() - {"all"}) | set(grouped()) | ALONE
    assert not local() & set(grouped())


def test_what_asks_the_world_stays_where_the_world_can_be_asked() -> None:
    """By its protocol, or by the settings that say how to ask: compute nodes have no way out."""
    asking = {name for name, text in rules().items() if "AUDIT.settings" in text}
    assert set(PROTOCOLS) <= asking
    assert asking <= local()


def test_the_slurm_profile_keeps_what_the_default_one_sets() -> None:
    """Snakemake reads one of them alone."""
    default, slurm = profile("default"), profile("slurm")
    assert {name: slurm.get(name) for name in default if name != "cores"} == {
        name: value for name, value in default.items() if name != "cores"
    }


def test_what_a_checkpoint_feeds_is_in_no_group() -> None:
    """Snakemake 9.27 loses such a job from its group once the checkpoint is over, and ends in a KeyError."""
    common = (ROOT / "rules" / "common.smk").read_text(encoding="utf-8")
    fed = [part.split("(")[0] for part in common.split("\ndef ")[1:] if "checkpoints." in part]
    assert fed
    eaters = {
        name for name, text in rules().items() if any(f"={function}," in text for function in fed)
    }
    assert eaters == {"inspect_snapshots"}
    assert not eaters & set(grouped())


def test_tries_are_counted_once() -> None:
    """A rule's own retries are counted again by the snakemakes inside its job."""
    assert profile("slurm")["retries"] == 2
    assert not any("retries:" in text for text in rules().values())


def test_the_page_about_clusters_names_what_is_there() -> None:
    """Its make targets, and rules of the profile that it shows: those that ask the world, each in a group."""
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([\w-]+)", page, re.MULTILINE)) <= made
    shown = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    appended = yaml.safe_load(f"groups:\n{shown.group(1)}")
    moved = {entry.split("=")[0] for entry in appended["groups"]}
    assert (
        moved
        == set(appended["set-resources"])
        == set(PROTOCOLS) - {"fetch_snapshot", "list_commits"}
    )
