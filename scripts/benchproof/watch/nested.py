"""The snakemake that a watched run starts: until it ends, a signal comes or its time is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final

from benchproof.lease import MARK, end_orphans

#: How long a run that was told to end may take: a scheduler's jobs have to be cancelled.
GRACE_S: Final = 300.0
_LIMIT: Final = signal.SIGALRM
#: What ends a service or a terminal's job.
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def environment(vault: Path, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a nested snakemake: it keeps a cache in its user's home and fails where it
    can't, as users of services have it; then the vault takes that cache.
    """
    if given.get("XDG_CACHE_HOME"):
        return dict(given)
    cache = Path(given.get("HOME") or os.path.expanduser("~"), ".cache", "snakemake")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        usable = os.access(cache, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    return dict(given) if usable else {**given, "XDG_CACHE_HOME": str(vault.absolute() / "cache")}


class Nested:
    """One nested run at a time; used as a context, in which signals end the nested run and not this
    process, which comes to its own end.

    The first signal, or the limit, interrupts everything that the run has started on this host, so that
    it cancels what runs elsewhere; a second one, or the end of the grace period, kills it.
    """

    def __init__(self, limit_s: float, grace_s: float = GRACE_S) -> None:
        self._limit_s, self._grace_s = limit_s, grace_s
        self._process: subprocess.Popen[bytes] | None = None
        self._pushes = 0
        self._former: dict[signal.Signals, Any] = {}
        #: What ended the run: a signal's name, or "limit"; None as long as nothing did.
        self.stopped: str | None = None

    def __enter__(self) -> Nested:
        for number in (*_ENDING, _LIMIT):
            # A run that is to outlive its terminal was started with SIGHUP ignored.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._former[number] = signal.signal(number, self._asked)
        signal.setitimer(signal.ITIMER_REAL, self._limit_s)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def run(self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> int:
        """Run a command into a log and return its exit code; nothing is started once a stop was asked for."""
        if self._is_stopped():
            return -signal.SIGINT
        with log.open("ab") as handle:
            # In a session of its own: a terminal's Ctrl-C reaches it once, through us.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
            )
        if self._is_stopped() and not self._pushes:
            self._push()  # what came while it was being started found nothing to interrupt
        code = self._process.wait()
        self._process = None
        if code:
            end_orphans(os.environ[MARK])
        return code

    def _is_stopped(self) -> bool:
        return self.stopped is not None

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self.stopped is None:
            self.stopped = "limit" if number == _LIMIT else signal.Signals(number).name
        self._push()

    def _push(self) -> None:
        """Interrupt the nested run, at the second time kill it, with everything in its process group."""
        if self._process is None or self._process.returncode is not None:
            return
        self._pushes += 1
        try:
            os.killpg(self._process.pid, signal.SIGINT if self._pushes == 1 else signal.SIGKILL)
        except ProcessLookupError:
            return
        signal.setitimer(signal.ITIMER_REAL, self._grace_s)
