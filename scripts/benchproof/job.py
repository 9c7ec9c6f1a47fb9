"""What every Snakemake script shares: its log, its errors, its hand-overs, its tables.

A script reads `input`, `output`, `params` and `log` and nothing else. An error leaves as one sentence; an
unexpected exception leaves as its type and place, since its text could quote an answer.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from benchproof import findings, provenance
from benchproof.confinement import confine, process
from benchproof.errors import BenchproofError, is_no_space, why
from benchproof.journal import Journal
from benchproof.outputs import ERROR_MARK, replacing
from benchproof.printable import printable
from benchproof.sources import content
from benchproof.sources.base import RepoSpec
from benchproof.vault import Vault, private_file, read_json, write_json

if TYPE_CHECKING:
    from benchproof.http.traffic import Traffic
    from benchproof.inventory.repository import Repository
    from benchproof.streams import Sink

log = logging.getLogger("benchproof")


def run(main: Callable[[Job], None], snakemake: Any) -> None:
    """Run a script's `main`; exit 1 with one line on failure, in its log and on the terminal."""
    _start_log(Path(snakemake.log[0]))
    try:
        layers = process.ensure()
        if layers:
            log.debug("kept from the vault by: %s", ", ".join(layers))
        with _without_pandas():
            main(Job(snakemake))
    except BenchproofError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:  # the rim of the process: nothing above could withhold the text
        _fail(str(unexpected(error)))
    if type(snakemake).__module__.startswith("snakemake."):
        _leave()


def withheld(error: BaseException, path: Path) -> None:
    """Log what nobody has caught, also before `run`, without its text."""
    if not log.handlers:
        _start_log(path)
    log.error("%s%s", ERROR_MARK, unexpected(error))


def _leave() -> NoReturn:
    """End the process of a job that is done: everything is written, and native libraries whose threads
    are still ending (pyarrow, DuckDB) have aborted it in their teardown.
    """
    logging.shutdown()
    process.end()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def _without_pandas() -> Iterator[None]:
    """Keep pyarrow from importing pandas: 0.6 s a job, to ask whether a list of ours is a Series."""
    blocker: Any = _Blocker()  # a finder by what it does; importlib.abc takes 20 ms
    sys.meta_path.insert(0, blocker)
    try:
        yield
    finally:
        sys.meta_path.remove(blocker)


class _Blocker:
    def find_spec(self, name: str, *_: Any) -> None:
        """Refuse pandas; other names are for the next finder."""
        if name == "pandas":
            raise ModuleNotFoundError("no script of benchproof uses pandas", name=name)


@dataclass(frozen=True, slots=True)
class Unread:
    """A repository without content: its status and reason, from the pin or from the mirror stage."""

    repo: str
    status: str
    reason: str


class Job:
    """One run of a rule: typed access to what Snakemake hands over."""

    def __init__(self, snakemake: Any) -> None:
        self.rule: str = snakemake.rule
        self.input, self.output, self.params = snakemake.input, snakemake.output, snakemake.params

    @property
    def family(self) -> list[RepoSpec]:
        """The audited members, in family order."""
        return [RepoSpec(**member) for member in self.params.audit["family"]]

    @property
    def vault(self) -> Vault:
        """The vault of this run."""
        return Vault(self.params.audit["resources"])

    def settings(self) -> dict[str, Any]:
        """How the world is to be asked: the merged configuration of this run."""
        found: dict[str, Any] = read_json(Path(self.params.settings))
        return found

    def pins(self) -> list[dict[str, Any]]:
        """Rows of the pins table."""
        # pyarrow takes 0.2 s, which a stage that asks the world spends asking.
        from benchproof import tables

        return tables.read(self.input.pins, "pins")

    @contextmanager
    def _open(self, spec: RepoSpec, commit: str) -> Iterator[Repository]:
        from benchproof.inventory.repository import Repository  # half of the jobs open none

        with content.opened(self.vault.content(spec.repo, commit)) as archive:
            yield Repository(spec, commit, archive)

    def repositories(self) -> Iterator[Repository]:
        """Yield each audited repository whose content is in the vault, by name, as tables sort them."""
        mirrored = read_json(Path(self.input.mirror))
        for spec in sorted(self.family, key=lambda spec: spec.repo):
            record = mirrored[spec.repo]
            if record["status"] == "ok":
                with self._open(spec, record["commit_sha"]) as repository:
                    yield repository

    def unread(self) -> list[Unread]:
        """The audited repositories without content, and why."""
        records = read_json(Path(self.input.mirror))
        return [
            Unread(spec.repo, records[spec.repo]["status"], records[spec.repo]["reason"])
            for spec in self.family
            if records[spec.repo]["status"] != "ok"
        ]

    def write(
        self, name: str, rows: Iterable[Mapping[str, Any]], pins: list[dict[str, Any]] | None = None
    ) -> None:
        """Write one of the rule's tables with its provenance."""
        from benchproof import tables

        tables.write(self.output[name], name, rows, self._about(name, pins))
        log.info("wrote %s", self.output[name])

    @contextmanager
    def writing(self, name: str) -> Iterator[Sink]:
        """Give a sink for one of the rule's tables with its provenance, for rows in the order of its key."""
        from benchproof import streams

        path = Path(self.output[name])
        about = self._about(name)
        with (
            replacing(path) as part,
            part.open("wb") as file,
            streams.writing(file, name, about) as sink,
        ):
            yield sink
        log.info("wrote %s", path)

    def handed(self, paths: Iterable[str]) -> Iterator[Any]:
        """Yield what other jobs handed over as JSON."""
        return (read_json(Path(path)) for path in paths)

    @contextmanager
    def handing(self, name: str) -> Iterator[Sink]:
        """Give a sink for a part of a table that stays in the vault."""
        from benchproof import streams

        path = Path(self.output[name])
        with private_file(path) as file, streams.writing(file, name, {}) as sink:
            yield sink

    def _about(self, name: str, pins: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        made_by = {**self.params.audit["made_by"], "code": self.params.code}
        return provenance.metadata(name, self.pins() if pins is None else pins, made_by)

    def note(self, found: Iterable[findings.Finding], commits: Mapping[str, str]) -> None:
        """Hand this stage's findings over to `collect_findings`, with the commit each was met at."""
        placed = [replace(f, stage=self.rule, commit_sha=commits.get(f.repo)) for f in found]
        write_json(Path(self.output.findings), findings.as_json(placed))

    @property
    def book(self) -> Path:
        """The signed URLs that the jobs of this run hand to each other; deleted when the run is over."""
        return Path(self.params.audit["work"]) / "links.jsonl"

    def journal(self, stage: str) -> Journal:
        """Return the journal of what this stage learnt of the world under this label."""
        return Journal(self.vault.observed(self.params.audit["label"], stage, self.params.code))

    def left_open(self, stage: str, items: Iterable[tuple[str, str | None]]) -> None:
        """Say what a stage did not learn, as (item, cause): the next run asks for these alone."""
        path = Path(self.params.audit["work"]) / "open" / f"{stage}.json"
        write_json(path, [[item, cause] for item, cause in items])

    def give_up_vault(self, *keep: Path, programs: bool = False) -> None:
        """From here on open `keep` alone of the vault, and write what the rule declares: before rendering."""
        process.give_up(self.rule, keep, programs=programs)

    def screen(self, name: str, text: str) -> None:
        """Leave a text that the run shows as its last words."""
        with private_file(Path(self.params.audit["work"]) / "screens" / f"{name}.txt") as handle:
            handle.write(text.encode())

    def count(self, stage: str, *traffics: Traffic, part: str = "") -> None:
        """Add this run's requests to the stage's running total in the vault.

        Jobs of one stage that run side by side each say which `part` they are.
        """
        name = f"{stage}.{part}" if part else stage
        path = Path(self.params.audit["work"]) / "traffic" / f"{name}.json"
        rows = read_json(path) if path.exists() else []
        write_json(path, added(rows + [row for item in traffics for row in item.rows(stage)]))


def added(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return traffic rows summed per stage and host, sorted."""
    total: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        known = total.setdefault(
            (row["stage"], row["host"]), {"stage": row["stage"], "host": row["host"]}
        )
        for name, value in row.items():
            if name not in ("stage", "host"):
                known[name] = known.get(name, 0) + value
    return [total[key] for key in sorted(total)]


class OneLine(logging.Formatter):
    """Each record is one line that a terminal can print: a name from outside can't forge another."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return printable(super().format(record))


def _start_log(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    form = OneLine("%(asctime)s %(message)s", "%H:%M:%S")
    form.converter = time.gmtime
    for handler, level in (
        (logging.FileHandler(path, "w", encoding="utf-8"), logging.DEBUG),
        (logging.StreamHandler(process.terminal()), logging.INFO),
    ):
        handler.setFormatter(form)
        handler.setLevel(level)
        log.addHandler(handler)
    log.setLevel(logging.DEBUG)


def _fail(message: str) -> NoReturn:
    log.error("%s%s", ERROR_MARK, message)
    sys.exit(1)


def unexpected(error: BaseException) -> BenchproofError:
    """Return what is said of an exception that nobody expected: its type and place, never its text, which
    a job keeps in the vault.
    """
    place = place_of(error)
    where = process.kept(error)
    if isinstance(error, OSError) and is_no_space(error):
        return BenchproofError(f"{why(error)} at {place}; free room there and run again.")
    kind = type(error).__name__
    text = f"Its text may hold answers and stays in {where}." if where else "(Text withheld.)"
    return BenchproofError(f"internal error {kind} at {place}; report it. {text}")


def place_of(error: BaseException) -> str:
    """Where an exception rose: file and line of the innermost frame of ours, without any text."""
    every = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in every if confine.is_ours(frame.filename)] or every
    return (
        f"{confine.shown(frames[-1].filename)}:{frames[-1].lineno}"
        if frames
        else "an unknown place"
    )
