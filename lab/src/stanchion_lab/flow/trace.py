"""Traces of whole tasks: what the user said, what the agent called and read, and which of it an
attacker wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from stanchion import typed
from stanchion_lab.measuring.rows import NoRows

Side = Literal["honest", "attack"]
Definitions = list[dict[str, Any]]
"""What the tools of a task say of themselves."""

TOOLS: Final = "_tools.json"
"""How the name of a file of definitions ends."""

AS_IT_IS: Final = "as it is"
"""The way of asking that a set has by itself."""

GOAL: Final = re.compile(r"(?:^|/)(injection[^/]*)")
"""The part of an identity that names an attacker's goal, where a trace does not say it by
itself."""


class Prompt(msgspec.Struct, frozen=True, tag_field="t", tag="prompt"):
    """The user says something."""

    text: str


class Reply(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag="reply"):
    """The agent says something. An attacker who needs it said has it as `essential`, and the words
    in `wants`."""

    text: str
    final: bool = False
    side: Side = "honest"
    essential: bool = False
    wants: str = ""


class Call(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t", tag="call"):
    """The agent calls a tool: what came of it, or how it failed, as it was recorded. `essential` is
    what an attacker cannot do without."""

    tool: str
    args: dict[str, Any]
    result: Any | UnsetType = UNSET
    error: Any = None
    side: Side = "honest"
    essential: bool = False


Step = Prompt | Reply | Call


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task. `tools` says which definitions it goes with, `phrasing` in which way an attacker
    asks, and `injected` is the very text that asks, where it is known."""

    id: str
    set: str
    kind: Side
    steps: tuple[Step, ...]
    tools: str = ""
    goal: str = ""
    phrasing: str = AS_IT_IS
    injected: str = ""

    @property
    def prompt(self) -> str:
        """What the user said first."""
        return next((step.text for step in self.steps if isinstance(step, Prompt)), "")

    @property
    def base(self) -> str:
        """What it is called in every way of asking."""
        return self.id.removesuffix(f"/{self.phrasing}")

    @property
    def wanted(self) -> tuple[Reply | Call, ...]:
        """What the attacker cannot do without."""
        return tuple(
            [step for step in self.steps if not isinstance(step, Prompt) and step.essential]
        )

    @property
    def idle(self) -> bool:
        """Whether there is no call in it: nothing that a guard of calls could disturb."""
        return not any(isinstance(step, Call) for step in self.steps)

    @property
    def aim(self) -> str:
        """The attacker's goal by a name: its own, the one in the trace's identity, or the tools
        that reach it."""
        named = self.goal if self.goal else "".join(GOAL.findall(self.id)[-1:])
        return (
            named if named else " + ".join(dict.fromkeys([_called(step) for step in self.wanted]))
        )


def _called(step: Reply | Call) -> str:
    return step.tool if isinstance(step, Call) else "the answer"


def read_traces(path: Path) -> Iterator[Trace]:
    """The traces of a file, in order; `NoRows` says where it is no trace, and what it lacks."""
    decoder = typed.reader(Trace)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _trace(decoder, line, f"{path}:{number}")


def _trace(decoder: msgspec.json.Decoder[Trace], line: bytes, place: str) -> Trace:
    try:
        trace = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        said = str(error)
        raise NoRows(f"{place}: is no trace: {said[:1].lower()}{said[1:]}") from None
    if not trace.steps:
        raise NoRows(f"{place}: trace `{trace.id}` has no steps")
    if trace.kind == "attack" and not trace.wanted:
        raise NoRows(
            f'{place}: trace `{trace.id}` is an attack without a step that has `"essential": true`'
        )
    return trace


def write_traces(path: Path, traces: Iterable[Trace]) -> int:
    """Write a file of traces; says how many."""
    count = 0
    with path.open("wb") as file:
        for trace in traces:
            file.write(msgspec.json.encode(trace) + b"\n")
            count += 1
    return count


def read_definitions(path: Path) -> dict[str, Definitions]:
    """The definitions of a file, by the name that traces have for them."""
    try:
        return typed.decode(path.read_bytes(), dict[str, Definitions])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        said = str(error)
        raise NoRows(f"{path}: has no definitions of tools: {said[:1].lower()}{said[1:]}") from None


def definitions_beside(path: Path) -> Path | None:
    """The definitions that a file of traces goes with."""
    return stands_beside(path, TOOLS)


def stands_beside(path: Path, ending: str) -> Path | None:
    """What a file of traces goes with: a file of its own name with that ending, or of as much of
    its name as there is a file for (`shop_worst.jsonl` goes with `shop_tools.json`, or with
    `tools.json`)."""
    words = path.stem.split("_")
    for length in range(len(words), -1, -1):
        beside = path.with_name(f"{'_'.join(words[:length])}{ending}".removeprefix("_"))
        if beside.is_file():
            return beside
    return None
