"""Playing an episode in a run: every call of the model is judged, charged and recorded like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from stanchion.runtime.errors import Refused
from stanchion.tutor.envelope.envelope import (
    TURNS,
    Asked,
    Came,
    Episode,
    Model,
    Over,
    Playing,
    Tunable,
    TutorEnvelope,
    Withheld,
)
from stanchion.tutor.envelope.repair import Checked

GOOD: Final = Checked()
APART: Final = "\n\n"


def play(
    run: Any,
    envelope: TutorEnvelope,
    model: Model,
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
) -> Episode:
    """Play as `envelope.run_episode` does, the model asked through a run; `name` is its name, for prices and the trail.

    Nobody but the envelope has the model asked again. A reply that a guard refuses is no move; where a call is refused,
    as by a budget, the episode ends. Raises `Refused` where the run ends.
    """
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    asked, episode = _sent(playing, None)
    while asked is not None:
        try:
            came: Came = run.repair(ask, _taken, 0, **_how(asked, name)).reply
        except Refused as refused:
            came = _instead(refused)
        asked, episode = _sent(playing, came)
    assert episode is not None  # an episode that asks nothing more has ended
    return episode


async def aplay(
    run: Any,
    envelope: TutorEnvelope,
    model: Callable[..., Any],
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
) -> Episode:
    """`play` for async code; the model may be async. Moves are made in a thread, for commands take their time."""
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    asked, episode = _sent(playing, None)
    while asked is not None:
        try:
            came: Came = (await run.arepair(ask, _taken, 0, **_how(asked, name))).reply
        except Refused as refused:
            came = _instead(refused)
        asked, episode = await asyncio.to_thread(_sent, playing, came)
    assert episode is not None  # as above
    return episode


def _begun(
    envelope: TutorEnvelope, model: Any, turns: int, temperature: float | None, seed: int | None
) -> tuple[Playing, Callable[..., Any]]:
    bundle = envelope.bundle
    tuned = model.tuned(bundle.model_params) if bundle is not None and isinstance(model, Tunable) else model

    def ask(messages: list[Any], temperature: float, seed: int | None) -> Any:
        return tuned(APART.join(str(one["content"]) for one in messages), temperature, seed)

    return envelope.episode(turns, temperature=temperature, seed=seed), ask


def _sent(playing: Playing, came: Came | None) -> tuple[Asked | None, Episode | None]:
    """What is to be asked next, or the episode where it has ended."""
    try:
        return (next(playing) if came is None else playing.send(came)), None
    except StopIteration as ended:
        return None, ended.value


def _how(asked: Asked, name: str) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": asked.prompt}],
        "model": name,
        "params": {"temperature": asked.temperature, "seed": asked.seed},
        "final": False,
    }


def _taken(_reply: Any) -> Checked:
    """Replies are compared by the envelope."""
    return GOOD


def _instead(refused: Refused) -> Came:
    """What an episode is told in place of a reply."""
    if refused.ended:
        raise refused
    advice = refused.decision.advice
    return Withheld(advice if advice else str(refused)) if refused.happened else Over(str(refused))
