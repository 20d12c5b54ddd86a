"""Measures what a call from Python costs beyond the verb, and whether threads run in parallel.

usage: python bench/overhead.py VERB_TIME

VERB_TIME is the built example of the crate ``forklore-bindings``, which measures the verbs without
Python, in the same run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import forklore

ROUNDS = 9
CALLS = 2_000


def median(call: Callable[[], object]) -> float:
    """Return the median time of a call, in microseconds."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        rounds.append((time.perf_counter() - start) * 1e6 / CALLS)
    return statistics.median(rounds)


def reads(store: forklore.Store, session: str, threads: int) -> float:
    """Return how many long reads per second this many threads do together."""
    count = 12
    started = threading.Barrier(threads + 1)

    def work() -> None:
        started.wait()
        for _ in range(count // threads):
            store.verify(session_id=session)

    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    started.wait()
    start = time.perf_counter()
    for thread in running:
        thread.join()
    return count / (time.perf_counter() - start)


def main(verb_time: str) -> None:
    """Print the figures as one JSON object."""
    verbs = json.loads(subprocess.run([verb_time], check=True, capture_output=True).stdout)
    with forklore.open("memory:") as store:
        session = store.new("/work/demo")["session"]["id"]
        show = median(lambda: store.show(session))
        events = [forklore.user("plan A or plan B?")]
        append = median(lambda: store.append(session, events))
    with tempfile.TemporaryDirectory() as folder:
        with forklore.open(Path(folder) / "store.db") as store:
            session = store.new("/work/demo")["session"]["id"]
            for _ in range(20):
                store.append(session, [forklore.user("x" * 1_000) for _ in range(1_000)])
            one, four = (
                statistics.median(reads(store, session, threads) for _ in range(5)) for threads in (1, 4)
            )
    figures = {
        "show": show,
        "show beyond the verb": show - verbs["show"],
        "append": append,
        "append beyond the verb": append - verbs["append"],
        "4 threads against 1": four / one,
    }
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


main(sys.argv[1])
