"""The scenes of the demo, as `scenes.yaml` tells them, and what came of one that was played."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct, field

from stanchion.typed import convert


class DemoTool(Struct, frozen=True, forbid_unknown_fields=True):
    """What a tool of the demo gives, how often it fails before, and how long it takes."""

    gives: Any = "done"
    fails: int = 0
    takes_s: float = 0.0


class SceneStep(Struct, frozen=True, forbid_unknown_fields=True):
    """What is done in one step, in this order, and what is expected of it. `child` does it as an
    agent that the first has started."""

    user: str = ""
    plants: str = ""
    safe_mode: bool | None = None
    cancels: str = ""
    child: bool = False
    asks: str = ""
    tokens: int | None = None
    cost_usd: float | None = None
    hears: tuple[str, ...] = ()
    begins: dict[str, dict[str, Any]] = {}
    ends: dict[str, dict[str, Any]] = {}
    calls: dict[str, dict[str, Any]] = {}
    answers: str = ""
    waits_s: int = 0
    verdicts: tuple[str, ...] = field(name="is", default=())

    @property
    def expects(self) -> list[str]:
        """The verdicts one by one: `5 x ALLOW` stands for five."""
        each = (one.rpartition(" x ") for one in self.verdicts)
        return [verdict for times, _, verdict in each for _ in range(int(times or 1))]


class DemoScene(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing an agent walks into: add one to `scenes.yaml` and it is played, shown and checked.

    `rule` names the part of the policy to show (`agents.scout`, `tools.crawl`); without it that is
    the guard which determined the last verdict. `env` is the environment of the policy in which it
    is played, `shadow` the guards that speak without effect.
    """

    name: str
    title: str
    story: str
    steps: tuple[SceneStep, ...]
    short: bool = False
    rule: str = ""
    env: str = ""
    ran: dict[str, int] = {}
    hidden: str = ""
    shadow: tuple[str, ...] = ()


class DemoFinding(Struct, frozen=True):
    """What a guard said."""

    guard: str
    action: str
    code: str
    message: str


class DemoStep(Struct, frozen=True):
    """What was done, and what became of it: the verdict, empty where nobody judges it, and what
    guards said, the determining one first."""

    who: str
    did: str
    verdict: str = ""
    why: str = ""
    findings: tuple[DemoFinding, ...] = ()
    shadow: tuple[DemoFinding, ...] = ()
    fault: str = ""

    @property
    def brief(self) -> str:
        """The step's answer as the file of scenes writes it."""
        return " ".join([self.verdict, *[one.code for one in self.findings[:1]]])


class PlayedScene(Struct, frozen=True):
    """A scene that was played: its steps, the rule that judged it, what really ran, and what was
    not as expected, in words."""

    scene: DemoScene
    steps: tuple[DemoStep, ...]
    rule: str
    ran: dict[str, int]
    faults: tuple[str, ...]


def faults_of(
    scene: DemoScene, steps: list[DemoStep], ran: dict[str, int], leaked: bool
) -> tuple[str, ...]:
    """What of a played scene was not as expected."""
    judged = [step for step in steps if step.verdict]
    found = [step.fault for step in judged if step.fault]
    expected = [verdict for step in scene.steps for verdict in step.expects]
    for at, (want, step) in enumerate(zip_longest(expected, judged), 1):
        got = "nothing" if step is None else step.brief
        if want != got:
            wanted = "no more steps" if want is None else want
            found.append(f"step {at}: expected {wanted}, got {got}")
            break
    for tool, times in scene.ran.items():
        if ran.get(tool, 0) != times:
            found.append(f"`{tool}` ran {ran.get(tool, 0)} times, and not {times}")
    on_trial = [one.guard for step in steps for one in step.shadow]
    if on_trial != list(scene.shadow):
        found.append(f"in shadow mode spoke {', '.join(on_trial) or 'nobody'}")
    return (*found, *(["what should be hidden was seen"] if leaked else []))


FILE: Final = Path(__file__).with_suffix(".yaml")
SAID: Final = yaml.safe_load(FILE.read_text("utf-8"))
TOOLS: Final = convert(SAID["tools"], dict[str, DemoTool])
SCENES: Final = convert(SAID["scenes"], tuple[DemoScene, ...])
