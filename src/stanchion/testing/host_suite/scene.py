"""A scene: a shield, tools and a scripted model, which a driver plays in its framework; and what
was seen of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.runtime.shield import Shield
from stanchion.testing.clock import FakeClock
from stanchion.testing.models import ScriptEnded

INPUT_TOKENS: Final = 100
OUTPUT_TOKENS: Final = 20
"""What every turn reports as its usage."""


class Call(NamedTuple):
    """A tool call that the model asks for."""

    id: str
    tool: str
    args: dict[str, Any]


class Turn(msgspec.Struct, frozen=True):
    """One reply of the scripted model, for a driver to put into its framework's own type.

    `id` is the provider's id of the reply: whoever sees the same reply twice sees it with the same
    id. `handoff` names the agent to which the model hands its work over.
    """

    id: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    handoff: str = ""
    input_tokens: int = INPUT_TOKENS
    output_tokens: int = OUTPUT_TOKENS

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text in the pieces in which it is streamed: short ones, so that no secret comes in
        one of them."""
        return tuple([self.text[at : at + 7] for at in range(0, len(self.text), 7)])


def script(
    *said: str | tuple[str, dict[str, Any]] | list[tuple[str, dict[str, Any]]] | dict[str, str],
) -> list[Turn]:
    """Turns in short: a text, a call as `(tool, args)`, a list of calls, or `{"handoff":
    agent}`."""
    return [_turn(number, one) for number, one in enumerate(said, 1)]


def _turn(number: int, said: Any) -> Turn:
    name = f"reply-{number}"
    if isinstance(said, str):
        return Turn(name, said)
    if isinstance(said, dict):
        return Turn(name, handoff=said["handoff"])
    calls = said if isinstance(said, list) else [said]
    return Turn(
        name, calls=tuple([Call(f"call-{number}-{at}", *one) for at, one in enumerate(calls, 1)])
    )


KEY: Final = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""A secret that no model, user or error may ever show."""

Ran = tuple[str, dict[str, Any]]
"""A tool that ran, and what it ran with."""


def look(name: str) -> str:
    """Read the page of a person."""
    if name == "nobody":
        raise LookupError(f"no page for nobody, tried with {KEY}")
    return f"ann's key is {KEY}" if name == "ann" else f"page of {name}"


def take(name: str, limit: int) -> str:
    """Take some rows of a table."""
    return f"{limit} rows of {name}"


def send(to: str) -> str:
    """Send a letter to a person."""
    return f"letter to {to} is sent"


TOOLS: Final = (look, take, send)


def recorded(fn: Callable[..., str], ran: list[Ran]) -> Callable[..., str]:
    """The tool, which writes down what it ran with."""

    @functools.wraps(fn)
    def tool(*args: Any, **kwargs: Any) -> str:
        ran.append((fn.__name__, _named(fn, args, kwargs)))
        return fn(*args, **kwargs)

    return tool


def arecorded(fn: Callable[..., str], ran: list[Ran]) -> Callable[..., Any]:
    """The same as a coroutine function."""

    @functools.wraps(fn)
    async def tool(*args: Any, **kwargs: Any) -> str:
        ran.append((fn.__name__, _named(fn, args, kwargs)))
        return fn(*args, **kwargs)

    return tool


def _named(fn: Callable[..., str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    return {**dict(zip(names, args, strict=False)), **kwargs}


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


class Driver(msgspec.Struct, frozen=True):
    """How one adapter plays scenes.

    - `name` is the adapter's module under `stanchion.hosts`;
    - `host` is its `Host`: the suite reads `pause` and `stream` from it, and holds it to what it
      says;
    - `play` plays a scene under the adapter, in the framework itself with a stub model that calls
      `scene.ask`;
    - `where` is where this driver can be imported from, `module:NAME`, so that another process can
      go on;
    - `ways` are `sync` and `async`, where the host has both;
    - `beyond` names, for each behaviour that is out of the host's reach, the test in the adapter's
      file that shows it.
    """

    name: str
    host: Any
    play: Callable[[Scene], Ended]
    where: str
    ways: tuple[str, ...] = ("sync", "async")
    beyond: Mapping[str, str] = {}
