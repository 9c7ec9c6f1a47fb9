"""`benchproof verify`: an untouched folder passes, and whatever was done to one is named."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchproof import cli, tables
from benchproof.errors import BenchproofError, SealError
from benchproof.leaks import search
from benchproof.report import drifting
from benchproof.sealing import command, crate, files, form, seal, swhid
from benchproof.sealing.command import exit_code
from benchproof.sealing.outcome import Check
from benchproof.sealing.verify import Means, verify
from benchproof.vault import Vault
from conftest import ROOT
from unit.sealing.folders import COMMIT, DAY, ENTRIES, REPOS, SHA, reseal, rows, settings, written

MEANS = Means(defaults=settings().merged)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("whole") / "results")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "results" / DAY
    shutil.copytree(whole, copy)
    return copy


def checks(folder: Path, **means: Any) -> dict[str, Check]:
    return {check.name: check for check in verify(folder, Means(MEANS.defaults, **means))}


def failing(folder: Path, **means: Any) -> dict[str, tuple[str, ...]]:
    found = checks(folder, **means)
    return {name: check.lines for name, check in found.items() if check.status == "failed"}


def test_an_untouched_folder_passes_wherever_it_lies(folder: Path) -> None:
    found = checks(folder)
    assert {name: check.status for name, check in found.items()} == {
        **dict.fromkeys(("seal", "files", "chain", "date", "commits", "trees", "swhids"), "ok"),
        **dict.fromkeys(("config", "code", "crate"), "ok"),
        **dict.fromkeys(("signature", "history", "answers", "derivation"), "not checked"),
    }
    moved = folder.rename(folder.parent / "a copy")
    assert not failing(moved)
    assert checks(moved)["date"].lines[1] == "the folder is called a_copy"


def sealed_names(folder: Path) -> list[str]:
    return [*seal.sealed(folder), seal.SEAL]


def test_one_changed_byte_anywhere_is_named(folder: Path) -> None:
    """Five in each file: its first and last, and three others; 300 and more in all."""
    chance = random.Random(7)
    flips = 0
    for name in sealed_names(folder):
        path = folder / name
        data = path.read_bytes()
        for at in {0, len(data) - 1, *(chance.randrange(len(data)) for _ in range(8))}:
            other = bytearray(data)
            other[at] ^= chance.randint(1, 255)
            path.write_bytes(other)
            told = f"{name}: byte {at:,} is 0x{other[at]:02x} and was 0x{data[at]:02x}"
            if name == seal.SEAL:
                first = next(verify(folder, MEANS))
                assert first.status == "failed"
                assert told in first.lines
            else:
                sealed = form.parse((folder / seal.SEAL).read_bytes()).files
                assert f"{name}: {files.changed(path, sealed[name])}" == told
            flips += 1
        path.write_bytes(data)
    assert flips >= 300
    assert not failing(folder)


def edited(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_bytes(edit(path.read_bytes()))

    return change


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "summary.md"
        path.unlink()
        make(path)

    return change


def moved_link(folder: Path) -> None:
    (folder / "findings").rename(folder.parent / "elsewhere")
    (folder / "findings").symlink_to("../elsewhere")


def parts(folder: Path) -> None:
    (folder / "runs.parquet.0.part").write_text("x")


DONE_TO_IT: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "missing": (lambda f: (f / "summary.md").unlink(), ["summary.md: is missing"]),
    "renamed": (
        lambda f: (f / "summary.md").rename(f / "s.md"),
        ["summary.md: is called s.md now"],
    ),
    "extra": (
        lambda f: (f / "evil.html").write_text("x"),
        ["evil.html: is a file that was not sealed"],
    ),
    "left by a killed run": (parts, ["runs.parquet.0.part: is a file that was not sealed"]),
    "extra in a folder": (
        lambda f: (f / "findings" / "x.md").write_text("x"),
        ["findings/x.md: is a file that was not sealed"],
    ),
    "case twin": (
        lambda f: (f / "Summary.md").write_text("x"),
        [
            "Summary.md: is a file that was not sealed, a name that differs from summary.md by case "
            "alone"
        ],
    ),
    "cut off": (
        edited("report.html", lambda data: data[:70_000]),
        ["report.html: is cut off: 70,000 of 108,000 bytes are there, the first 69,632 as sealed"],
    ),
    "cut off and changed": (
        edited("report.html", lambda data: b"X" + data[1:70_000]),
        ["report.html: is cut off: 70,000 of 108,000 bytes are there; byte 0 is 0x58 and was 0x3c"],
    ),
    "emptied": (
        edited("summary.md", lambda data: b""),
        ["summary.md: is cut off: 0 of 43 bytes are there, the first 0 as sealed"],
    ),
    "grown": (
        edited("summary.md", lambda data: data + b"more"),
        ["summary.md: 4 bytes were added, from byte 43 on"],
    ),
    "a word in the middle": (
        edited("report.html", lambda data: data.replace(b"said", b"sold", 1)),
        ["report.html: byte 4 is 0x6f and was 0x61, and 1 more after it"],
    ),
    "inserted": (
        edited("report.html", lambda data: data[:50_000] + b"x" + data[50_000:]),
        [
            "report.html: the first changed byte is one of bytes 49,664 to 50,175, and 1 bytes longer"
        ],
    ),
    "link": (
        replaced(lambda p: p.symlink_to("report.html")),
        ["summary.md: is a symbolic link now, and was a file"],
    ),
    "pipe": (replaced(os.mkfifo), ["summary.md: is a named pipe now, and was a file"]),
    "folder": (replaced(Path.mkdir), ["summary.md: is a folder now, and was a file"]),
    "linked folder": (
        moved_link,
        ["findings: is a symbolic link that was not sealed", "findings/demo+one.md: is missing"],
    ),
    "link among logs": (
        lambda f: (f / "logs" / "x").symlink_to("/etc/passwd"),
        ["logs/x: is a symbolic link that was not sealed"],
    ),
    "empty folder": (lambda f: (f / "x").mkdir(), ["x: is a folder that was not sealed"]),
    "name that a terminal obeys": (
        lambda f: (f / "a\x1b[2J\n").write_text("x"),
        ["a?[2J?: is a file that was not sealed"],
    ),
    "name that is no text": (
        lambda f: Path(os.fsdecode(os.fsencode(f) + b"/\xff")).write_text("x"),
        ["?: is a file that was not sealed"],
    ),
}


@pytest.mark.parametrize(("change", "told"), DONE_TO_IT.values(), ids=DONE_TO_IT.keys())
def test_what_was_done_to_the_files_is_named(
    folder: Path, change: Callable[[Path], Any], told: list[str]
) -> None:
    change(folder)
    found = checks(folder)["files"]
    assert (found.status, list(found.lines)) == ("failed", told)


def test_what_is_no_change_of_a_byte_is_said_and_fails_nothing(folder: Path) -> None:
    (folder / "logs" / "later.log").write_text("said later")
    (folder / "summary.md").chmod(0o755)
    (folder / "swhids.txt").chmod(0o4644)
    os.link(folder / "report.html", folder.parent / "other")
    found = checks(folder)["files"]
    assert found.status == "ok"
    assert found.lines[1:] == (
        "modes are not sealed: 1 files are executable (first: summary.md)",
        "modes are not sealed: 1 files are set-id (first: swhids.txt)",
        "1 files have other names, by which they can be changed (first: report.html)",
    )


# -- a forger, who seals again whatever was changed ---------------------------------------------------


def rewritten(
    table: str, change: Callable[[list[dict[str, Any]]], object], **about: Any
) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = folder / f"{table}.parquet"
        listed = rows(DAY).get(table, [])
        change(listed)
        tables.write(path, table, listed, {**tables.about(path), **about})

    return forge


def nothing(listed: list[dict[str, Any]]) -> None:
    """Change no row."""


def config_changed(folder: Path) -> None:
    said = json.loads((folder / "config.json").read_text())
    said["family"][0]["ref"] = "other"
    (folder / "config.json").write_text(json.dumps(said))


def more(folder: Path) -> None:
    (folder / "more.txt").write_text("x")


FORGED: dict[str, tuple[Callable[[Path], None], dict[str, str]]] = {
    "a table of another commit": (
        rewritten("runs", nothing, pins=dict.fromkeys(REPOS, "9" * 40)),
        {"commits": "runs.parquet was made from other commits than pins names"},
    ),
    "pins of another commit": (
        rewritten("pins", lambda listed: listed[0].update(commit_sha="9" * 40)),
        {"commits": "the seal names other commits than pins"},
    ),
    "an entry with another id": (
        rewritten("tree", lambda listed: listed[0].update(blob_sha="9" * 40)),
        {"trees": "the 5 entries of demo/one are not those of its tree"},
    ),
    "an entry less": (
        rewritten("tree", lambda listed: listed.pop()),
        {"trees": "the 4 entries of demo/two are not those of its tree"},
    ),
    "no entries": (
        rewritten("tree", lambda listed: listed.clear()),
        {"trees": "the 0 entries of demo/one are not those of its tree"},
    ),
    "another tree": (
        rewritten("pins", lambda listed: listed[0].update(tree_sha="9" * 40)),
        {"trees": "the 5 entries of demo/one are not those of its tree"},
    ),
    "an id that is none": (
        rewritten("pins", lambda listed: listed[0].update(commit_sha="../x")),
        {"commits": "pins.parquet holds ids that are none"},
    ),
    "no table": (
        edited("tree.parquet", lambda data: b"PAR1" * 9),
        {"trees": "tree.parquet can't be read (ArrowInvalid)"},
    ),
    "another SWHID": (
        edited("swhids.txt", lambda data: data.replace(b"swh:1:rev", b"swh:1:rel", 1)),
        {"swhids": "swhids.txt is not what pins and tree give, from byte 8 on"},
    ),
    "another configuration": (
        config_changed,
        {"config": "config.json has another digest than the seal says"},
    ),
    "another date": (
        edited("summary.md", lambda data: data.replace(b"2026-01-15", b"2026-01-22")),
        {"date": "summary.md is of 2026-01-22, the seal of 2026-01-15"},
    ),
    "a file that the crate doesn't know": (
        more,
        {"crate": "ro-crate-metadata.json: more.txt is not as the seal says"},
    ),
    "a crate that is none": (
        edited(crate.CRATE, lambda data: b"{"),
        {"crate": "ro-crate-metadata.json can't be read"},
    ),
}


@pytest.mark.parametrize(("forge", "told"), FORGED.values(), ids=FORGED.keys())
def test_what_a_forger_leaves_in_contradiction_is_named(
    folder: Path, forge: Callable[[Path], None], told: dict[str, str]
) -> None:
    forge(folder)
    reseal(folder)
    found = failing(folder)
    assert {"files", "seal"}.isdisjoint(found)
    for name, line in told.items():
        assert line in found[name]


# -- dates --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("three") / "results"
    for day in ("2026-01-08", "2026-01-15", "2026-01-22"):
        written(results, day)
    return results


@pytest.fixture
def dates(three: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "dated"
    shutil.copytree(three, copy, symlinks=True)
    return copy


def test_dates_follow_each_other(dates: Path) -> None:
    assert checks(dates / "2026-01-08")["chain"].lines == ("2026-01-15 follows this seal",)
    assert checks(dates / "2026-01-15")["chain"].lines == (
        "2026-01-08 has the seal that this one names; 2026-01-22 follows this seal",
    )
    assert not failing(dates / "latest")


def test_a_missing_predecessor_is_not_checked(dates: Path) -> None:
    shutil.rmtree(dates / "2026-01-08")
    found = checks(dates / "2026-01-15")["chain"]
    assert (found.status, found.asked) == ("not checked", False)
    assert "2026-01-08 is not here" in found.lines[0]


def test_a_changed_predecessor_is_named_and_names_its_followers(dates: Path) -> None:
    old = dates / "2026-01-15"
    (old / "summary.md").write_text("benchproof 2026-01-15: better\n")
    reseal(old)
    assert failing(dates / "2026-01-22")["chain"][0].startswith(
        "the seal of 2026-01-15 is another one than this report names"
    )
    assert failing(old)["chain"] == ("2026-01-22 follows another seal of this date",)


def test_an_older_date_under_a_newer_name_is_named(dates: Path) -> None:
    shutil.rmtree(dates / "2026-01-22")
    shutil.copytree(dates / "2026-01-15", dates / "2026-01-22")
    swapped = dates / "2026-01-22"
    assert failing(swapped)["date"] == (
        "the folder is called 2026-01-22 and was sealed as 2026-01-15",
    )
    reseal(swapped, label="2026-01-22")
    assert failing(swapped)["date"] == (
        "summary.md is of 2026-01-15, the seal of 2026-01-22",
        "its data were observed on 2026-01-15, before its date 2026-01-22",
    )


@pytest.mark.parametrize("label", ["../2026-01-15/x", "2026-01-29", "..", "2026-01-15"])
def test_a_chain_that_leads_elsewhere_is_refused(dates: Path, label: str) -> None:
    reseal(dates / "2026-01-15", previous={"label": label, "seal_sha256": "a" * 64})
    assert "chain" in failing(dates / "2026-01-15")


def test_an_incomplete_report_is_no_predecessor(tmp_path: Path) -> None:
    results = tmp_path / "results"
    written(results, "2026-01-08", complete=False)
    later = written(results, "2026-01-15")
    assert json.loads((later / "seal.json").read_bytes())["previous"] is None
    assert "incomplete" in checks(results / "2026-01-08")["seal"].lines[0]


# -- the seal itself ----------------------------------------------------------------------------------


def test_a_seal_of_before_is_still_read(folder: Path) -> None:
    said = json.loads((folder / "seal.json").read_bytes())
    older = {name: said[name] for name in ("label", "complete", "notice", "made_by", "scan")}
    older["files"] = seal.sealed(folder)
    (folder / "seal.json").write_text(json.dumps(older, indent=1, sort_keys=True) + "\n")
    assert seal.is_complete(folder)
    found = checks(folder)
    assert not failing(folder)
    assert "nothing proves seal.json itself" in found["seal"].lines[0]
    assert found["chain"].status == "not checked"
    (folder / "summary.md").write_text("x")
    assert failing(folder)["files"] == (
        "summary.md: differs; an earlier version's seal doesn't say where",
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda path: None,
        os.mkfifo,
        lambda path: path.symlink_to("summary.md"),
        lambda path: path.mkdir(),
        lambda path: path.write_bytes(b"[" * 100_000),
        lambda path: path.write_bytes(b"\0" * 1000),
    ],
    ids="gone pipe link folder deep zeros".split(),
)
def test_a_seal_that_is_none_fails(folder: Path, make: Callable[[Path], object]) -> None:
    (folder / "seal.json").unlink()
    make(folder / "seal.json")
    assert "seal" in failing(folder)
    assert seal.is_complete(folder) is False


def test_the_digest_that_was_published_is_compared(folder: Path) -> None:
    digest = seal.digest(folder / "seal.json")
    assert not failing(folder, digest=digest)
    assert failing(folder, digest="a" * 64)["seal"] == (
        f"its digest is {digest}, not the one that was said",
    )


# -- signatures ---------------------------------------------------------------------------------------

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def key(folder: Path, name: str, phrase: str = "") -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-C", name, "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def allowed(folder: Path, *keys: Path) -> Path:
    path = folder / "signers"
    lines = [f"{k.name} {k.with_suffix('.pub').read_text()}" for k in keys]
    path.write_text("".join(lines))
    return path


@needs_ssh
def test_a_signature_is_of_who_made_it_and_over_these_bytes(tmp_path: Path) -> None:
    mine, other = key(tmp_path, "me"), key(tmp_path, "other")
    signed = written(tmp_path / "results", key=mine)
    both = allowed(tmp_path, mine, other)
    found = checks(signed, signers=both)
    assert found["signature"].lines == ("signed by me",)
    assert found["files"].status == "ok"
    assert not failing(signed, signers=both, signer="me", must_be_signed=True)
    assert "signature" in failing(signed, signers=both, signer="other")
    assert "signature" in failing(signed, signers=allowed(tmp_path, other))
    assert checks(signed)["signature"].lines[0].startswith("signed; say --signers")
    (tmp_path / "signers").unlink()
    assert checks(signed, signers=tmp_path / "signers")["signature"].asked
    both = allowed(tmp_path, mine)
    signature = (signed / seal.SIGNATURE).read_bytes()
    reseal(signed)
    (signed / seal.SIGNATURE).write_bytes(signature)
    assert not failing(signed, signers=both)  # the same bytes: sealing again changes nothing
    reseal(signed, complete=False)
    assert not (signed / seal.SIGNATURE).exists()
    (signed / seal.SIGNATURE).write_bytes(signature)
    assert "signature" in failing(signed, signers=both)
    text = b"".join(path.read_bytes() for path in signed.rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in text


@needs_ssh
@pytest.mark.parametrize("make", [lambda f: key(f, "locked", "phrase"), lambda f: f / "nowhere"])
def test_a_key_that_cannot_sign_seals_nothing(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(SealError, match="could not be signed") as caught:
        written(tmp_path / "results", key=make(tmp_path))
    assert str(tmp_path) not in str(caught.value)
    assert not (tmp_path / "results" / DAY / "seal.json").exists()


def test_not_signed_is_said_and_fails_when_it_must_be(folder: Path) -> None:
    assert checks(folder)["signature"].lines == ("not signed",)
    assert failing(folder, must_be_signed=True)["signature"]


# -- commits in clones; other folders -----------------------------------------------------------------


def clone(path: Path, commit: str) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    put = [
        "git",
        f"--git-dir={path}",
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        "--literally",
    ]
    subprocess.run(put, input=commit.encode(), check=True, stdout=subprocess.DEVNULL)
    return path


def test_commits_are_found_in_a_clone_and_have_the_pinned_trees(
    folder: Path, tmp_path: Path
) -> None:
    good, empty = clone(tmp_path / "good", COMMIT), clone(tmp_path / "empty", COMMIT + "other\n")
    assert checks(folder, clones=(empty, good))["history"].status == "ok"
    found = checks(folder, clones=(empty,))["history"]
    assert (found.status, found.asked) == ("not checked", True)
    rewritten("pins", lambda listed: listed[0].update(tree_sha="9" * 40))(folder)
    assert failing(folder, clones=(good,))["history"] == (
        "demo/one: the commit has another tree than pins says",
    )


def test_a_comparison_is_sealed_with_the_seals_of_both(dates: Path) -> None:
    old, new = dates / "2026-01-08", dates / "2026-01-15"
    place = drifting.place(dates, old, new)
    drifting.write(drifting.compared(old, new, None, None), place)
    drifting.seal(place, old, new)
    found = checks(place)
    assert {found[name].status for name in ("seal", "files", "chain")} == {"ok"}
    (place / "summary.md").write_text("x")
    reseal(new)
    reseal(new, complete=False)
    assert set(failing(place)) == {"files", "chain"}


def test_a_past_commit_is_checked_without_a_seal(tmp_path: Path) -> None:
    made = tmp_path / "history" / "demo+one" / SHA
    about = {"pins": {"demo/one": SHA}}
    for name in ("pins", "tree", "reconciliation"):
        tables.write(made / f"{name}.parquet", name, rows(DAY, ("demo/one",))[name], about)
    assert not failing(made)
    assert {checks(made)[name].status for name in ("commits", "trees")} == {"ok"}
    assert "commits" in failing(made.rename(made.with_name("9" * 40)))


# -- identifiers and crate ----------------------------------------------------------------------------


def test_identifiers_have_their_qualifiers_in_order(whole: Path) -> None:
    lines = (whole / "swhids.txt").read_text().splitlines()
    origin = "origin=https://github.com/demo/one"
    assert lines[0] == f"swh:1:rev:{SHA};{origin}"
    anchor = f"{origin};anchor=swh:1:rev:{SHA}"
    assert f"swh:1:cnt:{'1' * 40};{anchor};path=/evals/%C3%A4%20b.json" in lines
    assert f"swh:1:cnt:{'5' * 40};{anchor};path=/%FF%3B%25" in lines
    assert not any("runs/" in line or "4" * 40 in line for line in lines)
    assert len(lines) == len(REPOS) * (2 + len(ENTRIES) - 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"notice": "Invented."},
        {"git_mirrors": {"demo/one": "/somewhere"}},
        {"endpoints": {**settings().merged["endpoints"], "git": "http://127.0.0.1:1"}},
    ],
    ids="invented mirrored elsewhere".split(),
)
def test_no_origin_is_claimed_that_is_not_known(changes: dict[str, Any]) -> None:
    assert swhid.origins(settings(**changes).merged)["demo/one"] is None


def test_the_crate_keeps_the_rules_of_its_profiles(whole: Path) -> None:
    """What RO-Crate 1.1, Workflow RO-Crate 1.0 and Workflow Run Crate 0.5 require, rule by rule: their
    validator takes contexts from the network and thirty packages.
    """
    made = json.loads((whole / crate.CRATE).read_text())
    graph = {item["@id"]: item for item in made["@graph"]}
    assert len(graph) == len(made["@graph"])
    root, descriptor = graph["./"], graph[crate.CRATE]
    assert made["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    assert descriptor["about"] == {"@id": "./"}
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]
    for profile in root["conformsTo"]:
        assert graph[profile["@id"]]["@type"] == "CreativeWork"
    assert {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"} in root["conformsTo"]
    assert root["@type"] == "Dataset"
    assert root["datePublished"] == DAY
    assert graph[root["license"]["@id"]]["name"]
    main = graph[root["mainEntity"]["@id"]]
    assert main["@type"] == ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    assert (whole / root["mainEntity"]["@id"]).read_bytes() == (ROOT / "Snakefile").read_bytes()
    assert graph[main["programmingLanguage"]["@id"]]["@type"] == "ComputerLanguage"
    action = graph[root["mentions"]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["instrument"] == root["mainEntity"]
    assert action["endTime"] == f"{DAY}T10:00:00+00:00"
    used = [*action["object"], *action["result"], *root["hasPart"], *main["softwareRequirements"]]
    assert {item["@id"] for item in used} <= set(graph)
    listed = {item["@id"] for item in root["hasPart"]}
    assert listed == {crate.file_id(name) for name in seal.sealed(whole) if name != crate.CRATE}
    for name in listed:
        assert "File" in graph[name]["@type"]
        assert graph[name]["encodingFormat"]
        assert int(graph[name]["contentSize"]) == (whole / name).stat().st_size


def test_the_same_report_gives_the_same_crate_and_seal_anywhere(
    whole: Path, tmp_path: Path
) -> None:
    other = written(tmp_path / "x" / "results")
    for name in (crate.CRATE, "swhids.txt", "seal.json"):
        assert (other / name).read_bytes() == (whole / name).read_bytes()
    assert str(tmp_path) not in (other / crate.CRATE).read_text()


@pytest.mark.parametrize("name", ["demo/..", "demo/n\u00e9", "demo/" + "n" * 300, "../x"])
def test_a_name_that_no_repository_has_is_looked_for_nowhere(
    folder: Path, tmp_path: Path, name: str
) -> None:
    """A forged table of pins gets a verdict, not an error of the vault's."""
    pins = [{**row, "repo": name} for row in rows(DAY)["pins"][:1]]
    tables.write(folder / "pins.parquet", "pins", pins, {})
    (tmp_path / "vault").mkdir()
    found = checks(folder, vault=tmp_path / "vault")
    assert found["commits"].status == "failed"
    assert found["history"].status == "not checked"


def test_a_table_without_its_columns_is_not_searched_for(folder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"repo": ["demo/one"]}), folder / "reconciliation.parquet")
    (tmp_path / "vault").mkdir()
    found = checks(folder, vault=tmp_path / "vault")["answers"]
    assert found.status == "not checked"
    assert "its tables lack columns" in found.lines[0]


def retyped(folder: Path, table: str, column: str, value: Any) -> None:
    path = folder / f"{table}.parquet"
    there = pq.read_table(path)
    cells = pa.array([value] * len(there))
    pq.write_table(there.set_column(there.schema.get_field_index(column), column, cells), path)


@pytest.mark.parametrize("value", [["demo/one"], 5, b"demo/one", {"demo": "one"}], ids=repr)
@pytest.mark.parametrize(
    ("table", "column", "check"),
    [
        ("pins", "repo", "commits"),
        ("pins", "commit_sha", "commits"),
        ("reconciliation", "repo", "trees"),
        ("reconciliation", "status", "trees"),
        ("tree", "repo", "trees"),
        ("tree", "mode", "trees"),
    ],
)
def test_a_column_of_another_type_fails_a_check(
    folder: Path, tmp_path: Path, table: str, column: str, check: str, value: Any
) -> None:
    """A forger's cells end in a verdict, with a vault at hand too, and not in an error."""
    retyped(folder, table, column, value)
    reseal(folder)
    (tmp_path / "vault").mkdir()
    told = f"{table}.parquet has another type in the column {column}"
    assert failing(folder, vault=tmp_path / "vault")[check] == (told,)


def test_a_seal_and_a_crate_of_other_types_end_in_a_verdict(folder: Path) -> None:
    made = json.loads((folder / seal.SEAL).read_bytes())["made_by"]
    (folder / crate.CRATE).write_text(
        '{"@graph": [{"@id": "x", "@type": "File", "contentSize": 1e999}]}'
    )
    reseal(folder, made_by={**made, "versions": ["x"]})
    found = checks(folder)
    assert (found["code"].status, found["crate"].status) == ("failed", "failed")


@pytest.mark.parametrize("name", ["config.json", "pins.parquet", "reconciliation.parquet"])
def test_a_pipe_is_not_waited_for_by_the_search(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    (tmp_path / "vault").mkdir()
    with pytest.raises(BenchproofError, match="copy it again"):
        search.again(folder, Vault(tmp_path / "vault"))


# -- the command --------------------------------------------------------------------------------------


def said(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchproof", "verify", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_called_from_python_the_command_leaves_its_process_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert cli.main(["verify", str(folder)]) == 0
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert "10 checks hold" in capsys.readouterr().out


def test_the_command_says_a_line_a_check_and_ends_as_they_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = said(str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "10 checks hold, 4 not made. Exit code 0."
    assert said(str(folder), "--vault", "nowhere").returncode == 20
    assert said("nowhere").returncode == 1
    assert said(str(folder), "--digest", "x").returncode == 2
    (folder / "summary.md").write_text("benchproof 2026-01-15: 3 of 2 repositories\n")
    done = said(str(folder), "--json")
    assert done.returncode == 1
    found = {item["name"]: item for item in map(json.loads, done.stdout.splitlines())}
    assert found["files"]["status"] == "failed"


def test_records_of_snakemake_are_searched_of_reports_that_are_made_here(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are there, of a report in the configured results; a copy elsewhere has none."""
    monkeypatch.chdir(tmp_path)
    given: list[Means] = []

    def noted(_: Path, means: Means) -> list[Check]:
        given.append(means)
        return []

    monkeypatch.setattr(command, "verify", noted)
    for name in ("log", "metadata", "locks"):
        (tmp_path / ".snakemake" / name).mkdir(parents=True)
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere" / DAY)
    for asked in (DAY, str(folder), str(elsewhere)):
        assert cli.main(["verify", asked]) == 0
    here = (Path(".snakemake/log"), Path(".snakemake/metadata"))
    assert [means.metadata for means in given] == [here, here, ()]


def test_exit_codes_put_a_failure_first() -> None:
    ok, failed = Check("a", "ok", ()), Check("b", "failed", ())
    asked, other = Check("c", "not checked", (), asked=True), Check("d", "not checked", ())
    assert [exit_code(c) for c in ([ok, other], [ok, asked], [asked, failed])] == [
        cli.OK,
        cli.INCOMPLETE,
        cli.FAILED,
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "drift"},
        {"kind": "drift", "label": "2026-01-08..2026-01-15", "compared": []},
        {"kind": "other"},
        {"pins": None},
        {"scan": {"hits": 7}},
        {"scan": None},
        {"scan": {"hits": 0, "planted": 1364, "found": 1363}},
    ],
    ids=repr,
)
def test_a_seal_that_no_audit_would_write_fails(folder: Path, changes: dict[str, Any]) -> None:
    """A report that calls itself a comparison would be asked for nothing but its files."""
    reseal(folder, **changes)
    assert "seal" in failing(folder)


@pytest.mark.parametrize("versions", [None, 1, "x", []])
def test_versions_that_are_none_fail(folder: Path, versions: Any) -> None:
    made_by = json.loads((folder / seal.SEAL).read_bytes())["made_by"]
    reseal(folder, made_by={**made_by, "versions": versions})
    assert "code" in failing(folder)


def test_a_file_called_as_nfs_calls_some_is_told(folder: Path) -> None:
    (folder / ".nfs00000000deadbeef00000001").write_text("x")
    assert checks(folder)["files"].lines[-1].startswith("1 files are called as NFS calls deleted")
    (folder / ".nfsmine").write_text("x")
    assert failing(folder)["files"] == (".nfsmine: is a file that was not sealed",)


def test_a_report_under_the_name_of_a_commit_is_not_believed(tmp_path: Path) -> None:
    """A past commit has no seal: neither a digest nor a signature can hold, and there are tables alone."""
    made = tmp_path / SHA
    about = {"pins": {"demo/one": SHA}}
    for name in ("pins", "tree", "reconciliation"):
        tables.write(made / f"{name}.parquet", name, rows(DAY, ("demo/one",))[name], about)
    assert set(failing(made, digest="0" * 64, must_be_signed=True)) == {"seal", "signature"}
    assert exit_code(checks(made, signers=tmp_path).values()) == cli.INCOMPLETE
    (made / "report.html").write_text("x")
    assert failing(made) == {"files": ("report.html: is a file of no report",)}


def test_a_sparse_file_is_not_read_for_days(folder: Path) -> None:
    os.truncate(folder / "summary.md", 1 << 40)
    told = files.changed(folder / "summary.md", form.Sealed("0" * 64))
    assert told == "has 1,099,511,627,776 bytes, more than any file of a report"
