"""The configuration: coerced where YAML or the command line lost a type, validated, frozen.

Every fault becomes a ConfigError of one line that names the key and the remedy, before anything is read.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchproof.errors import ConfigError
from benchproof.jsontext import canonical
from benchproof.printable import printable, without_userinfo
from benchproof.sources.base import RepoSpec
from benchproof.vault import slug
from benchproof.yamltext import MAX_DEPTH, MAX_VALUES

SCHEMA = Path(__file__).resolve().parents[2] / "config" / "schema.yaml"
#: Hands the day of a run to nested processes, so that midnight cannot split a run in two.
DAY = "BENCHPROOF_DATE"
#: Begins the label of an audit of the past.
AS_OF = "asof-"
#: The folder of past commits, below `results`; also the label of a run that audits a list of them.
HISTORY = "history"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COMMIT = re.compile(r"(?:(?P<name>[A-Za-z0-9._/-]+)@)?(?P<digits>[0-9a-f]{7,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A commit that `as_of` lists: as it was written, its digits, and the members that may hold it."""

    text: str
    digits: str
    repos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """A valid configuration. `family` is already narrowed by `only`; `members` counts the whole family.

    `as_of` is a day; `commits` is what `as_of` lists instead, and empty otherwise. `merged` holds every
    key; how the world is asked stands there alone, for the stages that ask it.
    """

    date: str
    family: tuple[RepoSpec, ...]
    members: int
    offline: bool
    as_of: str | None
    commits: tuple[Asked, ...]
    results: str
    resources: str
    notice: str | None
    disclose: str
    merged: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Name of the report's folder: the date, asof-<day> for an audit of the past, or `history`."""
        if self.commits:
            return HISTORY
        return f"{AS_OF}{self.as_of}" if self.as_of else self.date

    @property
    def slugs(self) -> list[str]:
        """Names of the audited repositories as files and folders have them, owner+name."""
        return [slug(spec.repo) for spec in self.family]

    def content_digest(self) -> str:
        """sha256 hex over the keys that content tables depend on; endpoints, folders and limits are not."""
        return content_digest(self.family, self.as_of, self.notice, self.disclose)


def content_digest(
    family: Iterable[RepoSpec], as_of: str | None, notice: str | None, disclose: str
) -> str:
    """Return the sha256 hex over what content tables depend on."""
    members = [[s.repo, s.ref, s.evals, s.runs] for s in family]
    content = {"family": members, "as_of": as_of, "notice": notice, "disclose": disclose}
    return sha256(canonical(content).encode()).hexdigest()


def today() -> str:
    """Return the UTC day, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


def load(raw: Mapping[str, Any], day: str) -> Config:
    """Return the valid configuration of a merged mapping; `day` is used when no date is set.

    Raises ConfigError with one line that names the key, what is wrong and what to write.
    """
    merged = _coerce(_plain(raw), _schema())
    _validate(merged)
    family = tuple(RepoSpec(**member) for member in merged["family"])
    _refuse_duplicates(family)
    audited = _narrow(family, merged["only"])
    as_of = merged["as_of"]
    return Config(
        date=merged["date"] or day,
        family=audited,
        members=len(family),
        offline=merged["offline"],
        as_of=as_of if isinstance(as_of, str) else None,
        commits=tuple(_asked(item, audited) for item in as_of) if isinstance(as_of, list) else (),
        results=_tidy(merged["results"]),
        resources=_tidy(merged["resources"]),
        notice=merged["notice"],
        disclose=merged["disclose"],
        merged=merged,
    )


def _schema() -> dict[str, Any]:
    import yaml

    with SCHEMA.open(encoding="utf-8") as handle:
        schema: dict[str, Any] = yaml.safe_load(handle)
    return schema


def known_keys() -> frozenset[str]:
    """Return the keys that a configuration can have."""
    return frozenset(_schema()["properties"])


def _plain(value: Any, left: list[int] | None = None, depth: int = 0) -> Any:
    """Return ordered mappings as dicts and dates as ISO text: PyYAML reads an unquoted day as a date.

    Raises ConfigError for more than a configuration ever has, since aliases of YAML that Snakemake read can
    stand for any number and lead into themselves; `left` counts the values that may still come.
    """
    left = [MAX_VALUES] if left is None else left
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        raise ConfigError(
            "config: it is nested too deep or stands for too many values; write it out."
        )
    if isinstance(value, Mapping):
        return {_text_of(key): _plain(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, left, depth + 1) for item in value]
    if isinstance(
        value, date | datetime
    ):  # a day becomes text; a time of day is then no day, and said so
        return value.isoformat()
    return value


def _coerce(value: Any, schema: Mapping[str, Any]) -> Any:
    """Give text the type its schema asks for: `--config` and nested processes hand over strings."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        rest = schema.get("additionalProperties")
        return {
            key: _coerce(item, properties.get(key, rest if isinstance(rest, dict) else {}))
            for key, item in value.items()
        }
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_coerce(item, items) for item in value]
    if value is None and "array" in types and "null" not in types:
        return []
    if schema.get("format") == "commit" and type(value) is int:
        return str(value)
    if value is None and types == ["object"]:
        return {}
    return _coerce_text(value, types) if isinstance(value, str) else value


def _coerce_text(value: str, types: list[str]) -> Any:
    text = value.strip()
    if "null" in types and text.lower() in ("", "null", "none", "~"):
        return None
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "integer" in types and re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if "number" in types and re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?", text):
        return float(text) if "." in text else int(text)
    if "array" in types and ("string" not in types or text[:1] == "[" or _COMMIT.fullmatch(text)):
        return [part.strip() for part in text.strip("[]").split(",") if part.strip()]
    return value


def _validate(merged: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("day")(_is_day)
    checker.checks("commit")(_is_commit)
    checker.checks("endpoint")(is_endpoint)
    checker.checks("remote")(_is_remote)
    checker.checks("finite")(_is_finite)
    validator = Draft202012Validator(_schema(), format_checker=checker)
    errors = sorted(
        validator.iter_errors(merged), key=lambda error: [str(p) for p in error.absolute_path]
    )
    if errors:
        raise ConfigError(_line(errors[0]))
    _separate(merged["results"], merged["resources"])


def _tidy(folder: str) -> str:
    """One spelling of a folder, so that another one doesn't begin another audit in the same place."""
    path = os.path.normpath(folder)
    below = os.path.relpath(path) if os.path.isabs(path) else path
    return path if below.startswith("..") else below


def _separate(results: str, resources: str) -> None:
    """Refuse a vault at or below the folder of the reports, which is there to be shared."""
    outer, inner = Path(results).absolute(), Path(resources).absolute()
    if inner.is_relative_to(outer):
        raise ConfigError(
            f"config: `resources` is {_short(resources)}; it takes a folder of its own, outside `results`."
        )


def _line(error: Any) -> str:
    """One line for one schema error: the key, what is wrong, what to write."""
    key = _key(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = _short(sorted(set(error.instance) - set(known))[0])[1:-1]
        close = difflib.get_close_matches(unknown, known, n=1)
        remedy = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known)}."
        return f"config: `{_join(key, unknown)}` is not a key; {remedy}"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))[0]
        return (
            f"config: `{_join(key, missing)}` is missing; see config/config.yaml for its default."
        )
    wanted = error.schema.get("description") or "another value; see config/config.yaml"
    return f"config: `{key}` is {_short(error.instance)}; it takes {wanted}."


def _key(path: Iterable[Any]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "config"


def _join(key: str, name: str) -> str:
    return name if key == "config" else f"{key}.{name}"


def _short(value: Any) -> str:
    """A value for a message: at most 60 characters, one line, and never a URL's user, query or fragment."""
    text = without_userinfo(_text_of(value))
    start = text.find("://")
    cut = re.search(r"[?#]", text[start:]) if start >= 0 else None
    text = printable(f"{text[: start + cut.start()]}?…" if cut else text)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _text_of(value: Any) -> str:
    """A value as text; one of too many digits is none."""
    try:
        return str(value)
    except ValueError:
        return "a huge number"


def _is_day(value: object) -> bool:
    if not isinstance(value, str):
        return True
    if not _DAY.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_commit(value: object) -> bool:
    return not isinstance(value, str) or _COMMIT.fullmatch(value) is not None


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def is_endpoint(value: object) -> bool:
    """True for an http(s) URL with a host and without userinfo, query or fragment."""
    if not isinstance(value, str):
        return True
    if re.search(r"\s", value):
        return False
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    return bool(
        parts.scheme in ("http", "https")
        and parts.hostname
        and (port is None or port > 0)
        and "@" not in parts.netloc
        and not parts.query
        and not parts.fragment
    )


def _is_remote(value: object) -> bool:
    """True for a path or a git URL that cannot run a command, name an option or hold a secret."""
    if not isinstance(value, str):
        return True
    if value.startswith("-") or re.match(r"[A-Za-z0-9+.-]*::", value) or not value.isprintable():
        return False
    if "://" not in value:
        return True
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    if parts.scheme == "ssh":
        return bool(parts.hostname) and parts.password is None and not parts.netloc.startswith("-")
    if parts.scheme == "file":
        return "@" not in parts.netloc
    return is_endpoint(value)


def _refuse_duplicates(family: tuple[RepoSpec, ...]) -> None:
    names = [spec.repo.lower() for spec in family]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"config: `family` names {name} twice; keep one entry.")


def _asked(text: str, family: tuple[RepoSpec, ...]) -> Asked:
    """Return what one item of `as_of` asks for; without a name every audited member may hold it."""
    found = _COMMIT.fullmatch(text)
    assert found is not None
    name = found["name"]
    held = family if name is None else (_member(name, family, "as_of"),)
    return Asked(text, found["digits"].lower(), tuple(spec.repo for spec in held))


def _narrow(family: tuple[RepoSpec, ...], only: list[str]) -> tuple[RepoSpec, ...]:
    """Return the members that `only` names, in family order; all when it is empty."""
    chosen = {_member(name, family, "only") for name in only}
    return tuple(spec for spec in family if not only or spec in chosen)


def _member(name: str, family: tuple[RepoSpec, ...], key: str) -> RepoSpec:
    """Return the member of a name, owner/name or the short one where it is unique."""
    short = [spec.repo.split("/", 1)[1] for spec in family]
    known = {spec.repo: spec for spec in family}
    known |= {
        name: spec for name, spec in zip(short, family, strict=True) if short.count(name) == 1
    }
    if name not in known:
        close = difflib.get_close_matches(name, list(known), n=1)
        remedy = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(known))}."
        raise ConfigError(
            f"config: `{key}` names {_short(name)}, which is not in `family`; {remedy}"
        )
    return known[name]
