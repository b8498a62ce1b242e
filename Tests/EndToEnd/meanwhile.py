"""Work that goes on in threads while something else happens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def repeated(*acts: Callable[[], object], pause: float = 0) -> Iterator[None]:
    """Does each act again and again until the block ends, in a thread of its own, with a pause in seconds before. An act that
    raises is not done again, and the end of the block raises what it has raised."""
    done = threading.Event()
    problems: list[Exception] = []

    def live(act: Callable[[], object]) -> None:
        while not done.wait(pause):
            try:
                act()
            except Exception as problem:
                problems.append(problem)
                return

    threads = [threading.Thread(target=live, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
