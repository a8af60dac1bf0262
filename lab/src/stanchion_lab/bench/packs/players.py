"""Players: each goes through a session call by call, and says what every call and every result
took."""

from __future__ import annotations

import asyncio
import gc
from time import perf_counter_ns as clock
from typing import Any, Final, NamedTuple, Protocol

from stanchion.readings.joined import JoinedTexts
from stanchion.readings.scan import Scanner
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.packs.hand import Bare, Hand, Scan
from stanchion_lab.bench.packs.sessions import Session, chars_of, texts_of
from stanchion_lab.bench.packs.written import Left, Written

AGENT: Final = "ann"


class Took(NamedTuple):
    """What a step took, in nanoseconds: the call, and what came of it; and whether it went ahead
    all the same."""

    call: int
    result: int
    ahead: bool = True


class Player(Protocol):
    """Plays sessions."""

    def play(self, session: Session, /) -> list[Took | None]:
        """What each step took; `None` for one that did not go ahead."""


class Shielded:
    """A shield, asked before and after each call."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield

    def play(self, session: Session, /) -> list[Took | None]:
        """Play a session as one run."""
        took: list[Took | None] = []
        with self._shield.run(AGENT, "work") as run:
            for step in session:
                for words in step.asked:
                    run.prompt(words)
                begun = clock()
                decision = run.check(step.tool, step.args)
                called = clock() - begun
                if not decision.proceeds:
                    took.append(None)
                    continue
                begun = clock()
                if step.failed:
                    after = run.error(step.tool, step.result, args=step.args, call=decision.id)
                else:
                    after = run.result(step.tool, step.args, step.result, call=decision.id)
                ended = clock() - begun
                took.append(Took(called, ended) if after.proceeds or step.failed else None)
        return took


class Awaited:
    """A shield, asked in an event loop."""

    def __init__(self, shield: Shield, runner: asyncio.Runner) -> None:
        self._shield, self._runner = shield, runner

    def play(self, session: Session, /) -> list[Took | None]:
        """Play a session as one run."""
        return self._runner.run(self._play(session))

    async def _play(self, session: Session) -> list[Took | None]:
        took: list[Took | None] = []
        async with self._shield.run(AGENT, "work") as run:
            for step in session:
                for words in step.asked:
                    await run.aprompt(words)
                begun = clock()
                decision = await run.acheck(step.tool, step.args)
                called = clock() - begun
                if not decision.proceeds:
                    took.append(None)
                    continue
                begun = clock()
                if step.failed:
                    after = await run.aerror(
                        step.tool, step.result, args=step.args, call=decision.id
                    )
                else:
                    after = await run.aresult(step.tool, step.args, step.result, call=decision.id)
                ended = clock() - begun
                took.append(Took(called, ended) if after.proceeds or step.failed else None)
        return took


class ByHand:
    """The same checks by hand."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def play(self, session: Session, /) -> list[Took | None]:
        """Play a session as one run."""
        hand = Hand(self._scan, "run-0123456789abcdef")
        took: list[Took | None] = []
        for step in session:
            begun = clock()
            action = hand.call(step.tool, step.args)
            called = clock() - begun
            if action == "BLOCK":
                took.append(None)
                continue
            begun = clock()
            hand.result(step.tool, step.args, step.result, step.failed)
            took.append(Took(called, clock() - begun))
        return took


class ScannedAlone:
    """The scanner alone on the same texts."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    def play(self, session: Session, /) -> list[Took | None]:
        """Scan the texts of each call, and its result."""
        return [
            Took(self._timed([*texts_of(step.args)]), self._timed([step.result]))
            for step in session
        ]

    def _timed(self, texts: list[str]) -> int:
        begun = clock()
        self._scanner.scan_joined(JoinedTexts(texts))
        return clock() - begun


class Kept:
    """What keeping a decision takes at the least."""

    def __init__(self, bare: Bare, left: Left) -> None:
        self._bare, self._left = bare, left

    def play(self, session: Session, /) -> list[Took | None]:
        """Keep a decision on each call, and on each result."""
        return [
            Took(
                self._timed(self._left.call, chars_of(step.args)),
                self._timed(self._left.result, len(step.result)),
            )
            for step in session
        ]

    def _timed(self, written: Written, chars: int) -> int:
        record = b"x" * (written.record + chars)
        begun = clock()
        self._bare.keep(written.bodies, written.reply, record)
        return clock() - begun


class KeptBetween(Kept):
    """The same between decisions in memory, whose data has taken the place of its own in the
    processor's caches: as it is for a shield on disk."""

    def __init__(self, bare: Bare, left: Left, shield: Shield) -> None:
        super().__init__(bare, left)
        self._shield = shield

    def play(self, session: Session, /) -> list[Took | None]:
        """Keep a decision after each was made."""
        took: list[Took | None] = []
        with self._shield.run(AGENT, "work") as run:
            for step in session:
                decision = run.check(step.tool, step.args)
                called = self._timed(self._left.call, chars_of(step.args))
                if not decision.proceeds:
                    took.append(None)
                    continue
                run.result(step.tool, step.args, step.result, call=decision.id)
                took.append(Took(called, self._timed(self._left.result, len(step.result))))
        return took


def play_all(
    players: dict[str, Player], sessions: tuple[Session, ...]
) -> dict[str, list[Took | None]]:
    """What every step took each player. They take turns, session by session, and each begins as
    often as any other: what else the machine does meets all, and nobody always finds what another
    has warmed."""
    order = list(players)
    for name in order:
        players[name].play(sessions[len(sessions) // 2])
    took: dict[str, list[Any]] = {name: [] for name in order}
    kept = gc.get_freeze_count()
    gc.collect()
    # What the others are made of is not looked through again and again on a player's time
    gc.freeze()
    try:
        for session in sessions:
            for name in order:
                took[name] += players[name].play(session)
            order = [*order[1:], order[0]]
    finally:
        if not kept:  # who keeps things from the collector goes on doing so
            gc.unfreeze()
    return took
