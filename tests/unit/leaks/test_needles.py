"""What counts as a match: every form at any place, and no alarm where a value is part of another."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchproof.leaks import views as views_module
from benchproof.leaks.needles import Needles
from benchproof.leaks.secrets import Secret
from benchproof.leaks.views import TooMuch, views
from benchproof.report.visible import embedded, visible


def texts(*values: str) -> Needles:
    return Needles(Secret("text", value) for value in values)


def numbers(*values: str) -> Needles:
    return Needles(Secret("number", value) for value in values)


VALUES = (
    "Zq planted text",
    'Zq "quoted" & <b>',
    "Zq naïve ‑ 漢字",
    "Zq it's / here",
    "Zq \u202elaid\x07 <out>",
    "Zq 100%25 & %41 \\u0041",
)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda v: v,
    "json": lambda v: json.dumps(v)[1:-1],
    "json-utf8": lambda v: json.dumps(v, ensure_ascii=False)[1:-1],
    "html": html.escape,
    "page": lambda v: embedded(v)[1:-1],
    "shown": visible,
    "shown-page": lambda v: embedded(visible(v))[1:-1],
    "shown-html": lambda v: html.escape(visible(v)),
    "jinja": lambda v: jinja2.Environment(autoescape=True).from_string("{{ v }}").render(v=v),
    "url": lambda v: quote(v, safe=""),
    "url-plus": quote_plus,
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64-json": lambda v: base64.b64encode(json.dumps({"a": v}).encode()).decode(),
    "gzip": lambda v: (
        base64.b85encode(b"").decode() + base64.b64encode(gzip.compress(v.encode())).decode()
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", VALUES)
def test_every_form_is_found(form: str, value: str) -> None:
    data = f"x {FORMS[form](value)} y".encode()
    assert texts(value).found(data)


#: Texts that are long enough to be rare however they stand.
_RARE = st.text("bcdfghjk 7é漢'\"<&/", min_size=4, max_size=12).map(lambda t: f"zq{t}vwxzvwxz{t}")


@given(_RARE, st.binary(max_size=4), st.binary(max_size=4))
@settings(max_examples=60, derandomize=True)
def test_base64_is_found_at_any_alignment(value: str, before: bytes, after: bytes) -> None:
    data = base64.b64encode(before + value.encode() + after)
    assert texts(value).found(b"said: " + data)


@given(
    st.text("bcdfghjklmnpqrstvwxz", min_size=14, max_size=20),
    st.lists(
        st.sampled_from([base64.b64encode, gzip.compress, lambda b: b.hex().encode()]), max_size=3
    ),
)
@settings(max_examples=60, derandomize=True)
def test_encodings_in_encodings_are_undone(
    value: str, steps: list[Callable[[bytes], bytes]]
) -> None:
    """Three deep, in any order."""
    data = value.encode()
    for step in steps:
        data = step(data)
    assert texts(value).found(data)


@pytest.mark.parametrize(
    "data",
    "18461937 84619375 8461937x x8461937 0.8461937 8461937.5 1.8461937e5 _8461937 8461937.25 "
    "84,619,375 8.461937e5 8461937e1 84.61937".split(),
)
def test_a_number_inside_a_longer_one_is_no_hit(data: str) -> None:
    """Digests, sizes and times are full of digits."""
    assert numbers("8461937").found(data.encode()) == set()


@pytest.mark.parametrize(
    "data",
    "8461937|-8461937|=8461937.|8461937,|[8461937]|8461937.0|a 8461937\n|8,461,937|8.461.937|8 461 937|"
    "8_461_937|8.461937e+06|8461.937e3|846193700%|8461937.000|8,461,937.00|008461937".split("|"),
)
def test_a_number_by_itself_is_a_hit_however_it_is_written(data: str) -> None:
    assert numbers("8461937").found(data.encode())


@given(st.integers(10**9, 10**12), st.integers(0, 12), st.integers(0, 3))
@settings(max_examples=100, derandomize=True)
def test_any_number_is_found_with_an_exponent_or_zeros(whole: int, part: int, zeros: int) -> None:
    """Its point anywhere among its digits, then in another place of the same number."""
    digits = str(whole * 10 + 7)
    point = 1 + part % (len(digits) - 1)
    value = f"{digits[:point]}.{digits[point:]}"
    power = f"{digits[0]}.{digits[1:]}{'0' * zeros}e{point - 1}"
    for said in (value, value + "0" * zeros, power):
        assert numbers(repr(float(value))).found(f"n {said} .".encode())


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('"zq_field": 42', True),
        ("zq_field=42", True),
        ("assert zq_field == 42", True),
        ("zq_field >= 42", True),
        ("ZQ Field: 42.0", True),
        ("| zq_field | 42 |", True),
        ("zq_field\x1f42\x1f", True),
        ("zq_field: [42]", True),
        ('"zq_field", 42', True),
        ("zq_field: 421", False),
        ("zq_field: 4.2", False),
        ("zq_field: 42.5", False),
        ("zq_field, 42 runs", False),
        ("zq_field 42", False),
        ("42 runs, 42 evals, 42", False),
        ("zq_field\n42", False),
        ("my_zq_field: 42", False),
    ],
)
def test_a_common_value_is_one_beside_its_key(said: str, found: bool) -> None:
    needles = Needles([Secret("beside", "42", "zq_field")])
    assert bool(needles.found(said.encode())) is found


@pytest.mark.parametrize("said", ["the best cells", "T-cell", "t cellular", "at cell", "T\x1fcell"])
def test_short_words_are_not_put_together(said: str) -> None:
    """Only what is long is looked for over cells and in broken lines."""
    assert texts("T cell").found(said.encode()) == set()
    assert texts("T cell").found(b"is t  CELL.")


def test_a_secret_does_not_say_its_value() -> None:
    """Tracebacks and failed assertions print what is compared."""
    assert "planted" not in repr(Secret("text", "Zq planted text"))


def test_what_unpacks_without_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb can't be searched, and so isn't clean."""
    monkeypatch.setattr(views_module, "MAX_UNPACKED", 1_000_000)
    with pytest.raises(TooMuch):
        list(views(gzip.compress(bytes(1_200_000), 9)))


@given(st.binary(max_size=400))
@settings(max_examples=150, derandomize=True)
def test_any_bytes_can_be_searched(data: bytes) -> None:
    assert texts("Zq planted text").found(data) == set()


def test_many_anchors_alike_cost_no_square() -> None:
    """A thousand sentences that begin alike, in a text that repeats the beginning."""
    begin = "the agent says that the cells of sample "
    needles = texts(*(f"{begin}zq{number} are many" for number in range(1000)))
    assert needles.found((begin * 2000 + f"{begin}zq77 are many").encode())


SIGNS = (
    "“”",
    "‘’",
    "«»",
    "→→",
    "——",
    "··",
    "≈≈",
    "││",
    "✓✓",
    "××",
    "🔒🔒",
    "…\u2028",
    "\ue0b0\ue0b0",
)


@pytest.mark.parametrize("around", SIGNS)
@pytest.mark.parametrize("value", ["zqplant", "zq planted", "zqplantedplantedplanted"])
def test_signs_that_are_not_ascii_are_no_part_of_a_word(value: str, around: str) -> None:
    """A page and a summary quote and point with such signs."""
    assert texts(value).found(f"x {around[0]}{value}{around[1]} y".encode())


@pytest.mark.parametrize("value", ["zqplant", "zq planted"])
def test_colours_and_bytes_that_are_no_text_hide_nothing(value: str) -> None:
    said = value.encode()
    assert texts(value).found(b"\x1b[1;31m" + said + b"\x1b[0m")
    assert texts(value).found(b"\xff" + said + b"\x93")
    assert texts(value).found("\u20dd".join(value).encode())


@pytest.mark.parametrize(
    "said", "≥{} ≈{} −{} ±{} “{}” €{} {}±1 {}×2 {}–9 9–{} {}° {}µm {}um {}s {}px {}f".split()
)
def test_a_number_between_signs_or_before_its_unit_is_found(said: str) -> None:
    assert numbers("84619.3752").found(f"n {said.format('84619.3752')} .".encode())
    assert numbers("84619.3752").found("n 84’619.3752".encode())


@pytest.mark.parametrize("said", ["84619.3752e3", "1.84619.3752s", "x84619.3752s", "0.84619s"])
def test_a_measure_inside_another_is_no_hit(said: str) -> None:
    assert not numbers("84619.3752").found(said.encode())


@pytest.mark.parametrize(
    "said", ["zq_field → 42", "zq_field: “42”", "zq_field ≈ 42", "zq_field│42"]
)
def test_a_key_leads_to_its_value_by_signs_that_are_not_ascii(said: str) -> None:
    assert Needles([Secret("beside", "42", "zq_field")]).found(said.encode())


@pytest.mark.parametrize(
    "said", ["_{}_", "__{}__", "x _{}_ y", "*_{}_*", "**_{}_**", "_{}_.", "(_{}_)", "***{}***"]
)
@pytest.mark.parametrize("value", ["zqplant", "zq planted", "zq_plant", "zqplantedplanted"])
def test_emphasis_is_no_part_of_a_word(value: str, said: str) -> None:
    assert texts(value).found(said.format(value).encode())
    assert texts(value).found(said.format(value).upper().encode())


@pytest.mark.parametrize("said", ["n_{}", "{}_n", "n_{}_n", "n__{}__n", "n__{}"])
def test_a_word_of_a_name_is_no_hit(said: str) -> None:
    assert not texts("zqplant").found(said.format("zqplant").encode())


@pytest.mark.parametrize("said", ["_{}_", "__{}__", "x ___{}___ y"])
@pytest.mark.parametrize("number", ["84619.3752", "84,619.3752", "8.46193752e4"])
def test_a_number_with_emphasis_is_found(number: str, said: str) -> None:
    assert numbers("84619.3752").found(said.format(number).encode())


@pytest.mark.parametrize("said", ["n_{}_", "_{}_n", "_{}", "{}_"])
def test_a_number_of_a_name_is_no_hit(said: str) -> None:
    assert not numbers("84619.3752").found(said.format("84619.3752").encode())


@pytest.mark.parametrize(
    "said", ["_zq_field_: _42_", "**zq_field**: 42", "`zq_field`: `42`", "**zq_field:** 42"]
)
def test_a_key_and_its_value_may_be_emphasised(said: str) -> None:
    assert Needles([Secret("beside", "42", "zq_field")]).found(said.encode())
