"""What is shown of text from outside: terminals, logs, Markdown, HTML, SARIF, metrics, mail subjects."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from benchproof import maintainers
from benchproof.accepted import Accepted
from benchproof.errors import Unreachable, safe_url
from benchproof.findings import RULES, Finding
from benchproof.printable import printable
from benchproof.report.visible import embedded, visible
from benchproof.sarif import as_sarif
from fuzz.registry import target

_SEEDS = [
    b"plain",
    "a\u202eb\u200bc\x1b[31m\x07".encode(),
    b"</script><script>alert(1)</script>",
    b"``a`b```",
    b"[x](http://evil) ![y](http://evil) @everyone fixes #1",
    b'=HYPERLINK("http://x")',
    b"12:00:00 error: forged\n",
    b"a\nSubject: b\r\n",
    b"<!-- x --><img src=x onerror=y>",
]


class _Scripts(HTMLParser):
    """Counts elements."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)


@target("shown", lambda: _SEEDS)
def _shown(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert printable(text).isprintable()
    assert visible(text).replace("\n", "").isprintable()
    page = _Scripts()
    page.feed(f'<script type="application/json">{embedded({"a": text})}</script>')
    assert page.tags == ["script"]
    assert safe_url(text).count("?") == 0


@target("finding_texts", lambda: _SEEDS)
def _findings(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    rows = [
        {
            "finding_id": "f1",
            "repo": "o/n",
            "path": text,
            "commit_sha": "a" * 40,
            "blob_sha": None,
            "pointer": text,
            "rule": name,
            "severity": rule.severity,
            "message": f"{rule.message} {text}",
            "remedy": rule.remedy,
            "stage": "x",
        }
        for name, rule in list(RULES.items())[:2]
    ]
    made = maintainers.render(
        "o/n", "a" * 40, rows, RULES, Accepted({}, "2026-01-01"), private=False
    )
    assert made.replace("\n", "").isprintable()
    assert len(made.splitlines()) == made.count("\n")
    log = as_sarif(rows, RULES, Accepted({}, "2026-01-01"), {"o/n": "a" * 40})
    for result in json.loads(json.dumps(log))["runs"][0]["results"]:
        for place in result["locations"]:
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert uri.isascii()
            assert ":" not in uri.split("/")[0]
            # git refuses such paths, and so does `objects`, before a finding has one.
            assert ".." not in uri.split("/") or ".." in text.split("/")
    Finding("x", "o/n", text)
    assert str(Unreachable("malformed", printable(text))).isprintable()
