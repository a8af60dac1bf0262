"""What the dialect plays is what Stanchion plays, sync and async, in a run and without one."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import stanchion.dialects.ragix as dialect
import stanchion.tutor as ours
from stanchion import Shield
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.playing.episodes import aplay, play
from stanchion.tutor.rules.bash import bash_rules
from tests.dialects.ragix.hands import SHOWS, Hands
from tests.runtime.test_repair import charged, journalled, recorded
from tests.tutor.golden_games import world_of

COMMANDS = st.sampled_from([*SHOWS, "rm -rf /", "whoami"])
MOVES = st.one_of(
    st.builds(lambda command: {"action": "PROPOSE", "command": command}, COMMANDS),
    st.sampled_from(
        [
            {"action": "ASSERT", "text": "File 'a.txt' exists", "kind": "existence"},
            {"action": "ASSERT", "text": ""},
            {"action": "ASK", "text": "why?"},
            {"action": "CHALLENGE", "text": "the disk is full", "falsify": "df"},
            {"action": "RESPOND", "message": "done"},
        ]
    ),
)
REPLIES = st.lists(
    st.one_of(MOVES.map(json.dumps), st.sampled_from(["I propose: ls", "hm", "```bash\nls\n```"])),
    max_size=6,
)
LAYERS = st.fixed_dictionaries(
    {"layer1_schema": st.sampled_from(["off", "strict", "lenient"])},
    optional={"layer2_repair": st.just("bestofn"), "repair_max_attempts": st.integers(0, 2)},
)


def first(kind: Any) -> Any:
    """The same game by the dialect, or by Stanchion."""
    tutor = kind()
    tutor.setup_game("find out about a.txt", ["be quick"])
    return tutor


def by_dialect() -> dialect.Tutor:
    """A game in the document's words."""
    return dialect.Tutor("g", executor=Hands())


def by_stanchion() -> ours.TutorV1:
    """A game in Stanchion's."""
    ticks = count()
    return ours.TutorV1("g", Hands(), bash_rules(), clock=lambda: str(next(ticks)))


class Says:
    """A model that gives replies, and then the last one again."""

    def __init__(self, replies: list[str]) -> None:
        self._replies, self._next = [*replies, "nothing"], 0

    def __call__(self, _prompt: str, _temperature: float, _seed: int | None, /) -> str:
        reply = self._replies[min(self._next, len(self._replies) - 1)]
        self._next += 1
        return reply

    async def later(self, prompt: str, temperature: float, seed: int | None, /) -> str:
        """The same for async code."""
        return self(prompt, temperature, seed)


@given(REPLIES, LAYERS)
@settings(max_examples=25, deadline=None)
def test_both_play_the_same(replies: list[str], layers: dict[str, Any]) -> None:
    one, other = first(by_dialect), first(by_stanchion)
    turns = max(1, len(replies))
    episode = dialect.TutorEnvelope(one, manifest_enabled=False, **layers).run_episode(
        Says(replies), turns
    )
    plain = TutorEnvelope(other, manifest_enabled=False, **layers).run_episode(Says(replies), turns)
    assert episode == plain
    assert world_of(one) == world_of(other)
    assert one.state == other.state


def trail(made: Shield) -> list[tuple[Any, ...]]:
    """What the trail of a shield has, but for ids and times."""
    kept: Any = made.journal
    names = ("kind", "stage", "went", "action")
    return [tuple(str(getattr(one.read(), name)) for name in names) for one in kept.kept()]


@given(REPLIES)
@settings(max_examples=10, deadline=None)
def test_sync_and_async_decide_and_record_the_same(replies: list[str]) -> None:
    turns = max(1, len(replies))

    async def later() -> Any:
        made = journalled(99)
        async with made.run() as run:
            envelope = dialect.TutorEnvelope(first(by_dialect), manifest_enabled=False)
            return (
                await aplay(run, envelope, Says(replies).later, turns),
                recorded(made),
                charged(made),
                trail(made),
            )

    made, direct = journalled(99), journalled(99)
    with made.run() as run:
        episode = dialect.TutorEnvelope(
            first(by_dialect), manifest_enabled=False, run=run
        ).run_episode(Says(replies), turns)
    with direct.run() as run:
        plain = play(
            run, TutorEnvelope(first(by_stanchion), manifest_enabled=False), Says(replies), turns
        )
    assert (episode, recorded(made), charged(made), trail(made)) == asyncio.run(later())
    assert (episode, recorded(made), charged(made)) == (plain, recorded(direct), charged(direct))
    assert trail(made) == trail(direct)


@pytest.mark.parametrize("name", dialect.__all__)
def test_every_name_is_stanchions_own_or_made_of_it(name: str) -> None:
    theirs = getattr(dialect, name)
    if hasattr(ours, name) and name not in ("Tutor", "TutorV1"):
        assert theirs is getattr(ours, name)
    assert dialect.Tutor is dialect.TutorV1
    assert issubclass(dialect.Tutor, ours.TutorV1)
    assert issubclass(dialect.TutorEnvelope, TutorEnvelope)
