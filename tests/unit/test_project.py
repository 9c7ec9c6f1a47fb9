"""The project's own papers agree with each other: locks, environments, configuration, docs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchproof import config, tables
from conftest import ROOT


def _load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _locked(name: str) -> dict[str, str]:
    pairs = re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE)
    return {package.lower().replace("_", "-"): version for package, version in pairs}


def test_every_locked_package_has_hashes_and_no_address() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text()
        assert text.count("==") == len(
            re.findall(r"^\S+==\S+ \\\n +--hash=sha256:", text, re.MULTILINE)
        )
        assert "://" not in text


def test_the_test_environment_extends_the_locked_one() -> None:
    """An audit and its tests run on the same versions."""
    run, test = _locked("requirements.txt"), _locked("requirements-dev.txt")
    assert {name: test.get(name) for name in run} == run


def test_conda_environments_state_the_locked_versions() -> None:
    locked = _locked("requirements.txt")
    for path in (ROOT / "envs").glob("*.yaml"):
        listed = _load(path)["dependencies"]
        pip = next(item["pip"] for item in listed if isinstance(item, dict))
        stated = dict(
            re.split("==?", item)
            for item in [*listed, *pip]
            if isinstance(item, str) and "=" in item
        )
        assert stated.pop("python") == "3.11"
        assert stated == {name: locked[name] for name in stated}


def test_the_environment_of_a_rule_holds_what_its_script_imports() -> None:
    """Third-party imports of the library that scripts can reach, by the names of their packages."""
    packages = {"yaml": "pyyaml", "ahocorasick_rs": "ahocorasick-rs"}
    found = set()
    for path in (ROOT / "scripts").rglob("*.py"):
        found |= set(
            re.findall(r"^\s*(?:from|import) ([a-z0-9_]+)", path.read_text(), re.MULTILINE)
        )
    third = {packages.get(n, n) for n in found if _is_third_party(n)}
    listed = _load(ROOT / "envs" / "audit.yaml")["dependencies"]
    pip = next(item["pip"] for item in listed if isinstance(item, dict))
    stated = {re.split("=+", item)[0] for item in [*listed, *pip] if isinstance(item, str)}
    assert third <= stated


def _is_third_party(name: str) -> bool:
    spec = importlib.util.find_spec(name) if name not in ("benchproof", "snakemake") else None
    return spec is not None and spec.origin is not None and "site-packages" in spec.origin


def _keys(value: Any, prefix: str = "") -> set[str]:
    found = set()
    for key, item in value.items():
        found.add(prefix + key)
        if isinstance(item, dict) and prefix == "":
            found |= _keys(item, f"{key}.")
    return found


def test_config_and_schema_name_the_same_keys() -> None:
    schema = _load(ROOT / "config" / "schema.yaml")
    named = set()
    for key, rule in schema["properties"].items():
        named |= {key} | {f"{key}.{inner}" for inner in rule.get("properties", {})}
    assert _keys(_load(ROOT / "config" / "config.yaml")) == named
    assert set(schema["required"]) == set(schema["properties"])


def test_the_readme_of_the_config_names_every_key() -> None:
    text = (ROOT / "config" / "README.md").read_text()
    for key in _load(ROOT / "config" / "config.yaml"):
        assert f"`{key}`" in text, key


def test_the_defaults_are_valid() -> None:
    found = config.load(_load(ROOT / "config" / "config.yaml"), "2026-01-15")
    assert len(found.family) == 6
    assert found.label == "2026-01-15"


def test_every_object_of_the_schema_is_strict() -> None:
    """A typo at any level is an error, never ignored."""
    waiting = [_load(ROOT / "config" / "schema.yaml")]
    while waiting:
        schema = waiting.pop()
        if schema.get("type") == "object":
            assert schema.get("additionalProperties") is not None
        waiting += [
            item for item in schema.get("properties", {}).values() if isinstance(item, dict)
        ]
        waiting += [schema["items"]] if isinstance(schema.get("items"), dict) else []


def test_the_readme_lists_every_table_with_its_key() -> None:
    text = (ROOT / "README.md").read_text()
    for spec in tables.SPECS.values():
        row = rf"^\| {spec.name} \| .* \| {', '.join(spec.key)} \|$"
        assert re.search(row, text, re.MULTILINE), spec.name


@pytest.mark.parametrize("name", ["tables.md", "statuses.md", "reasons.md", "findings.md"])
def test_generated_pages_are_current(name: str) -> None:
    """docs/build.py writes them from the code."""
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert (ROOT / "docs" / name).read_text() == build.PAGES[name]()
    assert {path.name for path in (ROOT / "docs").glob("*.md")} >= build.PAGES.keys()
    assert f"docs/{name}" in (ROOT / "README.md").read_text()


def test_every_rule_is_named_like_its_script() -> None:
    """Code is found from a rule's name without searching."""
    rules = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    blocks = re.split(r"^(?:rule|checkpoint) ", rules, flags=re.MULTILINE)[1:]
    with_script = {b.split(":")[0]: b for b in blocks if "script:" in b}
    assert {f"{name}.py" for name in with_script} == {
        p.name for p in (ROOT / "scripts").glob("*.py")
    }
    for name, block in with_script.items():
        assert f"../scripts/{name}.py" in block
        for section in ("log:", "params:", "message:", "conda:"):
            assert section in block, (name, section)
        assert "input:" in block or "output:" in block, name


def test_no_rule_makes_anything_again_for_the_time_of_a_file_of_the_project() -> None:
    """BR-52: copies and checkouts have any time. What counts is a digest among the params."""
    rules = "\n".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))
    blocks = re.split(r"^(?:rule|checkpoint) ", rules, flags=re.MULTILINE)[1:]
    making = [block for block in blocks if "    output:\n" in block]
    lines = [
        line.strip()
        for block in making
        for line in block.splitlines()
        if "workflow.basedir" in line
    ]
    assert lines
    assert [line for line in lines if not re.match(r"\w+=ancient\(", line)] == []
    claims = next(block for block in making if block.startswith("check_claims:"))
    assert "        claims=AUDIT.claims,\n" in claims.partition("    params:\n")[2]


def test_no_heavy_import_reaches_a_job_that_does_not_need_it() -> None:
    """requests, scipy, Jinja2 and the scanner are imported where they are used, not where they aren't."""
    import subprocess
    import sys

    code = "import sys, benchproof.job, benchproof.workflow; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    heavy = {
        "pyarrow",
        "requests",
        "scipy",
        "jinja2",
        "ahocorasick_rs",
        "pandas",
        "anndata",
        "h5py",
        "duckdb",
    }
    assert not loaded & heavy
