"""Trials: a few faults drawn by a seed, some runs of the engine through them, and what must hold.

The laws: never a wrong byte under a final name; no block that a journal holds is asked for again;
requests and bytes are bounded; each failure has a status that one of the faults explains; and once
the faults are over a run brings the object.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchproof.errors import BenchproofError, ObjectFailed
from benchproof.storage.fetch import Record
from benchproof.storage.fetch.owner import state_of
from benchproof.storage.fetch.part import owner_of
from campaign.local import DAMAGES
from campaign.site import Site

MIB = 1 << 20
STORAGE = "GET /storage/"
SLOW_DOWN = "<Error><Code>SlowDown</Code></Error>"
#: The engine's clock goes so much faster than ours.
HASTE = 40.0
RUNS, TRIES, SILENCE_S = 3, 3, 0.25
Outcome = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault of the campaign: the upstream's kind, its parameters, and which failures it explains."""

    kind: str
    params: Mapping[str, Any] = field(default_factory=dict)
    outcomes: frozenset[Outcome] = frozenset()
    match: str = STORAGE


def _kind(kind: str, *outcomes: str, match: str = STORAGE, **params: Any) -> Kind:
    pairs = (text.split("/") for text in outcomes)
    return Kind(kind, params, frozenset((status, reason) for status, reason in pairs), match)


_RESET, _STALL = "unknown/reset", ("stalled/stalled", "stalled/timeout", "unknown/reset")
KINDS: dict[str, Kind] = {
    "latency": _kind("latency", seconds=0.05),
    "pace": _kind("pace", rate=4_000_000),
    "reset_before": _kind("reset", _RESET, bytes=-1),
    "reset_at_once": _kind("reset", _RESET, bytes=0),
    "reset_within": _kind("reset", _RESET, bytes=1000, spread=300_000),
    "close_at_once": _kind("close_early", _RESET, bytes=0),
    "close_within": _kind("close_early", _RESET, bytes=1, spread=300_000),
    "silence_before": _kind("stall", *_STALL, bytes=-1, seconds=1),
    "silence_within": _kind("stall", *_STALL, bytes=10, spread=300_000, seconds=1),
    "drip": _kind("drip", *_STALL, chunk=1, interval=0.05),
    "error_500": _kind("status", "unknown/server_error", status=500),
    "error_503": _kind("status", "unknown/server_error", status=503),
    "slow_down": _kind("status", "throttled/throttled", status=503, body=SLOW_DOWN),
    "retry_after": _kind("status", "throttled/throttled", status=503, headers={"Retry-After": "2"}),
    "retry_tomorrow": _kind(
        "status", "throttled/throttled", status=429, headers={"Retry-After": "86400"}
    ),
    "odd_status": _kind("status", "unknown/http_418", status=418),
    "redirect_away": _kind(
        "redirect", "unknown/host_not_allowed", location="http://127.0.0.2:9/elsewhere"
    ),
    "sign_in_page": _kind("garbage", "unknown/error_page"),
    "error_in_200": _kind("status", "unknown/error_page", status=200, body=SLOW_DOWN),
    "compressed": _kind("gzip", "unknown/compressed"),
    "no_etag": _kind("headers", "unknown/no_etag", headers={"ETag": ""}),
    "chunked": _kind("no_length"),
    "whole": _kind("ignore_range", "unsupported/range_ignored"),
    "other_range": _kind("wrong_range", "unknown/wrong_range"),
    "other_total": _kind("wrong_total", "unknown/wrong_total"),
    "flipped_bit": _kind("wrong_bytes", "mismatch/md5"),
    "expired": _kind("expired", "denied/expired"),
    "denied": _kind("denied", "denied/access_denied"),
    "missing": _kind("missing", "missing/no_such_key"),
    "replaced": _kind("replace", "changed/replaced"),
    "longer": _kind("replace", "changed/replaced", more=70_001),
    "shorter": _kind("replace", "changed/replaced", more=-70_001),
    "signer_down": _kind("status", "unknown/signing_server_error", match="POST /sign", status=502),
    "signer_refuses": _kind(
        "status", "denied/signing_not_shared_or_unknown", match="POST /sign", status=400
    ),
    "interrupted": _kind("interrupt"),
}


@dataclass(frozen=True, slots=True)
class Act:
    """A fault as drawn: of which requests it leaves the first alone, and on how many it acts."""

    name: str
    after: int
    times: int | None
    chance: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What one seed stands for."""

    seed: int
    size: int
    proven: bool
    connections: int
    chunk_bytes: int
    acts: tuple[Act, ...]
    damages: tuple[str, ...]


def draw(seed: int) -> Trial:
    """Return the trial of a seed."""
    rng = random.Random(f"campaign {seed}")
    proven = rng.random() < 0.6
    names = sorted(KINDS) if proven else sorted(set(KINDS) - {"flipped_bit"})
    chosen = rng.sample(names, rng.choice((1, 2, 2, 3, 4)))
    acts = tuple(
        Act(name, rng.choice((0, 0, 1, 3, 6)), rng.choice((1, 2, 5, None)), rng.choice((1, 1, 0.3)))
        for name in chosen
    )
    return Trial(
        seed,
        size=rng.choice((1, 65_536, 500_000, MIB, 2 * MIB + 1, 3 * MIB + 4321)),
        proven=proven,
        connections=rng.choice((1, 2, 4, 8)),
        chunk_bytes=rng.choice((65_536, 256 * 1024, 8 * MIB)),
        acts=acts,
        damages=tuple(rng.choice((None, *sorted(DAMAGES))) or "" for _ in range(RUNS)),
    )


def run(trial: Trial) -> list[str]:
    """Run a trial and return which laws it broke, in words; empty when all held."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        rng = random.Random(f"content {trial.seed}")
        with Site(Path(folder), silence_s=SILENCE_S, data=rng.randbytes(trial.size)) as site:
            if not trial.proven:
                site.replace(etag='"0123456789abcdef0123456789abcdef-77"')
            return _Course(trial, site).run()


class _Interrupted(BenchproofError):
    """Raised from inside, as an interrupt would be."""


class _Course:
    """The runs of one trial."""

    def __init__(self, trial: Trial, site: Site) -> None:
        self.trial, self.site = trial, site
        self.probed = site.identity
        self.rng = random.Random(f"course {trial.seed}")
        self.broken: list[str] = []
        self.interrupt = any(act.name == "interrupted" for act in trial.acts)
        self.expected = {pair for act in trial.acts for pair in KINDS[act.name].outcomes}

    def run(self) -> list[str]:
        """Go through all runs: some under faults, the last without."""
        for number in range(RUNS):
            self.site.upstream.faults.clear()
            for act in self.trial.acts:
                self._switch_on(act, number)
            damage = self.trial.damages[number]
            if damage:
                DAMAGES[damage](self.site, self.rng)
            self._one(f"run {number}")
        self.site.upstream.faults.clear()
        self.interrupt = False
        self.probed = self.site.identity
        if self._one("last run") is None:
            self.broken.append("last run: the object did not come")
        # What is somebody else's is left to them for an hour.
        if [p for p in self.site.parts() if state_of(owner_of(p)) != "elsewhere"]:
            self.broken.append("last run: unfinished files are left")
        if self.site.upstream.errors:
            self.broken.append(f"upstream: {self.site.upstream.errors}")
        return self.broken

    def _switch_on(self, act: Act, number: int) -> None:
        kind = KINDS[act.name]
        given: dict[str, Any] = {
            "times": act.times,
            "after": act.after,
            "chance": act.chance,
            "seed": self.trial.seed + number,
        }
        if kind.kind == "replace":
            given["times"] = 1 if act.times is None else act.times
            more = int(kind.params.get("more", 0))
            self.site.upstream.add("call", kind.match, **given, action=self._replacing(more))
        elif kind.kind != "interrupt":
            self.site.upstream.add(kind.kind, kind.match, **given, **kind.params)

    def _replacing(self, more: int) -> Callable[[Any], None]:
        def action(_: Any) -> None:
            size = max(self.trial.size + more, 1)
            data = random.Random(self.rng.random()).randbytes(size)
            etag = None if self.trial.proven else f'"{self.rng.randbytes(16).hex()}-77"'
            self.site.replace(data=data, etag=etag)

        return action

    def _one(self, label: str) -> Record | None:
        """Make one run and judge it; return its record if it made one."""
        site, trial = self.site, self.trial
        kept, asked, served = site.journalled_of(self.probed), len(site.ranges()), site.served
        began, told = time.monotonic(), 0

        def progress(_: int) -> None:
            nonlocal told
            told += 1
            if self.interrupt and told == 2:
                raise _Interrupted

        record, outcome = None, None
        try:
            record = site.fetch(
                self.probed,
                links=site.new_links(),
                connections=trial.connections,
                chunk_bytes=trial.chunk_bytes,
                tries=TRIES,
                max_wait_s=30.0,
                progress=progress,
                sleep=lambda seconds: time.sleep(seconds / HASTE),
                clock=lambda: time.monotonic() * HASTE,
                rng=random.Random(trial.seed),
            )
        except ObjectFailed as error:
            outcome = error.status, error.reason
        except _Interrupted:
            outcome = ("", "")
        broken = []
        if outcome is not None and outcome[0] and outcome not in self.expected:
            broken.append(f"nothing explains {outcome}")
        if record is not None and not site.holds(record):
            broken.append("the record or its file is of another content")
        broken += [f"{name} holds wrong bytes" for name in site.unsound()]
        broken += self._bounds(kept, asked, served, time.monotonic() - began)
        self.broken += [f"{label}: {text}" for text in broken]
        return record

    def _bounds(self, kept: set[int], asked: int, served: int, seconds: float) -> list[str]:
        """Return which bounds were crossed."""
        site, trial = self.site, self.trial
        names = {act.name for act in trial.acts}
        block = min(trial.chunk_bytes, 512 * 1024)
        again = kept & site.blocks_asked(asked, block)
        broken = []
        # After a replacement, or content that was found wrong, all is rightly asked for again.
        if again and not names & {"replaced", "longer", "shorter", "flipped_bit", "whole"}:
            broken.append(f"journalled blocks {sorted(again)} asked for again")
        size = max(trial.size, site.object.size)
        versions = 1 + 2 * bool(names & {"replaced", "longer", "shorter", "flipped_bit"})
        # An answer that can't be used has been sent by the time it is refused: these are small.
        useless = {"whole", "compressed", "no_etag", "other_range", "other_total"}
        wholes = 3 + trial.connections if names & useless else 1
        most = 2 * versions * wholes * size + 200_000
        if site.served - served > most:
            broken.append(f"{site.served - served} bytes served for {size}")
        ranges = versions * (-(-size // min(trial.chunk_bytes, 2 * MIB)) + 2)
        tries = ranges * 2 + versions * trial.connections * (TRIES + 2) + size // 8192
        if len(site.ranges()) - asked > tries:
            broken.append(f"{len(site.ranges()) - asked} requests")
        if seconds > 30:
            broken.append(f"{seconds:.0f} s")
        return broken


def describe(trial: Trial) -> str:
    """Return a trial in one line."""
    acts = ", ".join(f"{a.name}(after {a.after}, times {a.times}, {a.chance})" for a in trial.acts)
    damages = ", ".join(filter(None, trial.damages)) or "none"
    how = f"{trial.connections} connections, chunk {trial.chunk_bytes}"
    return f"seed {trial.seed}: {trial.size} bytes, {how}; {acts}; damage: {damages}"
