"""The scan's own proof: invented secrets in every form on every kind of surface, found by the scan itself.

usage: python -m benchproof.leaks.proof

What is planted lies in a private folder and is read by the functions that read a report. A form or a kind
that was not exercised fails like one that was missed.
"""

from __future__ import annotations

import base64
import html
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchproof.leaks import surfaces
from benchproof.leaks.forms import FORMS, Plant, plant
from benchproof.leaks.needles import Needles
from benchproof.leaks.surfaces import Origin, Source
from benchproof.leaks.views import TooMuch
from benchproof.report.visible import embedded

#: Longer names are cut into folders by those who write them, as Snakemake does.
_LONGEST: Final = 200
_Plants = Mapping[str, Plant]


@dataclass(frozen=True, slots=True)
class Proven:
    """What was planted and found: (kind of surface, form) each, the kinds that nothing could be put on."""

    planted: frozenset[tuple[str, str]]
    missed: frozenset[tuple[str, str]]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds on which every form was found."""
        bad = {kind for kind, _ in self.missed}
        return frozenset(kind for kind, _ in self.planted if kind not in bad)


def _named(plants: _Plants) -> dict[str, bytes]:
    """Return what is planted as names; what can't be one is carried in base64."""
    texts = {}
    for form, item in plants.items():
        data = item.data
        plain = b"/" not in data and b"\0" not in data and len(data) <= _LONGEST
        texts[form] = data if plain else base64.urlsafe_b64encode(data)
    return texts


def _file_names(folder: Path, plants: _Plants) -> None:
    for number, name in enumerate(_named(plants).values()):
        place = folder / str(number)
        place.mkdir()
        open(os.path.join(os.fsencode(place), name[:255]), "wb").close()


def _folder_names(folder: Path, plants: _Plants) -> None:
    for number, name in enumerate(_named(plants).values()):
        os.makedirs(os.path.join(os.fsencode(folder), b"%d" % number, name[:255]))


def _links(folder: Path, plants: _Plants) -> None:
    for number, item in enumerate(plants.values()):
        os.symlink(item.text, folder / str(number))


def _attributes(folder: Path, plants: _Plants) -> None:
    for number, item in enumerate(plants.values()):
        path = folder / str(number)
        path.touch()
        os.setxattr(path, "user.planted", item.data)


def _lines(suffix: str) -> Callable[[Path, _Plants], None]:
    def write(folder: Path, plants: _Plants) -> None:
        text = "\n\n".join(f"12:00:00 {item.text} ." for item in plants.values())
        (folder / f"planted{suffix}").write_text(text, encoding="utf-8")

    return write


def _raw(name: str) -> Callable[[Path, _Plants], None]:
    def write(folder: Path, plants: _Plants) -> None:
        data = b"\n--\n".join(item.data for item in plants.values())
        (folder / name).write_bytes(data)

    return write


def _json(folder: Path, plants: _Plants) -> None:
    held = [item.texts for item in plants.values()]
    (folder / "planted.json").write_text(json.dumps({"planted": held}), encoding="utf-8")


def _engine_names(folder: Path, plants: _Plants) -> None:
    for number, item in enumerate(plants.values()):
        name = base64.urlsafe_b64encode(b"results/%d/" % number + item.data).decode()
        cut = [name[at : at + _LONGEST] for at in range(0, len(name), _LONGEST)]
        path = folder.joinpath(*(f"@{part}" for part in cut[:-1]), cut[-1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def _page(shape: str) -> Callable[[Path, _Plants], None]:
    def write(folder: Path, plants: _Plants) -> None:
        cells = ["".join(shape.format(_in_page(t)) for t in i.texts) for i in plants.values()]
        text = "\n".join(f"<p>{cell}</p>" for cell in cells)
        (folder / "planted.html").write_text(f"<!doctype html>{text}", encoding="utf-8")

    return write


def _in_page(text: str) -> str:
    return html.escape(text).replace("--", "-&#45;")


def _page_data(folder: Path, plants: _Plants) -> None:
    block = embedded([item.texts for item in plants.values()])
    text = f'<script type="application/json" id="data">{block}</script>'
    (folder / "planted.html").write_text(text, encoding="utf-8")


def _table(how: str) -> Callable[[Path, _Plants], None]:
    """Return a writer of a table: values in cells, in lists, in columns, or in its footer."""

    def write(folder: Path, plants: _Plants) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, cells = folder / "planted.parquet", [item.texts for item in plants.values()]
        if how == "bytes":
            data = pa.array([b"\n".join((b"", i.data, b"")) for i in plants.values()], pa.binary())
            pq.write_table(pa.table({"a": data}), path, compression="none", use_dictionary=False)
            return
        if how == "lists":
            table = pa.table({"a": pa.array(cells, pa.list_(pa.string()))})
        elif how == "columns":
            table = pa.table({"a": [cell for row in cells for cell in (*row, None)]})
        elif how == "statistics":
            table = pa.table({f"c{n}": ["\t".join(row)] for n, row in enumerate(cells)})
        elif how == "metadata":
            table = pa.table({"a": [1]}).replace_schema_metadata(
                {f"k{n}": "\t".join(row) for n, row in enumerate(cells)}
            )
        else:
            wide = max(map(len, cells))
            held = [[row[at] if at < len(row) else None for row in cells] for at in range(wide)]
            table = pa.table({f"c{n}": pa.array(c, pa.string()) for n, c in enumerate(held)})
        pq.write_table(table, path, compression="zstd")

    return write


#: Places of planting: the kind of surface that must find them, whose folder it is, how it is written.
PLACES: dict[str, tuple[str, Origin, Callable[[Path, _Plants], None]]] = {
    "file names": ("file name", "report", _file_names),
    "folder names": ("folder name", "report", _folder_names),
    "links": ("link target", "report", _links),
    "attributes": ("extended attribute", "report", _attributes),
    "bytes of a table": ("table bytes", "report", _table("bytes")),
    "rows of a table": ("table rows", "report", _table("rows")),
    "lists in a table": ("table rows", "report", _table("lists")),
    "columns of a table": ("table columns", "report", _table("columns")),
    "statistics of a table": ("table statistics", "report", _table("statistics")),
    "metadata of a table": ("table names and metadata", "report", _table("metadata")),
    "source of a page": ("page source", "report", _page("{}|")),
    "text of a page": ("page text", "report", _page("<td>{}</td>")),
    "attributes of a page": ("page attributes", "report", _page('<i title="{}"></i>')),
    "comments of a page": ("page attributes", "report", _page("<!-- {} -->")),
    "data of a page": ("page data", "report", _page_data),
    "JSON": ("JSON", "report", _json),
    "values of JSON": ("JSON values", "report", _json),
    "markdown": ("markdown", "report", _lines(".md")),
    "log": ("log", "report", _lines(".log")),
    "benchmark": ("benchmark", "report", _lines(".tsv")),
    "engine's log": ("engine record", "engine", _raw("2026.snakemake.log")),
    "engine's record": ("engine record's values", "engine", _json),
    "engine's names": ("engine record's name", "engine", _engine_names),
    "other file": ("other file", "report", _raw("planted.bin")),
}


def write(folder: Path) -> None:
    """Plant every form at every place below a private folder."""
    for number, (place, (_, origin, write_to)) in enumerate(PLACES.items()):
        below = folder / f"{number}.{origin}"
        below.mkdir(mode=0o700)
        try:
            write_to(below, {form: plant(form, place) for form in FORMS})
        except (OSError, AttributeError):
            if (
                place != "attributes"
            ):  # not every file system has them; then no report has some either
                raise


def planted(folder: Path) -> list[Source]:
    """Return what `write` planted, as sources of a scan."""
    tops: list[tuple[Path, Origin]] = [
        (folder / f"{number}.{origin}", origin)
        for number, (_, origin, _) in enumerate(PLACES.values())
    ]
    return surfaces.sources(tops)


def prove(sources: Iterable[Source]) -> Proven:
    """Search what was planted, and return which forms were found on which kinds of surface."""
    wanted = {(place, form): plant(form, place).secret for place in PLACES for form in FORMS}
    needles = Needles(wanted.values())
    places = list(PLACES)
    found: set[tuple[str, object]] = set()
    seen = set()
    for source in sources:
        place = places[int(source.top.name.split(".")[0])]
        for kind, data in surfaces.documents(source):
            if kind == PLACES[place][0]:
                seen.add(place)
                found |= {(place, needles.secret(index)) for _, index in _found(needles, data)}
    planted_on = {
        (PLACES[place][0], form) for place, form in wanted if place != "attributes" or place in seen
    }
    missed = {
        (PLACES[place][0], form)
        for (place, form), secret in wanted.items()
        if (place, secret) not in found and (place != "attributes" or place in seen)
    }
    return Proven(frozenset(planted_on), frozenset(missed))


def _found(needles: Needles, data: bytes) -> set[tuple[str, int]]:
    try:
        return needles.found(data)
    except TooMuch:
        return set()


def main() -> int:
    """Print how many forms were found on each kind of surface; 1 when one was missed."""
    with tempfile.TemporaryDirectory() as private:
        write(Path(private))
        proven = prove(planted(Path(private)))
    for kind in surfaces.KINDS:
        on = {form for where, form in proven.planted if where == kind}
        bad = sorted(form for where, form in proven.missed if where == kind)
        said = f"{kind:26} {len(on) - len(bad):3} of {len(FORMS)} forms"
        print(said + (f"; missed: {', '.join(bad)}" if bad else ""))
    return 1 if proven.missed else 0


if __name__ == "__main__":
    sys.exit(main())
