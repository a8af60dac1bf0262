"""Playing the demo: one shield, one policy, one run for each scene; then the trail is verified."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct

from stanchion.approvals.answerers import By, Person
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import Operator
from stanchion.audit.reader import FoundRecord, TrailReader
from stanchion.audit.trail import Trail
from stanchion.audit.verifying.verify import verify
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Patch
from stanchion.ops.demo.operator import ANN, CAN_SIGN, ann, impostor
from stanchion.ops.demo.scenes import (
    TOOLS,
    DemoFinding,
    DemoScene,
    DemoStep,
    DemoTool,
    PlayedScene,
    SceneStep,
    faults_of,
)
from stanchion.ops.views.amounts import flow
from stanchion.policy.load import load_policy, read_policy
from stanchion.policy.said import beyond_defaults, said_of
from stanchion.policy.schema import PolicyFile
from stanchion.runtime.errors import DeadlineExceeded, Refused
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

POLICY: Final = Path(__file__).with_name("policy.yaml")
START_MS: Final = 1_767_225_600_000
"""When the demo's clocks begin, so that every run of it gives the same records."""
TICK_MS: Final = 7
SIGNED: Final = "approval"
"""The scene in which an operator answers: it is left out where the demo cannot sign."""
WHO: Final[dict[str, Callable[[], By]]] = {
    "in its shell": lambda: Person("ann"),
    "with a key of its own": impostor,
    "with ann's key": ann,
}
"""Who answers a ticket, by how it is done."""
LONG: Final = {"LONG WORDS": "spam and eggs, " * 4_000}
"""Words of a scene that stand for longer ones."""
USAGE: Final = {"input_tokens": 8_000, "output_tokens": 400}
"""What a dear model says that it has used: ten cents by the policy's prices."""
WENT: Final = "ALLOW"
REFUSED: Final = "REFUSED"


class Tap(Trail):
    """A trail whose decisions stay at hand, so that what is shown is what was decided."""

    def __init__(self, folder: Path) -> None:
        at = itertools.count(START_MS, TICK_MS)
        super().__init__(
            folder,
            clock=lambda: next(at),
            names=lambda: f"{1:016x}",
            process=lambda: 1,
            secret=lambda: bytes(32),
        )
        self.decisions: list[Decision] = []

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down, and keep it at hand."""
        self.decisions.append(decision)
        return super().write(moment, decision, took_ns, notes, hide)


class Books(Struct, frozen=True):
    """What the verifier says of the trail at the end, and of a copy with one bit of a record turned
    over."""

    records: int
    faults: tuple[str, ...]
    forged: int
    noticed: str

    @property
    def verifies(self) -> bool:
        """Whether the trail is whole, and the forged copy is not."""
        return not self.faults and f"record {self.forged} was " in self.noticed


class Demo:
    """A shield under which scenes are played; nothing in it knows what the verdicts should be."""

    def __init__(self, policy: str | Path = POLICY) -> None:
        self._policy = policy
        self._environments = frozenset(read_policy(policy).variants)
        self._folder = TemporaryDirectory(prefix="stanchion-demo-")
        self.tap = Tap(Path(self._folder.name) / "trail")
        self.reached: list[tuple[str, dict[str, Any]]] = []
        """Every call that got through to a tool, with its arguments, in order."""
        clock = itertools.count(START_MS, TICK_MS)
        self.clock: Callable[[], int] = lambda: next(clock)
        self.shield = self._shield(None)

    def _shield(self, env: str | None, operators: tuple[Operator, ...] = ()) -> Shield:
        shield = Shield(
            load_policy(self._policy, env),
            journal=self.tap,
            clock=self.clock,
            safe_mode=False,
            nonces=lambda: "0",
            env=env,
            operators=operators,
        )
        shield.occurrences.mute()
        return shield

    def play(self, scenes: Sequence[DemoScene]) -> Iterator[PlayedScene]:
        """Play scenes one by one, each in a run of its own."""
        for scene in scenes:
            if scene.name == SIGNED:
                if not CAN_SIGN:
                    continue
                shield = self._shield(None, (ANN,))
            else:
                known = scene.env in self._environments
                shield = self._shield(scene.env) if known else self.shield
            before = len(self.reached)
            with shield.run("scout", scene.name, id=scene.name) as run:
                player = Player(self, shield, run)
                for step in scene.steps:
                    player.plays(step)
            steps = player.steps
            guards = [one.guard for step in steps for one in step.findings[:1]]
            rule = scene.rule if scene.rule else guards[-1] if guards else ""
            seen = str([self.reached[before:], player.got]).encode()
            seen += b"".join([one.line.body for one in self.records()])
            leaked = bool(scene.hidden) and scene.hidden.encode() in seen
            ran = Counter([name for name, _ in self.reached[before:]])
            faults = faults_of(scene, steps, ran, leaked)
            yield PlayedScene(scene, tuple(steps), excerpt(shield.policy.file, rule), ran, faults)

    def tool(self, name: str) -> Callable[..., Any]:
        """A harmless tool, which remembers what really reached it."""
        it = TOOLS.get(name, DemoTool())

        async def run(**args: Any) -> Any:
            self.reached.append((name, args))
            await asyncio.sleep(it.takes_s)
            if [one for one, _ in self.reached].count(name) <= it.fails:
                raise ConnectionError("the service does not answer")
            return it.gives

        run.__name__ = name
        return run

    def records(self) -> Iterator[FoundRecord]:
        """What stands in the trail's files now, oldest first."""
        return TrailReader(self.tap.folder).forwards()

    def books(self) -> Books:
        """End the trail and let the verifier read its files; then do the same with a forged
        copy."""
        self.tap.close()
        report = verify(self.tap.folder)
        records = sum(chain.records for chain in report.chains)
        copy, forged = Path(self._folder.name) / "copy", records // 2
        shutil.copytree(self.tap.folder, copy)
        segment = next(copy.glob("*/00000001.jsonl"))
        lines = [bytearray(line) for line in segment.read_bytes().splitlines(keepends=True)]
        lines[forged][-len(lines[forged]) // 4] ^= 1
        segment.write_bytes(b"".join(lines))
        faults, noticed = (
            [fault.sentence for fault in one.faults] for one in (report, verify(copy))
        )
        return Books(records, tuple(faults), forged, "; ".join(noticed))

    def close(self) -> None:
        """Remove the trail."""
        self.tap.close()
        self._folder.cleanup()


class Player:
    """Does what the steps of a scene say, and keeps what came of each."""

    def __init__(self, demo: Demo, shield: Shield, run: Run) -> None:
        self._demo, self._shield, self._run = demo, shield, run
        self._child: Run | None = None
        self._words = dict(LONG)
        self._open = ""
        self.steps: list[DemoStep] = []
        self.got: list[Any] = []
        """What the agent got from tools and models."""

    def plays(self, step: SceneStep) -> None:
        """Do a step, once for each verdict that is expected of it."""
        self._arranges(step)
        who, run = "agent", self._run
        if step.child:
            self._child = self._child or run.spawn("helper", id=f"{run.id}-helper")
            who, run = "child", self._child
        for _ in step.expects or [""]:
            if step.answers:
                self._answers(step.answers)
            else:
                self._acts(step, who, run)
            until = self._demo.clock() + step.waits_s * 1_000 if step.waits_s else 0
            while self._demo.clock() < until:
                pass

    def _arranges(self, step: SceneStep) -> None:
        """What others do, and nobody judges."""
        if step.user:
            self._run.prompt(step.user)
            self._notes("user", f"says: {step.user}")
        if step.plants:
            with suppress(ValueError):  # a policy without the guard plants none
                self._words["CANARY"] = "-".join(self._run.canary(step.plants))
            self._notes("operator", f"puts a token into the {step.plants}")
        if step.safe_mode is not None:
            self._shield.safe_mode(step.safe_mode, "by an operator")
            self._notes("operator", f"switches safe mode {'on' if step.safe_mode else 'off'}")
        if step.cancels:
            self._run.cancel(step.cancels)
            self._notes("user", f"cancels the parent: {step.cancels}")

    def _notes(self, who: str, did: str) -> None:
        self.steps.append(DemoStep(who, did))

    def _acts(self, step: SceneStep, who: str, run: Run) -> None:
        """Ask a model and call tools, as the step says, and note what became of it."""
        began, did = len(self._demo.tap.decisions), []
        if step.hears:
            did.append("hears a reply in pieces")
            with suppress(Refused):
                self.got += run.stream(step.hears)
        if step.asks:
            did.append(f'asks a model: "{step.asks}"')
            asked = [{"role": "user", "content": step.asks}]
            dear = {"text": "Book it once more.", "usage": USAGE} if step.cost_usd else "I report."
            options: dict[str, Any] = {"tokens": step.tokens, "cost_usd": step.cost_usd}
            with suppress(Refused):
                self.got.append(run.model(lambda _: dear, asked, model="giant", **options))
        for name, args in step.begins.items():
            did.append(f"begins {_called(name, args)}")
            self._open = run.check(name, args).id
        for name, args in step.ends.items():
            did.append(f"has finished {_called(name, args)}")
            run.result(name, args, "copied", call=self._open)
        ended, fault = "", ""
        if all(one.proceeds for one in self._demo.tap.decisions[began:]):
            for name, args in step.calls.items():
                did.append(_called(name, args))
                reached = len(self._demo.reached)
                ended, fault = self._calls(run, name, args)
                did += [
                    f"as {_called(*one)}"
                    for one in self._demo.reached[reached:][:1]
                    if one[1] != args
                ]
        if step.expects:
            made = self._demo.tap.decisions[began:]
            self.steps.append(_played(who, ", ".join(did), made, ended, fault))
        elif did:
            self._notes(who, did[0])

    def _calls(self, run: Run, name: str, args: dict[str, Any]) -> tuple[str, str]:
        """Call a tool: gives how it ended, and whether it ran although it was refused, or did not
        although it was not."""
        meant = dict(args)
        for word, long in self._words.items():
            meant = {
                at: one.replace(word, long) if isinstance(one, str) else one
                for at, one in meant.items()
            }
        reached, ended = len(self._demo.reached), WENT
        try:
            self.got.append(asyncio.run(run.acall(self._demo.tool(name), **meant)))
        except Refused:
            ended = REFUSED
        except DeadlineExceeded:
            ended = "DEADLINE"
        except ConnectionError:
            ended = "FAILED"
        ran = len(self._demo.reached) > reached
        return ended, "" if ran == (
            ended != REFUSED
        ) else f"`{name}` {'ran' if ran else 'did not run'}"

    def _answers(self, how: str) -> None:
        """Answer the question that waits."""
        waiting = [one.id for one in self._shield.tickets() if one.tool == "pay_invoice"]
        verdict, why = "APPROVED", ""
        try:
            self._shield.approve(waiting[0] if waiting else "none", by=WHO[how]())
        except TicketError as error:
            verdict, why = "REFUSED", str(error).partition(": ")[2]
        self.steps.append(DemoStep("agent", f"answers {how}", verdict, why))


def _played(who: str, did: str, made: list[Decision], ended: str, fault: str) -> DemoStep:
    """A step by the severest of its decisions: of two alike by the one that says something."""
    if ended not in ("", REFUSED):
        # What a person was asked about goes ahead only where that person has agreed.
        made = [one for one in made if one.action != Action.ESCALATE]
    worst = max(made, key=lambda one: (one.action, bool(one.findings)))
    said = {(one.guard, one.code): one for each in made for one in each.findings}
    first = worst.determining
    late = ended not in ("", WENT, REFUSED)
    if first is not None:
        said = {(first.guard, first.code): first, **said} if not late else said
    findings = tuple(map(_finding, said.values()))
    shadow = tuple([_finding(one) for each in made for one in each.shadow])
    verdict = ended if late else worst.action.name
    asked = first is not None and first.said == Action.ESCALATE != first.action
    why = findings[-1].message if late and findings else "" if asked else worst.message
    return DemoStep(who, did, verdict, why, findings, shadow, fault)


def _finding(one: Finding) -> DemoFinding:
    return DemoFinding(one.guard, one.action.name, one.code, one.message)


def _called(name: str, args: dict[str, Any]) -> str:
    return f"{name}({', '.join([f'{at}={_quoted(one)}' for at, one in args.items()])})"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


APART: Final = frozenset({"id", "deadline_ms"})
"""What is shown elsewhere or explains nothing."""


def excerpt(policy: PolicyFile, path: str) -> str:
    """The guard with that id, or the entry at `agents.NAME` or `tools.NAME`, written in one line;
    else empty."""
    room, _, name = path.partition(".")
    if name:
        entry = getattr(policy, room).get(name)
        return "" if entry is None else f"{room}: {flow({name: beyond_defaults(entry)})}"
    said = {name: value for name, value in said_of(policy, path).items() if name not in APART}
    return flow(said) if said else ""
