"""A scene: a shield, tools and a scripted model, which a driver plays in its framework; and what
was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from stanchion.runtime.shield import Shield
from stanchion.testing.clock import FakeClock
from stanchion.testing.host_suite.script import Turn
from stanchion.testing.host_suite.tools import TOOLS, Ran, arecorded, recorded
from stanchion.testing.models import ScriptEnded

MOST_ASKED: Final = 12
"""A host that asks the model more often than this does not come to an end."""

AGENT: Final = "helper"
TASK: Final = "suite"
PROMPT: Final = "please do it"


class Ended(msgspec.Struct, frozen=True):
    """What a driver reports of a scene that it has played.

    `answer` is what the user gets in the end, `pieces` what was streamed to them. `state` is there
    where the host has
    paused: whatever it needs to go on in another process. What the host raises, the driver lets
    through.
    """

    answer: str = ""
    pieces: tuple[str, ...] = ()
    state: str | None = None


class Scene:
    """What a driver plays: the agent `agent` gets `prompt`, asks the model, runs tools, and gives
    an answer.

    `tools` are functions, `atools` the same as coroutine functions. `way` is `sync` or `async`.
    With `streams` the answer is streamed. `others` are agents to which the model may hand over;
    they have the same tools and the same model. `state` is there where a host goes on after a
    pause, and `folder` is for files of its own.
    """

    agent: Final = AGENT
    task: Final = TASK
    prompt: Final = PROMPT

    def __init__(
        self,
        shield: Shield,
        turns: Iterable[Turn],
        way: str,
        folder: Path,
        *,
        streams: bool = False,
        others: tuple[str, ...] = (),
        state: str | None = None,
        before: int = 0,
        watch: Callable[[], None] | None = None,
    ) -> None:
        self.shield, self.way, self.folder = shield, way, folder
        self.streams, self.others, self.state = streams, others, state
        self.ran: list[Ran] = []
        self.asked: list[list[str]] = []
        self._turns, self._before, self._watch = list(turns), before, watch
        self.tools = [recorded(fn, self.ran) for fn in TOOLS]
        self.atools = [arecorded(fn, self.ran) for fn in TOOLS]

    @property
    def is_async(self) -> bool:
        """Whether the host's async code plays it."""
        return self.way == "async"

    def ask(self, shown: Iterable[str]) -> Turn:
        """The model's next turn, for the stub model of a framework; `shown` are the texts of all
        messages it got, with the results of tools. After its script the model says its last words
        again."""
        self.asked.append([str(text) for text in shown])
        if len(self.asked) > MOST_ASKED:
            raise ScriptEnded(
                f"the model was asked {MOST_ASKED} times and the agent has not come to an end"
            )
        if self._watch is not None:
            self._watch()
        return self._turns[min(self._before + len(self.asked), len(self._turns)) - 1]


class Seen(msgspec.Struct, frozen=True):
    """What was seen of a scene: what the tools ran with, what the model was shown, what the user
    got, what was decided.

    `decided` has the stage, the tool or agent, and the action of every decision.
    """

    ran: list[Ran]
    asked: list[list[str]]
    answer: str
    pieces: tuple[str, ...]
    state: str | None
    raised: str
    decided: list[tuple[str, str, str]]

    @property
    def shown(self) -> str:
        """All that the model was ever shown."""
        return "\n".join([text for texts in self.asked for text in texts])

    @property
    def everything(self) -> str:
        """All that left the tools: to the model, to the user, and to whoever catches errors."""
        return "\n".join([self.shown, self.answer, "".join(self.pieces), self.raised])


class FailingClock(FakeClock):
    """A clock that can be broken: what needs the time fails then."""

    broken = False

    def __call__(self) -> int:
        """The time."""
        if self.broken:
            raise RuntimeError("the clock is broken")
        return super().__call__()
