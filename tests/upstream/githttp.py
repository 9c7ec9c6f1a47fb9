"""Git's smart HTTP: ls-remote and fetch, protocol v0 to v2, with filters and any reachable
object.
"""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from upstream.gitstore import Repositories, git_command, git_environment
from upstream.reply import Reply, Request, text_reply

NO_CACHE = {"Cache-Control": "no-cache, max-age=0, must-revalidate", "Pragma": "no-cache"}
CHUNK = 65_536


class GitHttp:
    """Answers below /git/<owner>/<name>(.git)."""

    def __init__(self, repos: Repositories, tokens: Collection[str]) -> None:
        self.repos = repos
        self.tokens = tokens
        self.aliases: dict[str, str] = {}

    def split(self, path: str) -> tuple[str, str]:
        """Return (owner/name, rest of the path)."""
        parts = path.removeprefix("/git/").split("/", 2)
        owner, name, rest = (*parts, "", "", "")[:3]
        return f"{owner}/{name.removesuffix('.git')}", rest

    def serve(self, request: Request) -> Reply:
        """Answer a request of git's."""
        full_name, rest = self.split(request.path)
        if "private" in request.active or not self._welcome(request.headers.get("authorization")):
            challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'}
            return Reply(401, challenge, b"Authentication is required for this repository.\n")
        if "gone" in request.active:
            return text_reply("Repository not found.\n", 404)
        if (fault := request.active.get("rename")) is not None:
            query = f"?{request.query}" if request.query else ""
            target = f"{request.base}/git/{fault.params['to']}.git/{rest}{query}"
            return Reply(301, {"Location": target})
        place = self.repos.path(self.aliases.get(full_name, full_name))
        if place is None:
            return text_reply("Repository not found.\n", 404)
        if request.method == "GET" and rest == "info/refs":
            return self._refs(request, place)
        if request.method == "POST" and rest == "git-upload-pack":
            return self._pack(request, place)
        if rest == "git-receive-pack":
            return text_reply("Read only.\n", 403)
        return text_reply("Not found; only smart HTTP is served.\n", 404)

    def _welcome(self, authorization: str | None) -> bool:
        """True without credentials or with known ones."""
        if authorization is None:
            return True
        scheme, _, value = authorization.partition(" ")
        if scheme.lower() == "basic":
            try:
                value = base64.b64decode(value).decode().partition(":")[2]
            except ValueError:
                return False
        return value in self.tokens

    def _refs(self, request: Request, place: Path) -> Reply:
        """Answer info/refs."""
        if request.args().get("service") != "git-upload-pack":
            return text_reply("Only git-upload-pack is served.\n", 403)
        done = subprocess.run(
            [*_upload_pack(place), "--stateless-rpc", "--advertise-refs", str(place)],
            env=_environment(request),
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            return text_reply("git upload-pack failed.\n", 500)
        intro = b"001e# service=git-upload-pack\n0000"
        if "version=2" in request.headers.get("git-protocol", ""):
            intro = b""
        kind = {"Content-Type": "application/x-git-upload-pack-advertisement"}
        return Reply(200, kind | NO_CACHE, intro + done.stdout)

    def _pack(self, request: Request, place: Path) -> Reply:
        """Answer git-upload-pack, streaming what git sends."""
        with tempfile.TemporaryFile() as source:
            source.write(request.body)
            source.seek(0)
            process = subprocess.Popen(
                [*_upload_pack(place), "--stateless-rpc", str(place)],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(request),
            )

        def end() -> None:
            assert process.stdout is not None
            process.stdout.close()
            if process.poll() is None:
                process.kill()
            process.wait()

        kind = {"Content-Type": "application/x-git-upload-pack-result"}
        return Reply(200, kind | NO_CACHE, stream=_chunks(process), close=end)


def _chunks(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield what a process prints, as it comes."""
    assert process.stdout is not None
    while chunk := os.read(process.stdout.fileno(), CHUNK):
        yield chunk
    process.wait()


def _upload_pack(place: Path) -> list[str]:
    """Return the command that serves a repository as GitHub does."""
    settings = ("uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true")
    extra = [word for setting in settings for word in ("-c", setting)]
    return [*git_command(place), *extra, "-c", "safe.directory=*", "upload-pack"]


def _environment(request: Request) -> dict[str, str]:
    """Return git's environment, with the protocol that the client asked for."""
    protocol = request.headers.get("git-protocol")
    return git_environment() | ({"GIT_PROTOCOL": protocol} if protocol else {})
