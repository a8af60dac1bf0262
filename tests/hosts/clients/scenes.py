"""Scenes of the behaviour suite for plain clients: the loop is ours, the client and its requests
are real."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stanchion.testing.host_suite import Scene, Turn
from tests.hosts.clients.provider import Call, Provider, Say

MODEL = "a-model"


def provider_of(scene: Scene) -> Provider:
    """A provider whose model is the scene's."""

    def script(body: dict[str, Any]) -> list[Any]:
        turn = scene.ask(list(texts(body)))
        return _turn(turn)

    return Provider(script=script, used={"prompt": 100, "cached": 0, "output": 20})


def handing(scene: Scene) -> dict[str, str]:
    """The tools by which the model hands over."""
    return {f"transfer_to_{name}": name for name in scene.others}


def texts(body: Any) -> Iterator[str]:
    """Every text that a model is shown, of all messages."""
    for name in ("system", "instructions", "messages", "input"):
        yield from _texts(body.get(name))


def tools(scene: Scene) -> dict[str, Callable[..., Any]]:
    """The tools of a scene by name."""
    return {fn.__name__: fn for fn in (scene.atools if scene.is_async else scene.tools)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name in ("content", "text", "output"):
            yield from _texts(value.get(name))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _turn(turn: Turn) -> list[Any]:
    said = [Say(turn.pieces)] if turn.text else []
    calls = [Call(call.tool, call.args) for call in turn.calls]
    return [*said, *calls, *([Call(f"transfer_to_{turn.handoff}", {})] if turn.handoff else [])]
