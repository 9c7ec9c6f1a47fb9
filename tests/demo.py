"""`make demo`: audit the embedded synthetic family through the embedded upstream, offline.

Builds the family once, serves it on a loopback port, runs the workflow against it, and stops the server
whatever happens. Everything lies below results/demo and resources/demo.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from benchproof.provenance import library_digest  # noqa: E402
from benchproof.watch.nested import environment  # noqa: E402
from family import Family, build_family  # noqa: E402
from upstream import Upstream  # noqa: E402

VAULT = "resources/demo"
RESULTS = "results/demo"
NOTICE = "Invented data: this family, its agents, answers and verdicts do not exist."


def main() -> int:
    """Run the demo and return snakemake's exit code; Ctrl-C stops the server too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        family = prepare(ROOT / VAULT / "upstream")
        with Upstream(family.root, family=family) as upstream:
            forget_other_code(ROOT / RESULTS)
            settings = ROOT / VAULT / "config.json"
            settings.write_text(json.dumps(configuration(family, upstream.endpoints()), indent=2))
            # A proxy that the environment names could not reach the loopback address.
            loopback = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
            around = {**environment(ROOT / VAULT), **loopback}
            run = subprocess.run(_snakemake(settings), cwd=ROOT, env=around, check=False)
            code = run.returncode
    except KeyboardInterrupt:
        print(
            "\nbenchproof: the demo was stopped; `make demo` goes on from there.", file=sys.stderr
        )
        return 130
    if code == 0:
        print(f"The demo's report: {RESULTS}/latest/report.html")
    return code


def prepare(root: Path) -> Family:
    """Return the planted family below `root`, built anew when its generator has changed."""
    described, made_by = root / "family.json", root / "generator.sha256"
    digest = sha256()
    for package in ("family", "h5ad"):
        for path in sorted((ROOT / "tests" / package).glob("*.py")):
            digest.update(path.read_bytes())
    if described.exists() and made_by.exists() and made_by.read_text() == digest.hexdigest():
        family = Family.load(described)
        if all(Path(entry.path).exists() for entry in family.handles.values() if entry.path):
            return family
    print("Inventing a family of six repositories…", flush=True)
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.rmtree(root / "snapshots", ignore_errors=True)
    family = build_family(root, planted=True)
    family.save(described)
    made_by.write_text(digest.hexdigest())
    return family


def forget_other_code(results: Path) -> None:
    """Delete the demo's own reports of earlier code: a finished date is refused, a demo may begin anew."""
    for seal in list(results.glob("*/seal.json")):
        made_by = json.loads(seal.read_text())["made_by"]
        if not seal.parent.is_symlink() and made_by["code"] != library_digest():
            shutil.rmtree(seal.parent)


def configuration(family: Family, endpoints: dict[str, object]) -> dict[str, object]:
    """Return what the demo changes of the default configuration."""
    return {
        "family": family.config,
        "endpoints": endpoints,
        "results": RESULTS,
        "resources": VAULT,
        "notice": NOTICE,
    }


def _snakemake(settings: Path) -> list[str]:
    command = [str(Path(sys.executable).parent / "snakemake"), "--cores", "all"]
    return [*command, "--configfile", str(settings), "--quiet", "rules", "host"]


if __name__ == "__main__":
    sys.exit(main())
