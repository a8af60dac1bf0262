"""A trail and a store that are the same whenever they are made: what the transcripts about them
show."""

import itertools
import shutil
from pathlib import Path
from typing import Any

from stanchion import Shield
from stanchion.audit.journal import Fact, Finish, Start
from stanchion.audit.keys import load_key
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch
from stanchion.kernel.state import Batch, Line, When, key
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for

KEY = "".join(f"{number:02x}" for number in range(32))
MORNING = 4_102_473_600_000
"""Eight o'clock on the first day of 2100: what is due then is not due yet, and was never long
ago."""


class Timed:
    """A trail in which every decision took as long as any other."""

    trouble = ""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail

    def write(
        self,
        moment: Moment,
        decision: Decision,
        _took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down."""
        return self._trail.write(moment, decision, 12_300, notes, hide)

    def begin(self, start: Start) -> None:
        """Write down that a run begins."""
        self._trail.begin(start)

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""
        self._trail.end(finish)

    def tell(self, fact: Fact) -> None:
        """Write a fact down."""
        self._trail.tell(fact)

    def probe(self) -> None:
        """Nothing is ever wrong here."""

    def sync(self, mark: int) -> None:
        """Nobody waits here."""

    def close(self) -> None:
        """End the chain."""
        self._trail.close()


def lay_out(folder: Path) -> None:
    """Make `trail`, sealed with `key`; `edited`, in which one word was changed; and the store
    `state.db`."""
    (folder / "key").write_text(f"{KEY}\n", encoding="ascii")
    clock = FakeClock(MORNING)
    names = (f"{number:016x}" for number in itertools.count(0x5F1D0C2AB8E94D17, 0x1111111111111111))
    # Heads and checkpoints only where a process comes and goes: what is written does not hang on
    # the time it takes.
    options = TrailOptions(key=load_key(folder / "key"), checkpoint_s=1e9, head_ms=1e12)
    first, second = [
        Trail(folder / "trail", options, clock, lambda: next(names), pid, secret=lambda: bytes(32))
        for pid in (_one, _other)
    ]
    store = SqliteStore(folder / "state.db", clock)
    file = folder / "policy.yaml"
    _work(shield_for(file, clock=clock, store=store, journal=Timed(first), source=str(file)), clock)
    given = {
        "name": "given",
        "guards": [{"use": "tool_denylist", "tools": ["rm"], "log_pass": True}],
    }
    shield = shield_for(given, clock=clock, store=store, journal=Timed(second))
    _lose(shield, clock)
    _hold(store)
    shield.safe_mode(True, "too much going on", tenant="acme")
    first.close()
    second.close()
    store.close()
    shutil.copytree(folder / "trail", folder / "edited")
    (segment,) = (folder / "edited/5f1d0c2ab8e94d17").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b'"tool":"deploy"', b'"tool":"delete"'))


def _one() -> int:
    return 4711


def _other() -> int:
    return 4712


def _work(shield: Shield, clock: FakeClock) -> None:
    """A run that does well, one that a guard halts, and one that somebody cancels."""

    def read_file(path: str) -> dict[str, Any]:
        clock.advance(7)
        return {"path": path, "text": "def login(): ..."}

    with shield.run("builder-1", "fix-login") as run:
        run.prompt("make the login work again")
        run.keep("the login misses a check")
        for path in ("src/login.py", "src/session.py"):
            clock.advance(1_200)
            run.call(read_file, path=path)
        clock.advance(300)
        run.check("deploy", {"to": "production", "token": "s3cr3t"})
        run.check("bash", {"command": "pytest"})
        run.check("bash", {"command": "git push"})
    clock.advance(60_000)
    with shield.run("builder-2", "tidy") as run:
        run.check("wipe", {"path": "/"})
    with shield.run("builder-2", "tidy", id="second-try") as run:
        run.check("read_file", {"path": "README.md"})
        clock.advance(95_000)
        run.cancel("it takes too long")


def _lose(shield: Shield, clock: FakeClock) -> None:
    """A run of which nobody knows how it ended."""
    run = shield.run("stray")
    run.check("ls", {})
    clock.advance(5_000)
    run.judge("model_call", messages=[{"role": "user", "content": "what now?"}], model="m")


BAND = ((5_000_000, Action.BLOCK),)


def _hold(store: SqliteStore) -> None:
    """Money and a slot that a call has taken, and a counter with a window."""
    lines = (
        Line(
            key("default", "budget", "purse", "cost_microusd", "task", "fix-login"),
            BAND,
            2,
            hold_ms=600_000,
        ),
        Line(key("default", "slots", "gpu"), ((2, Action.QUEUE),), hold_ms=60_000, keep=False),
        Line(
            key("default", "rate", "agent", "builder-1") + "/60000",
            ((9, Action.BLOCK),),
            window_ms=60_000,
        ),
    )
    own = (key("default", "own-guard", "run: 1"), {"seen": ["a1", "b2"]}, When.JUDGED, 0, 0)
    store.carry(
        Batch("call-1", "default", lines=lines, amounts=(1, 900, 250_000, 0, 0), puts=(own,))
    )
