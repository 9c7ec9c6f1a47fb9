"""A confined process opens nothing of the vault but what it was given, by any way."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchproof import provenance
from benchproof.confinement import landlock

SECRET = "an invented secret"
ESCAPES = Path(__file__).with_name("escapes.py")
#: What a hook in the interpreter cannot see: libraries that ask the kernel themselves.
NATIVE = {"C library", "pyarrow", "duckdb"}
#: What only the kernel refuses, or says nothing of its own about.
KERNELS = {"child", "shell", "older thread", "root of the parent", "descriptor of the parent"}
needs_kernel = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault, big = tmp_path / "resources", tmp_path / "disk" / "big"
    for path in (vault / "secret", vault / "staging/page", vault / "findings/other", big):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    (vault / "listed").mkdir()
    (vault / "listed" / "other").write_text(SECRET)
    with sqlite3.connect(vault / "sqlite") as base:
        base.execute("create table t (x)")
    base.close()
    (vault / "elsewhere").symlink_to(big.parent)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "link").symlink_to(vault / "secret")
    (tmp_path / "results" / "folder").symlink_to(vault)
    return vault


def run(
    vault: Path, *arguments: str, cwd: Path | None = None, pass_fds: Sequence[int] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={"PYTHONPATH": str(provenance.SCRIPTS), "PATH": "/usr/bin:/bin"},
        cwd=cwd or vault.parent,
        capture_output=True,
        text=True,
        check=False,
        pass_fds=pass_fds,
    )


def confined(
    vault: Path,
    code: str,
    before: str = "",
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that is confined to staging, and to writing into findings."""
    start = (
        "import os, sys\nfrom pathlib import Path\n"
        f"vault = Path({str(vault)!r})\n"
        "from benchproof.confinement import confine as confinement, landlock\n"
        f"{before}\n"
        "layers = confinement.confine(vault, [vault / 'staging'], [vault / 'findings'])\n"
    )
    return run(vault, "-c", start + code, cwd=cwd, pass_fds=pass_fds)


def test_what_is_allowed_works(vault: Path) -> None:
    done = confined(
        vault,
        "print((vault / 'staging' / 'page').read_text())\n"
        "(vault / 'staging' / 'new').write_text('x')\n"
        "(vault / 'findings' / 'part').write_text('x')\n"
        "os.replace(vault / 'findings' / 'part', vault / 'findings' / 'mine')\n"
        "Path('results/table').write_text('x')\n"
        "print((vault / 'secret').exists())\n",
    )
    assert done.stdout == f"{SECRET}\nTrue\n", done.stderr
    assert (vault / "findings" / "mine").read_text() == "x"


@pytest.mark.parametrize(
    "layers",
    [pytest.param("both", marks=needs_kernel), "hook", pytest.param("kernel", marks=needs_kernel)],
)
def test_every_way_is_refused(vault: Path, layers: str) -> None:
    """The hook alone holds all but native libraries, which the documentation says."""
    with (vault / "secret").open() as held:
        done = run(vault, str(ESCAPES), str(vault), layers, str(held.fileno()))
    assert done.stdout, done.stderr
    came = json.loads(done.stdout)
    opened = {way for way, what in came.items() if what == "OPENED"}
    assert opened == (NATIVE if layers == "hook" else set()), came
    assert (vault / "secret").read_text() == (vault / "findings" / "other").read_text() == SECRET
    if layers != "kernel":
        ours = {way for way, what in came.items() if what == "ConfinementError"}
        assert ours >= came.keys() - NATIVE - KERNELS, came


def test_a_vault_that_the_process_stands_in_is_refused(vault: Path) -> None:
    done = confined(vault, "print(open('secret').read())", cwd=vault)
    assert "ConfinementError: a confined job tried to open the vault (open)" in done.stderr
    assert SECRET not in done.stdout


def test_a_file_that_is_open_already_is_refused(vault: Path) -> None:
    """Inherited or left open: what is open can be read, whatever is refused later."""
    with (vault / "secret").open() as held:
        done = confined(vault, "print('on')", pass_fds=[held.fileno()])
    assert "tried to keep a file of the vault open" in done.stderr
    assert "on" not in done.stdout


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("confinement._hook = lambda rules: lambda event, arguments: None", "read its bait, and"),
        ("landlock.restrict = lambda *a, **k: (7, 0)", "read its bait past the interpreter"),
    ],
    ids=["hook", "kernel"],
)
def test_a_layer_that_does_not_hold_is_noticed(vault: Path, broken: str, said: str) -> None:
    if "hook" in broken:
        broken += "\nlandlock.abi = lambda: 0"
    done = confined(vault, "print('on')", before=broken)
    assert said in done.stderr
    assert "on" not in done.stdout


def test_neither_network_nor_programs(vault: Path) -> None:
    done = confined(
        vault,
        "import socket\n"
        "for ask in (lambda: socket.create_connection(('127.0.0.1', 9)), lambda: os.system('true')):\n"
        "    try: ask()\n"
        "    except confinement.ConfinementError as error: print(error.tried)\n",
    )
    assert done.stdout.splitlines() == ["use the network", "start a program"], done.stderr


@pytest.mark.parametrize(
    ("before", "layer"),
    [
        ("landlock.abi = lambda: 0", "no landlock: not in this kernel"),
        pytest.param("landlock.abi = lambda: 1", "landlock 1", marks=needs_kernel),
        pytest.param("landlock.abi = lambda: 3", "landlock 3", marks=needs_kernel),
        pytest.param(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
            "landlock.abi = lambda: 4",
            "landlock 4 but for 1 threads",
            marks=needs_kernel,
        ),
        pytest.param("", f"landlock {landlock.abi()}", marks=needs_kernel),
    ],
)
def test_the_layers_are_told(vault: Path, before: str, layer: str) -> None:
    done = confined(vault, "print(layers[1])\n(vault / 'secret').read_text()", before=before)
    assert done.stdout.strip() == layer, done.stderr
    assert "ConfinementError" in done.stderr


def test_more_can_be_given_up_later(vault: Path) -> None:
    """By a job that looks into the vault first and renders afterwards."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom benchproof.confinement.confine import confine\n"
    )
    code += "vault = Path(sys.argv[1])\nfirst = confine(vault, [vault / 'staging'], [vault / 'findings'])\n"
    code += "(vault / 'staging' / 'page').read_text()\n"
    code += "print(confine(vault, (), [vault / 'findings']) == first)\n"
    code += "(vault / 'findings' / 'mine').write_text('x')\nPath('results/x').write_text('x')\n"
    done = run(vault, "-c", code + "(vault / 'staging' / 'page').read_text()", str(vault))
    assert done.stdout == "True\n", done.stderr
    assert "ConfinementError" in done.stderr
    assert (vault / "findings" / "mine").read_text() == "x"


def test_results_around_the_vault_stay_usable(vault: Path) -> None:
    """New files beside the vault: the kernel could not allow them, so the hook is alone and says so."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom benchproof.confinement.confine import confine\n"
        "vault = Path(sys.argv[1])\nprint(confine(vault, beside=[vault.parent])[1])\n"
        "(vault.parent / 'new').write_text('x')\n(vault / 'secret').read_text()\n"
    )
    done = run(vault, "-c", code, str(vault))
    assert done.stdout == "no landlock: results lie around the vault\n"
    assert "ConfinementError" in done.stderr
    assert (vault.parent / "new").read_text() == "x"


def test_without_a_vault_there_is_nothing_to_give_up(tmp_path: Path) -> None:
    done = confined(tmp_path / "none", "print(layers[0])")
    assert done.stdout == "hook\n", done.stderr


def test_the_kernel_is_asked_for_no_more_than_it_knows() -> None:
    assert landlock._KNOWN[1] == (1 << 13) - 1
    assert landlock._KNOWN[3] == (1 << 15) - 1
