"""Names for handles: readable where they are numbers, and never two handles' alike."""

from __future__ import annotations

from benchproof.storage.names import folder_name


def test_handles_become_safe_names() -> None:
    """Handles that look alike have folders of their own, also where case doesn't count."""
    names = "1 1.node.node a.node A.node a/b.node a.b.node ..node handle-1 ../x.node".split()
    odd = ["", "123", "latch://1.node ", "latch://1.node\n", "/etc/passwd", "é", "latch://١.node"]
    odd += [f"latch://{name}" for name in [*names, "x" * 300, "1" * 41]]
    folders = [folder_name(handle).lower() for handle in odd]
    assert len(set(folders)) == len(odd)
    assert all(folder.replace("-", "").isalnum() and folder.isascii() for folder in folders)
    assert all(folder.startswith("handle-") for folder in folders)
    assert folder_name("latch://174203.node") == "174203"
    assert folder_name("latch://0174203.node") == "0174203"
