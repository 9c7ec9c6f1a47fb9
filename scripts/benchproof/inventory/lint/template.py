"""The answer template of a prompt: which fields an agent is told to fill in, and with what.

Templates hold placeholders (<int>, <float between 0-1>, "<value>"), so they are not JSON.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPENS, _CLOSES = "<EVAL_ANSWER>", "</EVAL_ANSWER>"
_KEY = re.compile(r'"((?:[^"\\\n]|\\.)*)"\s*:')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"\s*:?|[{}\[\]]')
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_PLACES = re.compile(
    r"\b(\d{1,2}|zero|one|two|three|four|five|six)[ -](?:decimals?|digits after|d\.?p\.?)(?![a-z])",
    # ASCII: without regard to case, other letters would pass for those of `six`.
    re.IGNORECASE | re.ASCII,
)
#: Letters of a prompt, from its end, that a template is looked for in: the longest seen has 8,000.
_LONGEST = 20_000
_ROUND = re.compile(r"\bround|\bdecimal", re.IGNORECASE)
_UNIT = re.compile(r"\b0(?:\.0)?\s*(?:-|–|and|to)\s*1(?:\.0)?\b(?!\d)")
_WHOLE = re.compile(r"<\s*(?:int|integer|whole number|count)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Template:
    """The fields that an answer template asks for, with the text that stands in their place."""

    fields: dict[str, str]

    def decimals(self, name: str) -> int | None:
        """Return how many decimals the placeholder of a field asks for, 0 for a whole number."""
        holder = self.fields.get(name, "")
        stated = {_decimals(text) for text in _PLACES.findall(holder)}
        if len(stated) == 1:
            return stated.pop()
        return 0 if not stated and _WHOLE.search(holder) else None

    def is_fraction(self, name: str) -> bool:
        """True when the placeholder of a field says that its value lies between 0 and 1."""
        return _UNIT.search(self.fields.get(name, "")) is not None


def template_of(prompt: str) -> Template | None:
    """Return the last answer template of a prompt; None when there is none that names a field.

    Older prompts show the object alone, without the <EVAL_ANSWER> around it.
    """
    text = prompt[-_LONGEST:]
    blocks = _split(text)[0] or _outermost(text)
    fields = _fields(blocks[-1]) if blocks else {}
    return Template(fields) if fields else None


def _split(text: str) -> tuple[list[str], str]:
    """Return the texts of answer blocks that are closed, and what stands outside of them."""
    before, *parts = text.split(_OPENS)
    halves = [part.partition(_CLOSES) for part in parts]
    inside = [block for block, closed, _ in halves if closed]
    return inside, " ".join([before, *(rest for _, _, rest in halves)])


def _outermost(text: str) -> list[str]:
    """Return the texts between outermost braces that are closed."""
    found, depth, start = [], 0, 0
    for brace in re.finditer(r"[{}]", text):
        if brace.group() == "{":
            start = brace.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            found += [text[start : brace.end()]] if depth == 0 else []
    return found


def prompt_decimals(prompt: str) -> int | None:
    """Return how many decimals a prompt asks for, when it says so in one way only."""
    text = _split(prompt[-_LONGEST:])[1]
    sentences = (part for part in re.split(r"(?<=[.!?;])\s+|\n+", text) if _ROUND.search(part))
    stated = {_decimals(found) for part in sentences for found in _PLACES.findall(part)}
    return stated.pop() if len(stated) == 1 else None


def _decimals(text: str) -> int:
    return _WORDS[text.lower()] if text.lower() in _WORDS else int(text)


def _fields(block: str) -> dict[str, str]:
    """Return the keys of the outermost object, each with the text up to the next one of them."""
    starts: list[tuple[str, int, int]] = []
    depth = 0
    for token in _TOKEN.finditer(block):
        text = token.group()
        if text in "{[":
            depth += 1
        elif text in "}]":
            depth -= 1
        elif depth == 1 and (key := _KEY.fullmatch(text)):
            starts.append((key.group(1), token.start(), token.end()))
    ends = [start for _, start, _ in starts[1:]] + [len(block)]
    return {name: block[after:end] for (name, _, after), end in zip(starts, ends, strict=False)}
