"""Fresh traces: runs that go in circles in every way, and honest ones that only repeat
themselves."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from stanchion_lab.fresh import Rows
from stanchion_lab.fresh.words import file, host, name, word

EACH: Final = 25

Calls = list[dict[str, Any]]


def draw(random: Random) -> Rows:
    """Draw traces for the measure `loops`; a way of looping is the source of its rows."""
    rows = [_row("loop", way, make(random)) for way, make in LOOPS.items() for _ in range(EACH)]
    rows += [
        _row("no_loop", way, make(random)) for way, make in HONEST.items() for _ in range(EACH)
    ]
    return {"loops.jsonl": rows}


def _row(label: str, way: str, calls: Calls) -> dict[str, Any]:
    return {
        "kind": "oas",
        "label": label,
        "source": way.replace(" ", "-"),
        "payload": {"calls": calls},
    }


def _call(tool: str, args: dict[str, Any], result: str, status: int = 0) -> dict[str, Any]:
    return {"tool": tool, "args": args, "exit": status, "result": result}


def _bash(command: str, result: str, status: int = 0) -> dict[str, Any]:
    return _call("bash", {"command": command}, result, status)


def _times(random: Random) -> int:
    return random.randint(5, 9)


def _noise(random: Random) -> dict[str, Any]:
    path = file(random)
    return random.choice(
        (
            _call(
                "read_file",
                {"path": path},
                f"# {name(random)}\n{word(random)} = {random.randint(1, 999)}",
            ),
            _bash(f"ls {path.rpartition('/')[0]}", f"{word(random)}.py\n{name(random)}.md"),
            _call(
                "search",
                {"query": f"{word(random)} {name(random)}"},
                f"{random.randint(1, 40)} hits in {path}",
            ),
        )
    )


def _same(random: Random) -> Calls:
    error = f"{word(random)}.py:{random.randint(1, 90)}: SyntaxError"
    return [_bash(f"python {word(random)}.py", error, 1)] * _times(random)


def _counter(random: Random) -> Calls:
    what = word(random)
    return [
        _call("fetch", {"url": f"https://{what}.test/status", "attempt": at}, "pending")
        for at in range(_times(random))
    ]


def _stamped(random: Random) -> Calls:
    url, at = f"https://{host(random)}/{word(random)}", random.randint(1_760_000_000, 1_770_000_000)
    return [
        _bash(f"curl -s '{url}?t={at + 7 * n}'", "502 Bad Gateway", 22)
        for n in range(_times(random))
    ]


def _pages(random: Random) -> Calls:
    query, result = f"{word(random)} {word(random)}", f"1. {name(random)}\n2. {name(random)}"
    return [
        _call("search", {"query": query, "page": at}, result) for at in range(1, 1 + _times(random))
    ]


def _between(random: Random) -> Calls:
    stuck = _bash(f"make {word(random)}", f"*** No rule to make target '{word(random)}'. Stop.", 2)
    return [one for _ in range(_times(random)) for one in (stuck, _noise(random))]


def _turns(random: Random) -> Calls:
    path, text = file(random), f"{word(random)} = 1"
    read = _call("read_file", {"path": path}, text)
    test = _bash(f"pytest {path}", "1 failed: assert 1 == 2", 1)
    return [one for _ in range(_times(random)) for one in (read, test)]


def _reworded(random: Random) -> Calls:
    words = [word(random), word(random), "timeout", "error", name(random)]
    drawn = []
    for _ in range(_times(random)):
        random.shuffle(words)
        drawn.append(_call("search", {"query": " ".join(words)}, "no results"))
    return drawn


def _back_and_forth(random: Random) -> Calls:
    path, one, two = file(random), word(random), name(random)
    edit = [
        _call("edit_file", {"path": path, "old": old, "new": new}, "edited")
        for old, new in ((one, two), (two, one))
    ]
    return edit * _times(random)


LOOPS: Final[dict[str, Callable[[Random], Calls]]] = {
    "the same call": _same,
    "a counter changes": _counter,
    "a time changes": _stamped,
    "pages that bring the same": _pages,
    "calls in between": _between,
    "two tools in turns": _turns,
    "the same search in other words": _reworded,
    "there and back": _back_and_forth,
}


def _work(random: Random) -> Calls:
    """Edit and test, each time a step further."""
    path, left = file(random), random.randint(6, 9)
    drawn: Calls = []
    for at in range(left):
        new = f"{word(random)}_{random.randint(1, 999)}"
        drawn.append(_call("edit_file", {"path": path, "old": f"line {at}", "new": new}, "edited"))
        drawn.append(
            _bash(
                "pytest -q", f"{left - at - 1} failed, {at + 3} passed", 1 if at + 1 < left else 0
            )
        )
    return drawn


def _paging(random: Random) -> Calls:
    query = f"{word(random)} {word(random)}"
    return [
        _call("search", {"query": query, "page": at}, f"{name(random)} {random.randint(1, 9999)}")
        for at in range(1, 8)
    ]


def _waiting(random: Random) -> Calls:
    steps = [f"building {share} %" for share in sorted(random.sample(range(1, 99), 6))]
    job = random.randint(1, 9999)
    return [_call("job_status", {"id": job}, step) for step in [*steps, "done"]]


def _batch(random: Random) -> Calls:
    return [
        _call("read_file", {"path": file(random)}, f"{name(random)} {at}")
        for at in range(random.randint(8, 14))
    ]


def _exploring(random: Random) -> Calls:
    return [_noise(random) for _ in range(random.randint(8, 16))]


def _looking_again(random: Random) -> Calls:
    """The same look after each change shows something new."""
    drawn: Calls = []
    for at in range(random.randint(4, 7)):
        drawn += [
            _bash("git status --short", f" M {file(random)}"),
            _bash(f"git add {file(random)}", ""),
        ]
        drawn.append(
            _bash(
                f"git commit -m 'step {at}'", f"[main {random.randint(10**6, 10**7):x}] step {at}"
            )
        )
    return drawn


def _twice(random: Random) -> Calls:
    """Something is read again after other work."""
    read = _call("read_file", {"path": file(random)}, f"{name(random)}")
    return [read, *_exploring(random), read]


HONEST: Final[dict[str, Callable[[Random], Calls]]] = {
    "work": _work,
    "pages that bring more": _paging,
    "waiting for a job": _waiting,
    "many files": _batch,
    "looking around": _exploring,
    "looking again": _looking_again,
    "read twice": _twice,
}
