"""Measuring task drift: how many calls of another task the `scope_classifier` tells of, and how
many of the own."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion.guards.scope_classifier import ScopeClassifier, ScopeQuestion
from stanchion.runtime.answers.scope_classifier import measured
from stanchion_lab.measuring.figure import Report, counted
from stanchion_lab.measuring.rows import rows
from stanchion_lab.measuring.watching import each

SESSIONS: Final = "honest_sessions.jsonl"
HIJACKS: Final = "injecagent.jsonl"
DRAWN: Final = 600
FIRST: Final = 6
"""How many pairs of sessions are drawn, and how many calls of a session are judged."""
SAME: Final = 6
"""Tools whose names begin with so many same letters belong together, and are no drift."""


class Call(NamedTuple):
    """A call, the task it stands under, where it is from, and whether it belongs to another
    task."""

    family: str
    about: str
    tool: str
    args: Any
    drifts: bool
    id: str


def measure(folder: Path) -> Report:
    """Judge calls of sessions and of hijacked users under their tasks, and calls of others under
    the same."""
    guard = ScopeClassifier()
    judged = [(call, _told(guard, call)) for call in each([*_hijacks(folder), *_sessions(folder)])]
    figures = [
        counted(
            name,
            [one for one in judged if one[0].drifts is drifts],
            lambda one: one[1],
            lambda one: one[0].family,
            missed=lambda one: f"{one[0].id}: {one[0].tool} under `{one[0].about[:80]}`",
            alarm=not drifts,
        )
        for name, drifts in (
            ("calls of another task that are told of", True),
            ("calls of the task that are", False),
        )
    ]
    return Report(
        "task drift",
        tuple(figures),
        ("another task: the attacker's call, or the last call of another session",),
    )


def _told(guard: ScopeClassifier, call: Call) -> bool:
    answer = measured(ScopeQuestion(call.about, call.tool, "\n".join(_texts(call.args))))
    return guard.judge(None, answer) is not None  # type: ignore[arg-type] # it judges by the answer alone


def _hijacks(folder: Path) -> Iterator[Call]:
    for row in rows(folder, HIJACKS):
        said = row.payload
        if row.label != "attack":
            continue
        try:
            args = ast.literal_eval(said["user_args"])
        except (SyntaxError, ValueError):
            continue
        about, text = said["user_instruction"], {"text": said["attacker_instruction"]}
        yield Call("injecagent, the user's", about, said["user_tool"], args, False, row.id)
        yield Call(
            "injecagent, the attacker's", about, said["attacker_tools"][0], text, True, row.id
        )


def _sessions(folder: Path) -> Iterator[Call]:
    office: list[list[Call]] = []
    for row in rows(folder, SESSIONS):
        about, calls = "", list[Call]()
        for step in row.payload["steps"]:
            about = f"{about} {step['user']}".strip() if "user" in step else about
            if "tool" in step and about:
                calls.append(Call(row.kind, about, step["tool"], step["args"], False, row.id))
        yield from calls[:FIRST]
        if calls and row.kind == "toolemu":
            office.append(calls)
    yield from _drawn(office)


def _drawn(sessions: list[list[Call]]) -> Iterator[Call]:
    """The last call of one session under the task of another, drawn by chance."""
    chance = random.Random(7)
    for _ in range(DRAWN if len(sessions) > 1 else 0):
        one, other = chance.sample(sessions, 2)
        last = other[-1]
        if one[0].tool[:SAME] != last.tool[:SAME]:
            yield last._replace(
                family="drawn", about=one[0].about, drifts=True, id=f"{one[0].id} + {last.id}"
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
