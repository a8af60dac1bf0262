"""Traces of looping and of honest runs that no corpus has, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

THINGS: Final = (
    "invoice",
    "harbour",
    "turbine",
    "orchard",
    "ledger",
    "glacier",
    "violin",
    "antenna",
    "bakery",
    "tram",
)
READERS: Final = (
    "search_catalogue",
    "find_flights",
    "lookup_customer",
    "query_index",
    "list_orders",
    "web_search",
)
ACTORS: Final = (
    "book_room",
    "submit_form",
    "press_button",
    "start_job",
    "assign_task",
    "order_part",
)


class Step(NamedTuple):
    """A call and what came of it."""

    tool: str
    args: dict[str, Any]
    result: Any
    failed: bool = False


Trace = list[Step]


def _text(draw: random.Random, words: int = 12) -> str:
    return " ".join(draw.choice(THINGS) + str(draw.randrange(10**6)) for _ in range(words))


def _hex(draw: random.Random) -> str:
    return f"{draw.getrandbits(128):032x}"


def counter(draw: random.Random) -> Trace:
    """The same action, numbered."""
    tool, thing, name = (
        draw.choice(ACTORS),
        draw.choice(THINGS),
        draw.choice(("attempt", "retry", "try_number")),
    )
    return [Step(tool, {"what": thing, name: at}, "accepted") for at in range(1, 9)]


def nonce(draw: random.Random) -> Trace:
    """The same action with an id of its own each time."""
    tool, thing, name = (
        draw.choice(ACTORS),
        draw.choice(THINGS),
        draw.choice(("request_id", "nonce", "trace_id")),
    )
    return [Step(tool, {"what": thing, name: _hex(draw)}, {"ok": True}) for _ in range(8)]


def clock(draw: random.Random) -> Trace:
    """The same question with the time of asking."""
    tool, thing = draw.choice(READERS), draw.choice(THINGS)
    day = draw.randrange(10, 28)
    return [
        Step(tool, {"q": thing, "timestamp": f"2031-05-{day}T10:{at:02}:00Z"}, [])
        for at in range(8)
    ]


def pages(draw: random.Random) -> Trace:
    """Page after page brings the same."""
    tool, name = draw.choice(READERS), draw.choice(("page", "offset", "page_number", "skip"))
    same: Any = draw.choice(([], {"items": []}, "no more results", [_text(draw)]))
    return [
        Step(tool, {"q": draw.choice(THINGS) if at < 0 else "tram lines", name: at * 10}, same)
        for at in range(8)
    ]


def between(draw: random.Random) -> Trace:
    """The same question, with other questions in between that were answered before."""
    tool, other = draw.sample(READERS, 2)
    one, two = _text(draw), _text(draw)
    steps = [Step(tool, {"q": "tram lines"}, one), Step(other, {"q": "harbour"}, two)]
    return [steps[draw.randrange(2)] for _ in range(14)]


def turns(draw: random.Random) -> Trace:
    """Two or three tools in turns."""
    tools = draw.sample(ACTORS + READERS, draw.choice((2, 3)))
    circle = [Step(tool, {"what": draw.choice(THINGS)}, _text(draw)) for tool in tools]
    return circle * 5


def reworded(draw: random.Random) -> Trace:
    """The same search in other words, answered by its own words and the same finds."""
    tool, finds = draw.choice(READERS), _text(draw, 20)
    words = [
        "timetable",
        "of",
        "the",
        "northern",
        "coastal",
        "ferry",
        "line",
        "in",
        "winter",
        "season",
    ]
    steps = []
    for _ in range(8):
        asked = draw.sample(words, len(words)) + draw.sample(
            ("please", "now", "official"), draw.randrange(2)
        )
        query = " ".join(asked)
        steps.append(Step(tool, {"query": query}, f"Results for {query}: {finds}"))
    return steps


def failing(draw: random.Random) -> Trace:
    """Program after program ends in the same exception, at other places."""
    steps = []
    for _ in range(8):
        line = f"load('{draw.choice(THINGS)}', \"{_text(draw, 2)}\")"
        frames = (
            f'  File "/srv/{_text(draw, 1)}.py", line {draw.randrange(900)}, in '
            f"{draw.choice(THINGS)}\n    {line}\n"
        )
        error = f"Traceback (most recent call last):\n{frames * 3}KeyError: 'season'"
        steps.append(Step("python", {"code": line}, error, True))
    return steps


LOOPS: Final[tuple[Callable[[random.Random], Trace], ...]] = (
    counter, nonce, clock, pages, between, turns, reworded, failing,
)  # fmt: skip


def paging(draw: random.Random) -> Trace:
    """Page after page, each with something else."""
    tool = draw.choice(READERS)
    return [Step(tool, {"q": "tram lines", "page": at}, [_text(draw)]) for at in range(12)]


def polling(draw: random.Random) -> Trace:
    """A job that comes on."""
    return [Step("job_status", {"id": 7}, {"done": at * 4}) for at in range(20)]


def edit_and_test(draw: random.Random) -> Trace:
    """Edits, and tests that say something else each time."""
    steps = []
    for at in range(6):
        steps.append(
            Step(
                "edit_file",
                {"path": "a.py", "old": _text(draw, 3), "new": _text(draw, 3)},
                "edited",
            )
        )
        steps.append(
            Step(
                "bash", {"command": "pytest -q"}, f"{9 - at} failed, {at} passed: {_text(draw, 2)}"
            )
        )
    return steps


def bulk(draw: random.Random) -> Trace:
    """The same is done to many things, each with the same short answer."""
    tool, name = draw.choice(ACTORS), draw.choice(("what", "item", "id"))
    return [Step(tool, {name: f"{draw.choice(THINGS)}-{at}", "count": 1}, "ok") for at in range(15)]


def numbered(draw: random.Random) -> Trace:
    """The same is done to the things of a list, by their numbers."""
    tool = draw.choice(ACTORS)
    return [Step(tool, {"id": at, "state": "closed"}, {"ok": True}) for at in range(15)]


def reading(draw: random.Random) -> Trace:
    """File after file is read, and one of them again after it was changed."""
    steps = [
        Step("read_file", {"path": f"src/{draw.choice(THINGS)}{at}.py"}, _text(draw))
        for at in range(10)
    ]
    for _ in range(3):
        steps.append(Step("edit_file", {"path": "src/a.py", "new": _text(draw, 4)}, "edited"))
        steps.append(Step("read_file", {"path": "src/a.py"}, _text(draw)))
    return steps


def mishaps(draw: random.Random) -> Trace:
    """Failures that differ, with work in between."""
    steps = []
    for at in range(6):
        kind = ("FileNotFoundError", "PermissionError", "ValueError")[at % 3]
        steps.append(
            Step(
                "bash",
                {"command": f"make {draw.choice(THINGS)}{at}"},
                f"{kind}: {_text(draw, 3)}",
                True,
            )
        )
        steps.append(Step("bash", {"command": f"cat notes{at}.txt"}, _text(draw)))
    return steps


def questions(draw: random.Random) -> Trace:
    """Different searches, each with its own finds, some with none."""
    tool = draw.choice(READERS)
    finds: list[Any] = [[_text(draw)], [], [_text(draw)], [_text(draw)], []]
    return [
        Step(tool, {"q": f"{draw.choice(THINGS)} {_text(draw, 2)}"}, finds[at % 5])
        for at in range(12)
    ]


HONEST: Final[tuple[Callable[[random.Random], Trace], ...]] = (
    paging, polling, edit_and_test, bulk, numbered, reading, mishaps, questions,
)  # fmt: skip


def traces(
    kinds: tuple[Callable[[random.Random], Trace], ...], seed: int, count: int
) -> Iterator[tuple[str, Trace]]:
    """So many traces of each kind, with its name."""
    for kind in kinds:
        for at in range(count):
            yield kind.__name__, kind(random.Random(f"{seed}/{kind.__name__}/{at}"))
