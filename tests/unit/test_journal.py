"""A journal loses the record under way, and no other."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from benchproof.errors import VaultError
from benchproof.journal import Journal

SCRIPTS = str(Path(__file__).resolve().parents[2] / "scripts")
#: Appends records of its own until it is told to stop, or killed.
WRITER = """
import sys
from pathlib import Path
from benchproof.journal import Journal
journal, name, count = Journal(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for number in range(count):
    journal.add(f"{name}-{number}", {"value": "x" * (number % 400)})
    if number == 0:
        print("begun", flush=True)
"""


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "vault" / "observed" / "a.jsonl")


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        env={"PYTHONPATH": SCRIPTS, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_last_line_of_a_key_counts(journal: Journal) -> None:
    """Records come back by key, the latest each, in the order in which keys first came."""
    assert journal.read() == {}
    for key, value in (("b", 1), ("a", 2), ("b", 3), ("line\nbreak\u2028é", 4), ("", 5)):
        journal.add(key, {"value": value})
    found = journal.read()
    assert list(found.items()) == [
        ("b", {"value": 3}),
        ("a", {"value": 2}),
        ("line\nbreak\u2028é", {"value": 4}),
        ("", {"value": 5}),
    ]
    assert len(journal.path.read_bytes().splitlines()) == 5
    assert Journal(journal.path).read() == found


def test_private(journal: Journal) -> None:
    """Whatever the umask, nobody else reads a journal."""
    before = os.umask(0)
    try:
        journal.add("a", {})
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (journal.path, journal.path.parent)]
    assert modes == [0o600, 0o700]


LINE = b'{"key":"a","value":1}\n'


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        pytest.param(LINE[:-1], {"a": {"value": 1}}, id="line-end-missing"),
        pytest.param(LINE[:-5], {}, id="torn"),
        pytest.param(b"{", {}, id="one-byte"),
        pytest.param(LINE + LINE[:9], {"a": {"value": 1}}, id="torn-behind-a-good-one"),
        pytest.param(LINE[:9] + b"\n" + LINE, {"a": {"value": 1}}, id="torn-before-a-good-one"),
        pytest.param(b"\n\n" + LINE + b"\n", {"a": {"value": 1}}, id="empty-lines"),
        pytest.param(LINE + b"\0" * 4096, {"a": {"value": 1}}, id="zeros-after-a-crash"),
        pytest.param(b"\xff\xfe\n" + LINE, {"a": {"value": 1}}, id="no-text"),
        pytest.param(
            b'[1]\n"x"\n5\nnull\n{}\n{"key":[1]}\n' + LINE, {"a": {"value": 1}}, id="other-json"
        ),
    ],
)
def test_damage(journal: Journal, damage: bytes, expected: dict[str, Any]) -> None:
    """A damaged line costs itself alone, and what is added behind it is read."""
    journal.path.parent.mkdir(parents=True)
    journal.path.write_bytes(damage)
    assert journal.read() == expected
    journal.add("z", {"value": 9})
    assert journal.read() == {**expected, "z": {"value": 9}}


def test_another_process_tears_a_line(journal: Journal) -> None:
    """A line that somebody else tore while we write costs none of ours."""
    journal.add("a", {})
    with journal.path.open("ab") as file:
        file.write(LINE[:9])
    journal.add("b", {})
    assert list(journal.read()) == ["a", "b"]


def test_items(journal: Journal) -> None:
    """A record that lacks what its reader needs is as if it weren't there."""
    for key, record in (
        ("a", {"n": "1"}),
        ("b", {}),
        ("c", {"n": "x"}),
        ("d", {"n": None}),
        ("e", {"n": 5}),
    ):
        journal.add(key, record)
    assert journal.items(lambda key, record: (key, int(record["n"]))) == {
        "a": ("a", 1),
        "e": ("e", 5),
    }


def test_threads(journal: Journal) -> None:
    """Many threads lose nothing."""

    def add(name: int) -> None:
        for number in range(50):
            journal.add(f"{name}-{number}", {})

    work = [threading.Thread(target=add, args=(name,)) for name in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(journal.read()) == 400


def test_two_processes(journal: Journal) -> None:
    """Two processes that append to one journal lose nothing."""
    both = [writer(journal.path, name, 300) for name in "ab"]
    for process in both:
        process.communicate(timeout=30)
    assert set(journal.read()) == {f"{name}-{n}" for name in "ab" for n in range(300)}
    lines = list(filter(None, journal.path.read_bytes().split(b"\n")))
    assert len([json.loads(line) for line in lines]) == 600


def test_killed(journal: Journal) -> None:
    """A SIGKILL loses nothing that `add` returned from, and the next run goes on."""
    process = writer(journal.path, "a", 10**9)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    found = list(journal.read())
    assert found == [f"a-{n}" for n in range(len(found))] != []
    assert len(journal.path.read_bytes().splitlines()) - len(found) in (0, 1)
    journal.add("z", {})
    assert list(journal.read()) == [*found, "z"]


@pytest.mark.parametrize("room", range(0, 60, 7))
def test_br53_a_full_disk(journal: Journal, room: int) -> None:
    """Without room `add` fails by name, what was written stays, and later records are read."""
    journal.add("a", {"value": 1})
    size = journal.path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
    try:
        with pytest.raises(VaultError, match=r"cannot be written .*free room"):
            journal.add("b", {"value": "SECRET1" * 20})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert journal.read() == {"a": {"value": 1}}
    journal.add("c", {"value": 3})
    assert journal.read() == {"a": {"value": 1}, "c": {"value": 3}}


def test_br53_not_ours(journal: Journal) -> None:
    """A folder that can't be used is named, and no record is quoted."""
    journal.path.mkdir(parents=True)
    with pytest.raises(VaultError) as caught:
        journal.add("a", {"url": "SECRET1"})
    assert str(journal.path) in str(caught.value)
    assert "SECRET1" not in str(caught.value)
    with pytest.raises(VaultError, match="cannot be read"):
        journal.read()
    with pytest.raises(TypeError) as refused:
        journal.add("a", {"url": {"SECRET1"}})
    assert "SECRET1" not in str(refused.value)


def test_lines_are_canonical(journal: Journal) -> None:
    """A line is one text per record, whatever the order of its keys."""
    journal.add("é", {"b": 1, "a": None})
    assert journal.path.read_bytes() == b'{"a":null,"b":1,"key":"\\u00e9"}\n'
    assert json.loads(journal.path.read_bytes())["key"] == "é"


def test_followed_it_tells_what_came_since(journal: Journal) -> None:
    """Of this process or another; a torn line is told when it is whole."""
    other = Journal(journal.path)
    assert journal.follow() == {}
    journal.add("a", {"n": 1})
    other.add("b", {"n": 2})
    assert journal.follow() == {"a": {"n": 1}, "b": {"n": 2}}
    assert journal.follow() == {}
    with journal.path.open("ab") as file:
        file.write(b'{"key":"c",')
        file.flush()
        assert journal.follow() == {}
        file.write(b'"n":3}\n')
    assert journal.follow() == {"c": {"n": 3}}
    other.add("a", {"n": 4})
    assert journal.follow() == {"a": {"n": 4}}
    assert other.follow() == journal.read()
    journal.path.write_bytes(b'{"key":"d","n":5}\n')
    assert journal.follow() == {"d": {"n": 5}}


def test_followed_it_is_read_once(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand handles must not mean ten thousand readings of all that came before."""
    taken = 0
    usual = Path.open

    class Counting:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def read(self) -> bytes:
            nonlocal taken
            data: bytes = self.file.read()
            taken += len(data)
            return data

    monkeypatch.setattr(Path, "open", lambda path, mode: Counting(usual(path, mode)))
    for number in range(200):
        journal.add(str(number), {"url": "x" * 50})
        journal.follow()
    assert taken == journal.path.stat().st_size
