"""Signatures over a seal: Ed25519 (or any SSH key) by ssh-keygen, as git signs commits.

`ssh-keygen -Y` works offline, is there wherever git is used over SSH, reads keys from files and agents, and
its verifier takes the same list of signers as git does; a package would add a second kind of key to keep.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchproof.errors import SealError
from benchproof.sealing.outcome import Check, failed, ok, unchecked
from benchproof.vault import private_file

NAME: Final = "signature"
#: What a signature is for: one made for a commit or a file doesn't pass for one of a seal.
NAMESPACE: Final = "benchproof"
MAX_BYTES: Final = 1 << 16
_WAIT_S: Final = 60.0


def sign(text: bytes, key: Path) -> bytes:
    """Return the signature of a seal by an SSH key, or by the agent that holds it when `key` is public.

    Raises SealError; neither the key nor its path is told.
    """
    done = _run("sign", "-f", str(key), "-q", stdin=text)
    if done is None or done.returncode != 0 or b"SSH SIGNATURE" not in done.stdout:
        raise SealError(
            "the seal could not be signed, so the report is not sealed: `sign` takes an SSH key without a "
            "passphrase, or the .pub file of one that an agent holds; it needs ssh-keygen 8.2 or newer."
        )
    return done.stdout


def check(
    seal: bytes, signature: bytes | None, signers: Path | None, signer: str | None, required: bool
) -> Check:
    """Return whether one of the allowed signers signed these bytes (ssh-keygen(1), ALLOWED SIGNERS)."""
    if signature is None:
        if required:
            return failed(NAME, ["not signed: seal.json.sig is not there"])
        return unchecked(NAME, "not signed", asked=signers is not None)
    if signers is None:
        return unchecked(NAME, "signed; say --signers FILE to check by whom", asked=required)
    if not signers.is_file():
        return unchecked(NAME, "the file of allowed signers is not there", asked=True)
    with tempfile.TemporaryDirectory() as private:
        path = Path(private, "seal.json.sig")
        with private_file(path) as handle:
            handle.write(signature)
        who = [signer] if signer else _principals(path, signers)
        for name in who:
            arguments = ("-f", str(signers), "-I", name, "-s", str(path))
            done = _run("verify", *arguments, stdin=seal)
            if done is None:
                return unchecked(NAME, "ssh-keygen is not here; install OpenSSH", asked=True)
            if done.returncode == 0:
                return ok(NAME, f"signed by {name}")
    by = f"not signed by {signer}" if signer else "signed by nobody among the allowed signers"
    return failed(NAME, [f"{by}, or over other bytes than these"])


def _principals(signature: Path, signers: Path) -> list[str]:
    """Return the names that the list of signers has for the key of a signature."""
    done = _run("find-principals", "-f", str(signers), "-s", str(signature), stdin=b"")
    if done is None:
        return [""]
    names = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return [name for name in names if name]


def _run(action: str, *arguments: str, stdin: bytes) -> subprocess.CompletedProcess[bytes] | None:
    """Run ssh-keygen without a terminal; None when it isn't here or doesn't end."""
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "SSH_AUTH_SOCK") if name in os.environ
    }
    command = ["ssh-keygen", "-Y", action, *arguments]
    if action != "find-principals":
        command += ["-n", NAMESPACE]
    try:
        return subprocess.run(
            command,
            input=stdin,
            env={**kept, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"},
            capture_output=True,
            timeout=_WAIT_S,
            check=False,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
