"""How an action of each stage is done through the public face, and at which moment of it the fault
comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from stanchion import Tool, ToolFailed
from tests.faults.table.world import World


class Broken(Exception):
    """What the tool of the scene `error` raises."""


def tool_call(world: World) -> bool:
    """The fault is there when the call is judged."""

    def read_file(path: str) -> str:
        world.effect()
        return f"{path} says hello"

    world.strike()
    world.run.call(Tool(read_file, risk=world.fault.risk), path="notes.txt")
    return True


def tool_result(world: World) -> bool:
    """It comes while the tool is at work."""

    def read_file(path: str) -> str:
        world.effect()
        world.strike()
        return f"{path} says hello"

    world.run.call(Tool(read_file, risk=world.fault.risk), path="notes.txt")
    return True


def error(world: World) -> bool:
    """It comes while the tool is at work, and the tool fails."""

    def read_file(path: str) -> str:
        world.effect()
        world.strike()
        raise Broken(path)

    try:
        world.run.call(Tool(read_file, risk=world.fault.risk), path="notes.txt")
    except (Broken, ToolFailed):
        return True
    return False


ASKED: Final = [{"role": "user", "content": "how are you?"}]


def model_call(world: World) -> bool:
    """It is there when the request is judged."""

    def model(_messages: Any) -> str:
        world.effect()
        return "all is well"

    world.strike()
    return bool(world.run.model(model, ASKED, model="gpt-4o") == "all is well")


def model_reply(world: World) -> bool:
    """It comes while the model answers."""

    def model(_messages: Any) -> str:
        world.effect()
        world.strike()
        return "all is well"

    return bool(world.run.model(model, ASKED, model="gpt-4o") == "all is well")


def model_chunk(world: World) -> bool:
    """It comes in the midst of a streamed reply."""

    def chunks() -> Iterator[str]:
        world.effect()
        yield "all "
        world.strike()
        world.in_effect()
        yield "is "
        yield "well"

    return "".join(world.run.stream(chunks(), model="gpt-4o")) == "all is well"


def prompt(world: World) -> bool:
    """It is there when words enter."""
    world.strike()
    return _if_it_may(world, world.run.prompt("please read the notes"))


def egress(world: World) -> bool:
    """It is there before a request leaves."""
    world.strike()
    return _if_it_may(world, world.run.egress("https://example.com/notes"))


def charge(world: World) -> bool:
    """It is there before a cost is booked."""
    world.strike()
    return _if_it_may(world, world.run.charge(tokens=10))


def handoff(world: World) -> bool:
    """It is there before control passes on."""
    world.strike()
    if not _if_it_may(world, world.run.handoff("bob", {"note": "go on"})):
        return False
    world.run.handoff_done("bob")
    return True


def _if_it_may(world: World, decision: Any) -> bool:
    world.code = decision.code
    if decision.proceeds:
        world.effect()
    return bool(decision.proceeds)


SCENES: Final[dict[str, Callable[[World], bool]]] = {
    scene.__name__: scene
    for scene in (
        tool_call, tool_result, error, model_call, model_chunk, model_reply, prompt, egress, charge,
        handoff,
    )
}  # fmt: skip
