"""What a scripted model says: turns with a text, with tool calls, or with a handoff to another
agent."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

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
