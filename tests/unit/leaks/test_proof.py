"""The scan's own proof: it passes, and without any one form or decoder it does not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.leaks import needles, numbers, pages, proof, surfaces, tables, text, views
from benchproof.leaks.forms import FORMS, plant
from benchproof.leaks.needles import Needles
from conftest import ROOT


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    proof.write(folder)
    return folder


def proven(folder: Path, kind: str = "") -> proof.Proven:
    """Return what is proven; of the places of one kind alone, since each takes its time."""
    numbers = [
        str(n) for n, (where, _, _) in enumerate(proof.PLACES.values()) if kind in ("", where)
    ]
    sources = proof.planted(folder)
    return proof.prove(source for source in sources if source.top.name.split(".")[0] in numbers)


def test_every_form_is_found_on_every_kind(planted: Path) -> None:
    found = proven(planted)
    assert found.missed == frozenset()
    always = set(surfaces.KINDS) - {"extended attribute"}
    assert {(kind, form) for kind in always for form in FORMS} <= found.planted
    assert always <= found.kinds


def test_the_documents_say_as_many_forms_and_kinds() -> None:
    trust = (ROOT / "docs" / "trust.md").read_text()
    assert f"each of {len(FORMS)} forms are planted on all {len(surfaces.KINDS)} kinds" in trust
    assert f"in {len(FORMS)} forms" in (ROOT / "README.md").read_text()


def _nothing(*_: Any) -> Iterator[bytes]:
    return iter(())


#: What is taken away, and a form that is missed without it.
BLIND: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "base64": (lambda m: m.setitem(views.DECODERS, "base64", _nothing), "base64, URL, 1"),
    "base64 over lines": (
        lambda m: m.setattr(views, "_WRAPPED", re.compile(b"(?!)")),
        "base64, wrapped",
    ),
    "the URL alphabet": (
        lambda m: m.setattr(views, "_BASE64", re.compile(rb"[A-Za-z0-9+/]{8,}")),
        "base64, URL, 1",
    ),
    "hex": (lambda m: m.setitem(views.DECODERS, "hex", _nothing), "hex, upper case"),
    "hex with separators": (
        lambda m: m.setattr(views, "_HEX_APART", re.compile(b"(?!)")),
        "hex, 0x",
    ),
    "UTF-16": (lambda m: m.setitem(views.DECODERS, "utf-16", _nothing), "base64 of UTF-16"),
    "compressed": (lambda m: m.setitem(views.DECODERS, "compressed", _nothing), "zip"),
    "nesting": (lambda m: m.setattr(views, "DEPTH", 1), "base64 of gzip"),
    "escapes": (lambda m: m.setattr(needles, "read", lambda t: t), "HTML, decimal"),
    "case": (
        lambda m: m.setattr(
            text.folded, "__code__", (lambda text: text.encode("utf-8", "surrogatepass")).__code__
        ),
        "other case",
    ),
    "unseen": (lambda m: m.setattr(text, "_UNSEEN", re.compile("(?!)")), "soft hyphens"),
    "numbers": (lambda m: m.setattr(numbers, "numbers", lambda _: iter(())), "number, exponent"),
    "reversed": (lambda m: m.setattr(needles, "_REVERSED", 10**9), "reversed"),
    "long": (lambda m: m.setattr(needles, "_LONG", 10**9), "over cells"),
    "beside": (
        lambda m: m.setattr(needles, "_BETWEEN", re.compile(b"(?!)")),
        "beside its key, JSON",
    ),
}


@pytest.mark.parametrize("name", BLIND)
def test_without_one_form_the_proof_fails(
    planted: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    take, form = BLIND[name]
    take(monkeypatch)
    assert ("log", form) in proven(planted, "log").missed


#: What is taken away, and the kind of surface that is not proven without it.
DEAF: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "tables": (lambda m: m.setattr(tables, "documents", _nothing), "table rows"),
    "footers": (lambda m: m.setattr(tables, "_footer", lambda _: b""), "table names and metadata"),
    "statistics": (lambda m: m.setattr(tables, "_statistics", lambda _: b""), "table statistics"),
    "columns": (lambda m: m.setattr(tables, "_columns", _nothing), "table columns"),
    "pages": (lambda m: m.setattr(pages, "documents", _nothing), "page text"),
    "data of pages": (lambda m: m.setattr(pages, "_BLOCK", re.compile("(?!)")), "page data"),
    "comments": (
        lambda m: m.setattr(pages._Parser, "handle_comment", lambda *_: None),
        "page attributes",
    ),
    "JSON": (lambda m: m.setattr(pages, "said", lambda _: b""), "JSON values"),
    "the engine": (lambda m: m.setattr(surfaces, "_of_engine", _nothing), "engine record's name"),
    "reports": (lambda m: m.setattr(surfaces, "_of_report", _nothing), "log"),
    "links": (lambda m: m.setattr(os, "readlink", lambda _: ""), "link target"),
}


@pytest.mark.parametrize("name", DEAF)
def test_without_one_surface_the_proof_fails(
    planted: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    take, kind = DEAF[name]
    take(monkeypatch)
    found = proven(planted, kind)
    assert kind in {missed for missed, _ in found.missed}
    assert kind not in found.kinds


@pytest.mark.parametrize("kind", ["log", *sorted({kind for _, kind in DEAF.values()})])
def test_with_all_of_it_a_kind_alone_is_proven(planted: Path, kind: str) -> None:
    """Else the tests above would see a proof fail whatever they take away."""
    assert kind in proven(planted, kind).kinds


def test_a_blind_scan_finds_nothing_of_all(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Needles, "found", lambda *_, **__: set())
    found = proven(planted)
    assert found.missed == found.planted


PLACES = sorted(set(proof.PLACES) - {"attributes"})


@given(st.sampled_from(PLACES), st.sampled_from(sorted(FORMS)), st.integers(0, 10**9))
@settings(max_examples=60, derandomize=True)
def test_a_form_alone_at_a_place_is_found(
    tmp_path_factory: pytest.TempPathFactory, place: str, form: str, number: int
) -> None:
    """Other values than those of the proof, none of the others beside it."""
    folder = tmp_path_factory.mktemp("alone")
    kind, origin, write = proof.PLACES[place]
    item = plant(form, f"{place} {number}")
    write(folder, {form: item})
    searched = Needles([item.secret])
    kinds = {
        where
        for source in surfaces.sources([(folder, origin)])
        for where, data in surfaces.documents(source)
        if searched.found(data)
    }
    assert kind in kinds
