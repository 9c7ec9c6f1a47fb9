"""System git as a child process: nobody's settings, no prompts, no lazy fetches, every request counted.

git is called with an empty HOME and no system configuration, so that neither credential helpers nor
`url.insteadOf` nor netrc can change which host is asked or what it is told. Proxies come from the
environment, which git's HTTP library reads itself; certificates as for all other requests.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchproof.errors import Absent, AbsentStatus, BenchproofError, Cause, Unreachable, VaultError
from benchproof.vault import PRIVATE, private_file

#: git's own words about the last failure, kept in the vault: they may hold a URL.
_LAST_ERROR = "benchproof-last-error.txt"
#: How long git may take to connect and send its first request. A machine without a network must not wait.
CONNECT_S = 8.0
#: Environment variables that could make git read another repository, prompt, trace or run something.
_DROPPED = re.compile(r"^(GIT_(?!SSL_|HTTP_PROXY|PROXY_SSL)|GITHUB_TOKEN|SSH_ASKPASS|LC_|LANG)")

#: Author of the one commit we ever make, which never leaves the mirror.
_NOBODY = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", "benchproof"), ("EMAIL", "nobody@localhost"), ("DATE", "@0 +0000"))
}

#: Bytes of one command's answers: the needed blobs of the largest repository are some 100 MB.
MAX_ANSWER = 1 << 30
#: Bytes of one object: GitHub keeps no larger blobs. A delta of a kilobyte can stand for a terabyte.
MAX_OBJECT = 100 * 1024 * 1024
#: git's own memory: one piece, and its address space with the packs that it maps.
MAX_PIECE, MAX_MEMORY = 256 * 1024 * 1024, 3 << 30
#: The same for a list of refs, which maps no pack and may come compressed a thousand times.
MAX_MEMORY_OF_REFS = 1 << 29
#: Seconds of work and of waiting for one command: a drip above the stall rule's rate would take days.
MAX_CPU_S, MAX_WALL_S = 900, 3600
#: Bytes that a command may print: the ids of five million objects, or half a million refs.
MAX_PRINTED = 1 << 28
_MAX_SAID = 1 << 20

_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("answer too large", "too_large"),
    ("died of signal 24", "too_large"),  # SIGXCPU
    ("attempting to allocate", "too_large"),
    ("out of memory", "too_large"),
    ("could not resolve host", "dns"),
    ("network is unreachable", "no_network"),
    ("returned error: 429", "throttled"),
    # Private repositories are answered 401; 403 comes from limits, abuse blocks and proxies, and passes.
    ("returned error: 403", "throttled"),
    ("returned error: 5", "server_error"),
    ("http 5", "server_error"),
    ("operation too slow", "stalled"),
    ("timed out", "timeout"),
    ("failed to connect", "refused"),
    ("connection refused", "refused"),
    ("couldn't connect", "refused"),
    ("certificate", "tls"),
    ("ssl", "tls"),
    ("reset by peer", "reset"),
    ("early eof", "reset"),
    ("unexpected disconnect", "reset"),
    ("hung up", "reset"),
    ("transfer closed", "reset"),
    ("empty reply", "reset"),
    ("rpc failed", "reset"),
    ("corrupt", "malformed"),
    ("inflate", "malformed"),
    ("index-pack", "malformed"),
    ("transport 'http", "host_not_allowed"),
    ("not allowed", "host_not_allowed"),
)
_ABSENT: tuple[tuple[str, AbsentStatus], ...] = (
    ("returned error: 401", "private"),
    ("could not read username", "private"),
    ("authentication failed", "private"),
    ("returned error: 404", "missing"),
    ("repository not found", "missing"),
    ("' not found", "missing"),
    ("does not appear to be a git repository", "missing"),
    ("does not exist", "missing"),
    ("couldn't find remote ref", "ref_missing"),
    ("not our ref", "ref_missing"),
    ("unadvertised object", "ref_missing"),
)
#: What git quotes: addresses, paths and refs, whose words must not be taken for git's.
_QUOTED = re.compile(r"'[^'\n]*'")
MOVED = re.compile(r"returned error: 30[1278]|unable to update url base from redirection")


class Moved(BenchproofError):
    """The server redirects this repository elsewhere."""


@dataclass
class Tally:
    """What git moved over HTTP: requests made and bytes received, headers included."""

    requests: int = 0
    bytes_in: int = 0
    abandoned: bool = False
    flooded: bool = False
    overdue: bool = False
    most: int = MAX_ANSWER
    process: subprocess.Popen[bytes] | None = None


class Git:
    """Runs git in one repository folder; every method raises on failure with a classified error."""

    def __init__(self, folder: Path, home: Path, timeout_s: float) -> None:
        self.folder = folder
        self._home = home
        self._timeout_s = timeout_s

    def local(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run a command that must not touch the network and return its output."""
        code, out, error = self._run(arguments, stdin, network=False)
        if code:
            raise VaultError(
                f"{self.folder}: git {arguments[0]} failed ({_first(error)}); delete this folder."
            )
        return out

    def remote(self, *arguments: str, what: str, tally: Tally, stdin: bytes = b"") -> bytes:
        """Run a command that asks a server, once, and return its output.

        Raises Absent, Moved or Unreachable with a cause; the tally counts in each case.
        """
        code, out, error = self._run(arguments, stdin, network=True, tally=tally)
        if code:
            with private_file(self.folder / _LAST_ERROR) as handle:
                handle.write(error)
            raise _classified(error.decode("utf-8", "replace"), what)
        return out

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """Open the object reader: one process for any number of objects."""
        command = bounded(["git", "-C", str(self.folder), "cat-file", "--batch"])
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(network=False),
            umask=PRIVATE,
        ) as process:
            try:
                yield Objects(process, self.folder)
            finally:
                process.kill()

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the sizes of those objects that are here; absent ones are left out.

        Everything that is here gets listed: asking for an absent object by name makes git try to fetch it.
        """
        wanted = set(ids)
        form = "--batch-check=%(objectname) %(objectsize)"
        out = self.local("cat-file", "--batch-all-objects", "--unordered", form)
        found = (line.split() for line in out.decode().splitlines())
        return {sha: int(size) for sha, size in found if sha in wanted}

    def empty_tree(self) -> str:
        """Write the empty tree and return its id."""
        return self.local("hash-object", "-w", "-t", "tree", "--stdin").decode().strip()

    def clear_stale_locks(self) -> int:
        """Remove the locks that a killed git left: this run holds the lease, so nobody else writes here."""
        locks = [path for path in self.folder.rglob("*.lock") if path.is_file()]
        for lock in locks:
            lock.unlink(missing_ok=True)
        return len(locks)

    def _environment(self, network: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not _DROPPED.match(name)}
        return (
            (_trusting(kept) if network else {})
            | kept
            | {
                "HOME": str(self._home),
                "XDG_CONFIG_HOME": str(self._home),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_ASKPASS": "true",
                "GIT_SSH_COMMAND": f"ssh -oBatchMode=yes -oConnectTimeout={CONNECT_S:.0f}",
                "GIT_OPTIONAL_LOCKS": "0",
                **_NOBODY,
                "GIT_NO_LAZY_FETCH": "1",
                "GIT_ALLOC_LIMIT": str(MAX_PIECE),
                "GIT_ALLOW_PROTOCOL": "http:https:file:ssh" if network else "none",
                "LC_ALL": "C",
            }
        )

    def _run(
        self, arguments: Sequence[str], stdin: bytes, *, network: bool, tally: Tally | None = None
    ) -> tuple[int, bytes, bytes]:
        command = [
            "git",
            "-C",
            str(self.folder),
            *(self._http_options() if network else []),
            *arguments,
        ]
        environment = self._environment(network)
        over_http = any("=http://" in part or "=https://" in part for part in arguments)
        with _counted(tally if over_http else None) as trace:
            if trace is not None:
                # A bare number works below 10 only; git opens this path like any other trace file.
                environment["GIT_TRACE_CURL"] = f"/dev/fd/{trace}"
            process = subprocess.Popen(
                bounded(command, MAX_MEMORY_OF_REFS if "ls-remote" in arguments else MAX_MEMORY),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                pass_fds=() if trace is None else (trace,),
                umask=PRIVATE,
                start_new_session=True,
            )
            tally = tally or Tally()
            tally.process, tally.flooded = process, False
            watchdog = threading.Timer(CONNECT_S, _give_up_connecting, (process, tally))
            deadline = threading.Timer(MAX_WALL_S, _give_up_waiting, (process, tally))
            deadline.daemon = True
            deadline.start()
            if trace is not None:
                watchdog.start()
            try:
                out, error = _conversed(process, stdin, tally)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
            finally:
                watchdog.cancel()
                deadline.cancel()
        if tally.abandoned:
            return 1, out, b"Network is unreachable"
        if tally.flooded or tally.overdue or process.returncode == -signal.SIGXCPU:
            return 1, b"", b"answer too large"
        return process.returncode, out, error

    def _http_options(self) -> list[str]:
        """Settings of one network call; a transfer below 100 bytes a second for `timeout_s` is stalled."""
        settings = {
            "credential.helper": "",
            "http.followRedirects": "false",
            "http.lowSpeedLimit": "100",
            "http.lowSpeedTime": str(max(1, round(self._timeout_s))),
            "http.emptyAuth": "false",
            "protocol.version": "2",
            "gc.auto": "0",
            "maintenance.auto": "false",
        }
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


class Objects:
    """Reads objects from one `cat-file --batch` process."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out, self._folder = process.stdin, process.stdout, folder

    def read(self, sha: str) -> tuple[str, bytes]:
        """Return kind and content of an object; raises VaultError when it isn't here."""
        self._in.write(f"{sha}\n".encode())
        self._in.flush()
        header = self._out.readline().split()
        if len(header) != 3:
            raise VaultError(
                f"{self._folder}: object {sha} is missing; delete this folder and run again."
            )
        size = int(header[2])
        if size > MAX_OBJECT:
            # The rest of the answer stands in the pipe: this reader ends with its error.
            advice = f"One object has {size} bytes, more than any that is audited."
            raise Unreachable("too_large", f"{self._folder}: object {sha}", advice)
        content = self._out.read(size)
        self._out.read(1)
        return header[1].decode(), content


def _trusting(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what makes git trust whom our other requests trust; its own variables go before."""
    # requests takes 0.15 s to import, and every start of Snakemake imports this module.
    from benchproof.http.transport import certificates

    name = certificates(environ)
    if name is None or {"GIT_SSL_CAINFO", "GIT_SSL_CAPATH"} & set(environ):
        return {}
    path = str(Path(environ[name]).absolute())  # git works in its own folder
    return {"GIT_SSL_CAPATH" if os.path.isdir(path) else "GIT_SSL_CAINFO": path}


def bounded(command: Sequence[str], memory: int = MAX_MEMORY) -> list[str]:
    """Return a command with bounds on its memory and time, and on those of the processes that it starts:
    packs come from strangers. Lower limits than ours stay.
    """
    limits = f"ulimit -S -v {memory // 1024}; ulimit -S -t {MAX_CPU_S}"
    return ["/bin/sh", "-c", f'{{ {limits}; }} 2>/dev/null; exec "$@"', "git", *command]


def _conversed(process: subprocess.Popen[bytes], stdin: bytes, tally: Tally) -> tuple[bytes, bytes]:
    """Return what a command prints and says, each up to its bound; one that prints more is ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    printed, said = bytearray(), bytearray()

    def print_all(stream: IO[bytes]) -> None:
        while piece := stream.read(65536):
            printed.extend(piece)
            if len(printed) > MAX_PRINTED:
                tally.flooded = True
                _kill(process)
                return

    def say(stream: IO[bytes]) -> None:
        while piece := stream.read1(65536):  # type: ignore[attr-defined]
            said.extend(piece[: _MAX_SAID - len(said)])

    readers = [
        threading.Thread(target=print_all, args=(process.stdout,), daemon=True),
        threading.Thread(target=say, args=(process.stderr,), daemon=True),
    ]
    for reader in readers:
        reader.start()
    with suppress(BrokenPipeError):
        process.stdin.write(stdin)
    with suppress(BrokenPipeError):
        process.stdin.close()
    for reader in readers:
        reader.join()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    return bytes(printed), bytes(said)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _give_up_waiting(process: subprocess.Popen[bytes], tally: Tally) -> None:
    if process.poll() is None:
        tally.overdue = True
        _kill(process)


def _give_up_connecting(process: subprocess.Popen[bytes], tally: Tally) -> None:
    """End a git that has not sent a request: its HTTP library would try to connect for five minutes."""
    if tally.requests == 0 and process.poll() is None:
        tally.abandoned = True
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _counted(tally: Tally | None) -> Iterator[int | None]:
    """Give a descriptor for git's HTTP trace; requests and bytes on it are added to the tally."""
    if tally is None:
        yield None
        return
    reading, writing = os.pipe()
    thread = threading.Thread(target=_count, args=(reading, tally), daemon=True)
    thread.start()
    try:
        yield writing
    finally:
        os.close(writing)
        thread.join()


_REQUEST = re.compile(rb"=> Send header: (?:GET|POST) ")
_RECEIVED = re.compile(rb"<= Recv (?:header|data), (\d+) bytes")


def _count(reading: int, tally: Tally) -> None:
    with os.fdopen(reading, "rb") as trace:
        for line in trace:
            if b"<= Recv" in line:
                received = _RECEIVED.search(line)
                tally.bytes_in += int(received.group(1)) if received else 0
                if tally.bytes_in > tally.most and tally.process and not tally.flooded:
                    tally.flooded = True
                    os.killpg(tally.process.pid, signal.SIGKILL)
            elif _REQUEST.search(line):
                tally.requests += 1


def _classified(error: str, what: str) -> BenchproofError:
    """Turn git's message into one of ours; its own text may hold a URL and is not passed on."""
    text = _QUOTED.sub("''", error).lower()
    if MOVED.search(text):
        return Moved(f"{what}: the server redirects this repository.")
    for sign, status in _ABSENT:
        if sign in text:
            return Absent(status, what)
    for sign, cause in _CAUSES:
        if sign in text:
            return Unreachable(cause, what)
    return Unreachable(
        "git_failed", what, f"{_LAST_ERROR} in its mirror holds git's own words; run again."
    )


def _first(error: bytes) -> str:
    lines = error.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:120] if lines else "no message"
