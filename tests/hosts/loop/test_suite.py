"""The suite catches a host that guards nothing, one that is too loud, and one that claims what it
does not do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion.hosts import Told
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Driver, Ended, Scene, check, check_probes
from tests.hosts.loop.driver import DRIVER, LOOP, play, turn_of


class Unguarded:
    """Stands where a run on a host would, and lets everything pass."""

    def report(self, stage: str, **fields: Any) -> Any:
        content = next(
            (fields[name] for name in ("text", "result", "args") if name in fields), None
        )
        return Told(Decision("", Action.ALLOW, ""), True, content)

    def call(self, tool: str, args: Any, carry: Callable[[Any], Any], about: Any) -> Any:
        return carry(args)

    def model(self, ask: Callable[[Any], Any], messages: Any) -> Any:
        return ask(messages)

    def notices(self) -> tuple[str, ...]:
        return ()


def unguarded(scene: Scene) -> Ended:
    """Play a scene with nothing in between."""
    if scene.streams:
        return Ended(pieces=scene.ask([scene.prompt]).pieces)
    tools = {fn.__name__: fn for fn in scene.tools}
    loop = LOOP["Loop"](
        Unguarded(), lambda said: turn_of(scene.ask([one.content for one in said])), tools
    )
    return Ended(loop.answer(scene.prompt))


def with_play(play: Callable[[Scene], Ended], **fields: Any) -> Driver:
    """The driver of the loop, which plays otherwise."""
    return msgspec.structs.replace(DRIVER, play=play, **fields)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_host_that_guards_nothing_shows_no_behaviour(behaviour: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        check(with_play(unguarded), behaviour, "sync", tmp_path)


@pytest.mark.parametrize("behaviour", ["redact", "error", "parallel", "stream"])
def test_a_secret_is_found_wherever_it_comes_out(behaviour: str, tmp_path: Path) -> None:
    def loud(scene: Scene) -> Ended:
        ended = play(scene)
        return msgspec.structs.replace(ended, answer=f"{ended.answer} {KEY}")

    with pytest.raises(AssertionError):
        check(with_play(loud), behaviour, "sync", tmp_path)


@pytest.mark.parametrize(
    ("claim", "behaviour"),
    [({"pause": "resume"}, "pause"), ({"stream": "none"}, "stream")],
    ids=["pause", "stream"],
)
def test_a_host_is_held_to_what_it_says(
    claim: dict[str, str], behaviour: str, tmp_path: Path
) -> None:
    claiming = msgspec.structs.replace(DRIVER.host, **claim)
    with pytest.raises(AssertionError):
        check(with_play(play, host=claiming), behaviour, "sync", tmp_path)


def test_one_that_streams_the_whole_does_not_stream_chunks(tmp_path: Path) -> None:
    def whole(scene: Scene) -> Ended:
        return Ended(pieces=("".join(play(scene).pieces),))

    with pytest.raises(AssertionError, match="streams chunks"):
        check(with_play(whole), "stream", "sync", tmp_path)
    buffering = msgspec.structs.replace(DRIVER.host, stream="buffer")
    (tmp_path / "again").mkdir()
    check(with_play(whole, host=buffering), "stream", "sync", tmp_path / "again")


def test_a_host_that_runs_a_call_twice_is_caught(tmp_path: Path) -> None:
    def twice(scene: Scene) -> Ended:
        ended = play(scene)
        scene.ran.extend(scene.ran)
        return ended

    with pytest.raises(AssertionError):
        check(with_play(twice), "allow", "sync", tmp_path)


@pytest.mark.parametrize("behaviour", ["crash", "timeout"])
def test_a_host_that_breaks_by_itself_has_not_refused(behaviour: str, tmp_path: Path) -> None:
    def breaks(scene: Scene) -> Ended:
        raise UserWarning("a warning of the framework")

    with pytest.raises(AssertionError, match="a warning of the framework"):
        check(with_play(breaks), behaviour, "sync", tmp_path)


@pytest.mark.parametrize("behaviour", ["crash", "timeout"])
def test_a_host_that_breaks_before_it_asks_has_not_refused(behaviour: str, tmp_path: Path) -> None:
    played: list[Scene] = []

    def breaks(scene: Scene) -> Ended:
        played.append(scene)
        if len(played) > 1:
            raise UserWarning("a warning of the framework")
        return play(scene)

    with pytest.raises(AssertionError, match="BLOCK"):
        check(with_play(breaks), behaviour, "sync", tmp_path)


@pytest.mark.parametrize("behaviour", ["crash", "timeout"])
def test_a_refusal_whose_reason_nobody_reads_is_caught(behaviour: str, tmp_path: Path) -> None:
    def mute(scene: Scene) -> Ended:
        ended = play(scene)
        scene.asked[:] = [["please do it"] for _ in scene.asked]
        return ended

    with pytest.raises(AssertionError, match="guard `"):
        check(with_play(mute), behaviour, "sync", tmp_path)


def test_what_is_beyond_reach_has_a_probe() -> None:
    def test_it() -> None:
        """A probe."""

    driver = with_play(unguarded, beyond={"handoff": "test_it"})
    check(driver, "handoff", "sync", Path())
    check_probes(driver, {"test_it": test_it})
    for beyond, tests in (
        ({"handoff": "test_it"}, {}),
        ({"fly": "test_it"}, {"test_it": test_it}),
        ({"handoff": ""}, {}),
    ):
        with pytest.raises(AssertionError):
            check_probes(with_play(play, beyond=beyond), tests)
