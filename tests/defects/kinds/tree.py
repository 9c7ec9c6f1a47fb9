"""What can go wrong in a tree: links, submodules, pointers, names, modes, and files that moved."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from defects.bench import Bench
from defects.cases import add, defect

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'5eed' * 16}\nsize 330454481\n"
LINKS = "findings symlink_* *"
LOST = (
    *("findings dangling *", "findings orphan *", "findings metadata_* *"),
    *("findings run_eval_missing *", "manifest * status=dangling"),
)
#: What was said of a file before it moved, and is said of it again.
AGAIN = ("findings notes_give_answer *", "findings timeout_not_honoured *")


@defect("tree", "findings symlink_among_evals {path}", also=(LINKS,))
def linked_copy(bench: Bench) -> Iterator[str]:
    """A symbolic link repeats an evaluation"""
    target = bench.pick().path
    yield "evals/qc/demo_again.json"
    bench.tree.link("evals/qc/demo_again.json", "../../" + target)


@defect("tree", "findings dangling *", "tree {path} kind=symlink", also=(LINKS, *LOST))
def link_for_file(bench: Bench) -> Iterator[str]:
    """An evaluation is a symbolic link to a file elsewhere"""
    path = bench.pick().path
    yield path
    bench.tree.put("store/moved.json", bench.tree.text(path))
    bench.tree.link(path, "../../store/moved.json")
    bench._items.clear()


def _link(name: str, says: str, target: str, rule: str) -> None:
    def plant(bench: Bench) -> Iterator[str]:
        yield "docs/link.md"
        bench.tree.link("docs/link.md", target)

    add("tree", name, says, plant, (f"findings {rule} {{path}}",), also=(LINKS,))


_link(
    "link_above",
    "A link leads out of the repository",
    "../../elsewhere.md",
    "symlink_leaves_repository",
)
_link(
    "link_absolute",
    "A link leads to the root of a machine",
    "/etc/hostname",
    "symlink_leaves_repository",
)
_link("link_to_nothing", "A link leads to nothing", "gone.md", "symlink_dangling")
_link("link_to_itself", "A link leads to itself", "link.md", "symlink_dangling")
_link("link_empty", "A link leads to an empty name", "", "symlink_dangling")


@defect("tree", "findings submodule_in_tree {path}", "tree {path} kind=submodule")
def submodule(bench: Bench) -> Iterator[str]:
    """A submodule holds what is not audited"""
    yield "vendor/helper"
    bench.tree.submodule("vendor/helper", "5eed" * 10)


@defect("tree", "findings lfs_pointer {path}", "tree {path} lfs_size=330454481")
def pointer(bench: Bench) -> Iterator[str]:
    """A data file is a Git LFS pointer"""
    yield "data/counts.h5ad"
    bench.tree.put("data/counts.h5ad", POINTER)


@defect("tree", "findings lfs_pointer {path}", also=("findings eval_unreadable {path}", *LOST))
def pointer_for_evaluation(bench: Bench) -> Iterator[str]:
    """An evaluation is a Git LFS pointer"""
    path = bench.pick().path
    yield path
    bench.tree.put(path, POINTER)
    bench._items.clear()


@defect(
    "tree",
    "findings lfs_pointer {path}",
    "runs {path} status=unreadable",
    also=("findings run_unreadable {path}", "findings timeout_not_honoured *"),
)
def pointer_for_run(bench: Bench) -> Iterator[str]:
    """A recorded run is a Git LFS pointer"""
    path = next(p.decode() for p in bench.tree.below("trajectories") if p.endswith(b"/result.json"))
    yield path
    bench.tree.put(path, POINTER)


@defect("tree", "findings path_case_collision *", also=LOST)
def twin_by_case(bench: Bench) -> Iterator[str]:
    """Two documents differ only by case"""
    bench.tree.put("docs/Guide.md", "One.\n")
    yield "docs/guide.md"
    bench.tree.put("docs/guide.md", "Two.\n")


@defect("tree", "findings path_case_collision *")
def folders_by_case(bench: Bench) -> Iterator[str]:
    """Two folders differ only by case"""
    bench.tree.put("docs/one.md", "One.\n")
    yield "Docs/two.md"
    bench.tree.put("Docs/two.md", "Two.\n")


@defect("tree", "findings path_case_collision *")
def twin_by_composition(bench: Bench) -> Iterator[str]:
    """Two names differ only in how an accent is written; macOS keeps one of them"""
    bench.tree.put(unicodedata.normalize("NFC", "docs/caf\u00e9.md"), "One.\n")
    yield "docs/caf"
    bench.tree.put(unicodedata.normalize("NFD", "docs/caf\u00e9.md"), "Two.\n")


@defect("tree", "findings path_not_utf8 *")
def name_in_latin1(bench: Bench) -> Iterator[str]:
    """A name is Latin-1"""
    yield "docs/"
    bench.tree.put(b"docs/caf\xe9.md", "Text.\n")


def _odd(name: str, says: str, path: str) -> None:
    def plant(bench: Bench) -> Iterator[str]:
        yield path
        bench.tree.put(path, "Text.\n")

    add("tree", name, says, plant, ("findings path_* *",))


_odd("name_with_newline", "A name holds a line break", "docs/one\ntwo.md")
_odd("name_with_escape", "A name holds a terminal's escape", "docs/\x1b[31mred.md")
_odd("name_with_colon", "A name holds a colon, which Windows refuses", "docs/run 12:30.md")
_odd("name_with_star", "A name holds a star, which Windows refuses", "docs/all*.md")
_odd("name_with_last_dot", "A name ends in a dot, which Windows drops", "docs/notes.")
_odd("name_with_last_space", "A name ends in a space, which Windows drops", "docs/notes.md ")
_odd("name_reserved", "A name is one of Windows' devices", "docs/aux.md")
_odd("name_too_long", "A name has more bytes than file systems allow", f"docs/{'x' * 260}.md")
_odd("name_with_backslash", "A name holds a backslash", "docs\\notes.md")


@defect("tree", "findings executable_file {path}")
def executable_evaluation(bench: Bench) -> Iterator[str]:
    """An evaluation is marked executable"""
    path = bench.pick().path
    yield path
    bench.tree.put(path, bench.tree.text(path), "100755")


@defect("tree", "findings executable_file {path}")
def executable_run(bench: Bench) -> Iterator[str]:
    """A recorded run is marked executable"""
    path = next(p.decode() for p in bench.tree.below("trajectories") if p.endswith(b"/result.json"))
    yield path
    bench.tree.put(path, bench.tree.text(path), "100755")


@defect("tree", "findings executable_file {path}")
def executable_licence(bench: Bench) -> Iterator[str]:
    """The licence is marked executable"""
    yield "LICENSE"
    bench.tree.put("LICENSE", bench.tree.text("LICENSE"), "100755")


def _junk(name: str, says: str, path: str, data: bytes) -> None:
    def plant(bench: Bench) -> Iterator[str]:
        yield path
        bench.tree.put(path, data)

    rule = "secret_file" if "secrets" in name else "editor_junk"
    add("tree", name, says, plant, (f"findings {rule} {{path}}",))


_junk(
    "junk_of_vim",
    "A swap file of an editor holds what was deleted",
    "evals/qc/.x.json.swp",
    b"b0VIM 9\0",
)
_junk("junk_of_emacs", "An automatic copy of an editor", "evals/qc/#notes.json#", b"{}\n")
_junk("junk_of_windows", "A thumbnail store", "docs/Thumbs.db", b"\xd0\xcf\x11\xe0")
_junk("junk_of_merge", "A file that a merge left", "evals/qc/demo.json.orig", b"{}\n")
_junk("junk_of_patch", "A file that a patch could not change", "evals/qc/demo.json.rej", b"@@\n")
_junk("junk_of_backup", "A backup copy of an evaluation", "evals/qc/demo.json.bak", b"{}\n")
_junk(
    "junk_of_notebook",
    "A notebook's checkpoint",
    "docs/.ipynb_checkpoints/a-checkpoint.ipynb",
    b"{}\n",
)
_junk("junk_of_python", "Compiled Python", "tools/__pycache__/a.cpython-311.pyc", b"\xa7\r\r\n")
_junk("junk_of_secrets", "A file of settings that usually holds keys", ".env", b"TOKEN=invented\n")


@defect(
    "tree",
    "findings orphan {path}",
    "findings id_duplicated *",
    also=(
        "findings id_* *",
        "findings canary_shared *",
        "findings ids_* *",
        "evals * status=duplicate_id",
        *AGAIN,
    ),
)
def copy_by_browser(bench: Bench) -> Iterator[str]:
    """An evaluation was downloaded twice: 'name (1).json'"""
    old = bench.pick().path
    path = old.replace(".json", " (1).json")
    yield path
    bench.tree.put(path, bench.tree.text(old))


@defect(
    "tree",
    "findings dangling *",
    "findings orphan {path}",
    also=("findings task_differs_from_folder *", *AGAIN, "manifest * status=dangling"),
)
def moved(bench: Bench) -> Iterator[str]:
    """An evaluation has moved to another folder and its row has not"""
    old = bench.pick(without="/qc/").path
    path = f"evals/qc/{old.rsplit('/', 1)[1]}"
    yield path
    bench.tree[path.encode()] = bench.tree.pop(old.encode())
    bench._items.clear()


@defect("tree", "findings dangling *", also=LOST)
def suffix_in_capitals(bench: Bench) -> Iterator[str]:
    """An evaluation's file ends in .JSON"""
    old = bench.pick().path
    yield old
    bench.tree[old.replace(".json", ".JSON").encode()] = bench.tree.pop(old.encode())
    bench._items.clear()


@defect(
    "tree",
    "findings evals_folder_moved *",
    also=(
        "findings dangling *",
        "findings orphan *",
        "findings metadata_* evaluations",
        *AGAIN,
        "manifest * status=dangling",
    ),
)
def folder_renamed(bench: Bench) -> Iterator[str]:
    """The folder of the evaluations has another name"""
    yield "evaluations"
    for path in bench.tree.below("evals"):
        bench.tree[path.replace(b"evals/", b"evaluations/", 1)] = bench.tree.pop(path)
    bench._items.clear()


@defect(
    "tree", "findings run_path_unknown *|findings run_eval_missing *", also="findings *_missing *"
)
def run_folder_misses_a_level(bench: Bench) -> Iterator[str]:
    """A recorded run lies one folder too high"""
    path = next(p for p in bench.tree.below("trajectories") if p.endswith(b"/result.json"))
    parts = path.split(b"/")
    yield path.decode()
    bench.tree[b"/".join([*parts[:3], *parts[4:]])] = bench.tree.pop(path)


@defect("tree", "findings run_path_unknown *|findings run_eval_missing *", also=("findings run_*",))
def replicate_without_number(bench: Bench) -> Iterator[str]:
    """A recorded run lies in a folder that is no replicate"""
    path = next(p for p in bench.tree.below("trajectories") if p.endswith(b"/result.json"))
    yield path.decode()
    bench.tree[path.replace(b"/r1/", b"/retry/")] = bench.tree.pop(path)


@defect(
    "tree", "findings run_eval_missing *|findings path_case_collision *", also=("findings run_*",)
)
def run_folder_in_capitals(bench: Bench) -> Iterator[str]:
    """A recorded run lies under an id that differs by case"""
    path = next(p for p in bench.tree.below("trajectories") if p.endswith(b"/result.json"))
    yield path.decode()
    parts = path.split(b"/")
    bench.tree[b"/".join([parts[0], parts[1].upper(), *parts[2:]])] = bench.tree.pop(path)
