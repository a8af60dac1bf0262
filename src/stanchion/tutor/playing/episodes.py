"""Playing an episode in a run: every call of the model is judged, charged and recorded like any
other, and what the episode leaves is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stanchion.runtime.errors import Refused
from stanchion.tutor.envelope.envelope import (
    TURNS,
    Asked,
    Came,
    Episode,
    Halted,
    Model,
    Over,
    Playing,
    TutorEnvelope,
    Withheld,
    is_tunable,
    raised_by,
)
from stanchion.tutor.envelope.repair import Checked, NoMore
from stanchion.tutor.manifests.manifest import Model as ModelPart
from stanchion.tutor.playing.bundle_files import Chosen
from stanchion.tutor.playing.keeping import keeper

GOOD: Final = Checked()
APART: Final = "\n\n"


class Driven(NamedTuple):
    """An episode that was played, and what was raised in it, where something was."""

    episode: Episode
    raised: Exception | None = None

    def whole(self) -> Episode:
        """The episode; raises what was raised in it. Where the run was ended, that has the episode
        as what was produced until there."""
        if isinstance(self.raised, Refused):
            self.raised.partial = (*self.raised.partial, self.episode)
        if self.raised is not None:
            raise self.raised
        return self.episode


def play(
    run: Any,
    envelope: TutorEnvelope,
    model: Model,
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
    chosen: Chosen | None = None,
) -> Episode:
    """Play as `envelope.run_episode` does, the model asked through a run, if there is one; `name`
    is its name, for prices and the trail.

    Nobody but the envelope has the model asked again. A reply that a guard refuses is no move;
    where a call is refused, as by a budget, the episode ends. Unless the envelope has
    `manifest_enabled` off, a manifest, the trace and a recording are written; `chosen` says in it
    where the bundle is from. Raises `ManifestError` where that cannot be, `Refused` where the run
    ends, and what the model or a command raises: what was played until then is written first, and
    is the last of what `Refused` has as `partial`.
    """
    kept = keeper(run, envelope, turns, _asked_as(name, temperature, seed), chosen)
    with kept.taping():
        driven = drive(run, envelope, model, turns, name=name, temperature=temperature, seed=seed)
    kept.finish(driven.episode)
    return driven.whole()


async def aplay(
    run: Any,
    envelope: TutorEnvelope,
    model: Callable[..., Any],
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
    chosen: Chosen | None = None,
) -> Episode:
    """`play` for async code; the model may be async. Moves are made in a thread, for commands take
    their time, and so are the files written."""
    asked = _asked_as(name, temperature, seed)
    kept = await asyncio.to_thread(keeper, run, envelope, turns, asked, chosen)
    with kept.taping():
        driven = await _adrive(
            run, envelope, model, turns, name=name, temperature=temperature, seed=seed
        )
    await asyncio.to_thread(kept.finish, driven.episode)
    return driven.whole()


def drive(
    run: Any,
    envelope: TutorEnvelope,
    model: Model,
    turns: int,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
) -> Driven:
    """`play` for a caller who writes the manifest, or none: what is raised is given, and not
    raised. Without a run the model is asked as it is."""
    if run is None:
        return Driven(*envelope.play_out(model, turns, temperature=temperature, seed=seed))
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    raised: Exception | None = None
    asked, episode = _sent(playing, None)
    while asked is not None:
        try:
            came: Came = run.repair(ask, _taken, 0, **_how(asked, name)).reply
        except Exception as error:  # noqa: BLE001 - what was played until then is kept, and it is raised afterwards
            came, raised = _instead(error)
        asked, episode = _sent(playing, came)
    assert episode is not None  # an episode that asks nothing more has ended
    return Driven(episode, episode.raised if raised is None else raised)


async def _adrive(
    run: Any,
    envelope: TutorEnvelope,
    model: Callable[..., Any],
    turns: int,
    *,
    name: str,
    temperature: float | None,
    seed: int | None,
) -> Driven:
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    raised: Exception | None = None
    asked, episode = _sent(playing, None)
    while asked is not None:
        try:
            came: Came = (await run.arepair(ask, _taken, 0, **_how(asked, name))).reply
        except Exception as error:  # noqa: BLE001 - what was played until then is kept, and it is raised afterwards
            came, raised = _instead(error)
        asked, episode = await asyncio.to_thread(_sent, playing, came)
    assert episode is not None  # as above
    return Driven(episode, episode.raised if raised is None else raised)


def _asked_as(name: str, temperature: float | None, seed: int | None) -> ModelPart:
    heat = 0.0 if temperature is None else temperature
    return ModelPart(temperature=heat, model_id=name if name else None, seed=seed)


def _begun(
    envelope: TutorEnvelope, model: Any, turns: int, temperature: float | None, seed: int | None
) -> tuple[Playing, Callable[..., Any]]:
    bundle = envelope.bundle
    tuned = model.tuned(bundle.model_params) if bundle is not None and is_tunable(model) else model

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


def _instead(error: Exception) -> tuple[Came, Exception | None]:
    """What an episode is told in place of a reply, and what is raised once it has ended."""
    if isinstance(error, NoMore):
        return Over(str(error)), None
    if not isinstance(error, Refused):
        return raised_by("the model", error), error
    if error.ended:
        return Halted(str(error), error.happened), error
    advice = error.decision.advice
    return (
        Withheld(advice if advice else str(error)) if error.happened else Over(str(error))
    ), None
