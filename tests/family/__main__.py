"""Build a synthetic family: python -m family --root DIR [--planted] [--seed N] [--small]."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from family.build import build_family


def _variant(text: str) -> tuple[str, str]:
    """Split a NAME=VARIANT argument; raises ValueError without an equals sign."""
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{text}: expected NAME=VARIANT, for example scbench=d")
    return name, value


def main() -> None:
    """Build the family, describe it in family.json and print where it is."""
    parser = argparse.ArgumentParser(prog="python -m family", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder for the bare repositories")
    parser.add_argument("--seed", type=int, default=1, help="another seed invents other answers")
    parser.add_argument("--owner", default="demo", help="owner of the repositories")
    parser.add_argument("--only", action="append", help="a member to build; may be repeated")
    parser.add_argument("--planted", action="store_true", help="plant one finding of each kind")
    parser.add_argument("--small", action="store_true", help="few runs and handles")
    parser.add_argument(
        "--variant", action="append", type=_variant, default=[], metavar="NAME=VARIANT"
    )
    parser.add_argument("--json", type=Path, help="description; ROOT/family.json by default")
    given = parser.parse_args()
    family = build_family(
        given.root,
        seed=given.seed,
        planted=given.planted,
        owner=given.owner,
        repos=given.only,
        small=given.small,
        variants=dict(given.variant),
    )
    target = given.json or given.root / "family.json"
    family.save(target)
    commits = {name: info.commits[-1:] for name, info in family.repos.items()}
    print(json.dumps({"family": str(target), "commits": commits}))


if __name__ == "__main__":
    main()
