"""Several at once: `map_concurrently` runs a function over items in threads, in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class _Slot(Generic[R]):
    """The place of one result."""

    __slots__ = ("done", "error", "result", "skipped")
    result: R

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
        self.skipped = False

    def fill(self, function: Callable[[T], R], item: T, failed: threading.Event) -> None:
        try:
            self.result = function(item)
        except BaseException as error:  # handed to the consumer, who would wait for ever otherwise
            self.error = error
            failed.set()


def map_concurrently(
    function: Callable[[T], R], items: Iterable[T], connections: int
) -> Generator[R, None, None]:
    """Yield function(item) for each item, in the order of the items, `connections` at a time.

    After a first error no further item is begun; those under way are waited for, what succeeded is
    yielded, then the error is raised. Threads are daemons: an interrupted run doesn't wait for
    them.
    """
    todo: queue.SimpleQueue[tuple[T, _Slot[R]] | None] = queue.SimpleQueue()
    failed = threading.Event()

    def work() -> None:
        while (task := todo.get()) is not None:
            item, slot = task
            if failed.is_set():
                slot.skipped = True
            else:
                slot.fill(function, item, failed)
            slot.done.set()

    threads = 0
    pending: deque[_Slot[R]] = deque()
    error: BaseException | None = None
    source = iter(items)
    try:
        while True:
            # Twice as many as run: a slow first item doesn't leave the others idle.
            while len(pending) < 2 * connections and not failed.is_set():
                try:
                    item = next(source)
                except StopIteration:
                    break
                slot: _Slot[R] = _Slot()
                pending.append(slot)
                todo.put((item, slot))
                if threads < connections:
                    threads += 1
                    threading.Thread(target=work, daemon=True).start()
            if not pending:
                break
            slot = pending.popleft()
            slot.done.wait()
            if slot.error is not None:
                error = error or slot.error
            elif not slot.skipped:
                yield slot.result
    finally:
        failed.set()
        for _ in range(threads):
            todo.put(None)
    if error is not None:
        raise error
