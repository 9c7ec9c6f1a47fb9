"""Runs walks side by side: what all of them wait for is one round of reads."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchproof.storage.blocks import Blocks, OverBudget
from benchproof.storage.walker.parse import Unparsable

#: A walk yields (offset, length) and is resumed with those bytes, or yields walks and is resumed with
#: their results, None for those that could not go on.
Wish = tuple[int, int] | list["Walk"]
Walk = Generator[Wish, Any, Any]

MAX_ROUNDS = 40
MAX_STEPS = 20_000
MAX_PIECE = 1024 * 1024


@dataclass(eq=False)
class _Task:
    walk: Walk
    parent: _Task | None = None
    place: int = 0
    waiting: int = 0
    results: list[Any] = field(default_factory=list)


class Scheduler:
    """Runs walks over blocks; ends early at its bounds or the budget, without an error."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._blocked: list[tuple[_Task, tuple[int, int]]] = []
        self._steps = 0

    def run(self, walk: Walk) -> None:
        """Run a walk to its end; ReadRefused passes through."""
        self._advance([(_Task(walk), None)])
        for _ in range(MAX_ROUNDS):
            if not self._blocked or self._steps > MAX_STEPS:
                return
            ready, self._blocked = self._blocked, []
            try:
                self._blocks.fetch([piece for _, piece in ready])
            except OverBudget:
                return
            self._advance([(task, self._blocks.get(*piece)) for task, piece in ready])

    def _advance(self, tasks: Iterable[tuple[_Task, Any]]) -> None:
        """Resume tasks until all of them are done or wait for bytes."""
        # In the order in which they were asked for: bounds then leave out what comes last.
        ready = deque(tasks)
        while ready and self._steps <= MAX_STEPS:
            self._steps += 1
            task, value = ready.popleft()
            try:
                wish = task.walk.send(value)
            except StopIteration as end:
                ready += self._finished(task, end.value)
            except (Unparsable, struct.error, IndexError, ValueError, OverflowError):
                ready += self._finished(task, None)
            else:
                ready += self._asked(task, wish)

    def _asked(self, task: _Task, wish: Wish) -> Sequence[tuple[_Task, Any]]:
        if isinstance(wish, list):
            task.waiting, task.results = len(wish), [None] * len(wish)
            if not wish:
                return [(task, [])]
            return [(_Task(walk, task, place), None) for place, walk in enumerate(wish)]
        offset, length = wish
        if not (0 <= offset < self._blocks.size and 0 < length <= MAX_PIECE):
            return self._finished(task, None)
        if self._blocks.has(offset, length):
            return [(task, self._blocks.get(offset, length))]
        self._blocked.append((task, wish))
        return []

    def _finished(self, task: _Task, result: Any) -> Sequence[tuple[_Task, Any]]:
        parent = task.parent
        if parent is None:
            return []
        parent.results[task.place] = result
        parent.waiting -= 1
        return [(parent, parent.results)] if parent.waiting == 0 else []
