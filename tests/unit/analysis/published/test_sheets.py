"""Tables are read as text: names that look like missing values or numbers keep their names."""

from __future__ import annotations

import pytest

from benchproof.analysis.published.sheets import csv_sheet, markdown_sheets
from benchproof.errors import Unreadable

#: BR-47; source: foerstner-lab/gffpandas PR 25, pandas-dev/pandas 10647.
NAMES = ("NA", "NaN", "null", "None", "TP53", "1E5", "SEPT1")


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_seven_distinct_names_survive_a_csv(end: str, mark: str) -> None:
    text = mark + end.join(["model,Accuracy (%)", *(f"{name},50.00" for name in NAMES)]) + end
    sheet = csv_sheet("results/x.csv", text.encode())
    assert sheet.columns == ("model", "Accuracy (%)")
    assert [cells["model"] for _, cells in sheet.places()] == list(NAMES)


def test_seven_distinct_names_survive_markdown() -> None:
    text = "| model | Accuracy |\n|---|---:|\n" + "".join(f"| {n} | 5 |\n" for n in NAMES)
    (sheet,) = markdown_sheets("README.md", text.encode())
    assert [cells["model"] for _, cells in sheet.places()] == list(NAMES)


def test_quoted_cells_and_short_rows() -> None:
    sheet = csv_sheet("x.csv", b'a,b,c\n"1,5","say ""x""\nagain"\n\n2,3,4,5\n')
    assert list(sheet.places()) == [
        ("row 1", {"a": "1,5", "b": 'say "x"\nagain'}),
        ("row 2", {"a": "2", "b": "3", "c": "4"}),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b" \n", "empty"), (b"a\xff,b\n", "not_utf8"), (b",,\n", "empty")],
    ids=["nothing", "blank", "latin-1", "no-cell"],
)
def test_what_is_no_csv_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as told:
        csv_sheet("x.csv", data)
    assert told.value.reason == reason


def test_an_endless_field_is_no_crash() -> None:
    """The csv module refuses fields beyond its limit; a NUL is text like any other."""
    with pytest.raises(Unreadable, match="not_csv"):
        csv_sheet("x.csv", b"a\n" + b"x" * 200_000 + b"\n")
    assert csv_sheet("x.csv", b"a,b\n\0,1\n").rows == (("\0", "1"),)


def test_tables_in_code_blocks_are_examples() -> None:
    text = (
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n\n| c | d |\n|:--|--:|\n| 3 \\| 4 | 5 |\ntext\n"
    )
    (sheet,) = markdown_sheets("README.md", text.encode())
    assert list(sheet.places()) == [("table 1 row 1", {"c": "3 | 4", "d": "5"})]


def test_tables_of_a_file_are_numbered() -> None:
    text = "|a|b|\n|-|-|\n|1|2|\n\n|a|b|\n|-|-|\n\nnot | a table\n"
    assert [sheet.name for sheet in markdown_sheets("x.md", text.encode())] == [
        "table 1 ",
        "table 2 ",
    ]
