"""`stanchion demo`: watch a scripted agent walk into hazards, and what catches it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import groupby
from typing import Final

from stanchion.cli.command import Args, DeclaredCommand, group, one_of, option
from stanchion.cli.printing import put_view, row, style_of
from stanchion.cli.terminal import Terminal
from stanchion.kernel.actions import NAMES, Action
from stanchion.ops.demo.play import POLICY, Books, Demo
from stanchion.ops.demo.scenes import SCENES, DemoScene, DemoStep, PlayedScene
from stanchion.telemetry.loggers import hush

WIDTH: Final = 110
"""How wide lines are where there is no terminal."""


def run(args: Args) -> int:
    """Play the demo; 0 if every scene went as expected, 1 if not."""
    if args.show_policy:
        print(POLICY.read_text("utf-8"), end="")
        return 0
    chosen = _chosen(args)
    missed = []
    hush()
    with closing(Demo(args.policy)) as demo:
        for played in demo.play(chosen):
            put_view(played, _lines, args.json)
            missed += [played.scene.name] if played.faults else []
        books = demo.books()
    put_view(books, partial(_end, missed), args.json)
    return 1 if missed or not books.verifies else 0


def _chosen(args: Args) -> list[DemoScene]:
    if args.scene is None:
        return [one for one in SCENES if one.short or args.all]
    name = one_of("--scene", args.scene, [one.name for one in SCENES])
    return [one for one in SCENES if one.name == name]


def _lines(played: PlayedScene, terminal: Terminal) -> Iterator[str]:
    terminal = terminal._replace(width=terminal.width or WIDTH)
    yield terminal.paint(played.scene.title, "bold")
    before = ""
    for (who, did, verdict), alike in groupby(played.steps, key=_apart):
        steps = list(alike)
        style = style_of(Action[verdict]) if verdict in NAMES else STYLES.get(verdict, "dim")
        whose = f"{who}: " if verdict and who != "agent" else ""
        often = f"  x{len(steps)}" if len(steps) > 1 else ""
        yield from row(verdict if verdict else who, f"{whose}{did}{often}", terminal, style)
        why = steps[-1].why
        if why and (not before or before not in why):
            yield from row("", why, terminal)
        before = why
        for one in steps[0].shadow:
            yield from row("", f"in shadow mode, {one.guard} says {one.action}", terminal)
    yield from row("policy", played.rule, terminal) if played.rule else ()
    for fault in played.faults:
        yield terminal.paint(f"  NOT AS EXPECTED: {fault}", "bad")


def _apart(step: DemoStep) -> tuple[str, str, str]:
    """What tells a step from the next: those alike are shown once."""
    return step.who, step.did, step.verdict


STYLES: Final = {"FAILED": "mild", "DEADLINE": "mild", "REFUSED": "bad", "APPROVED": "good"}


def _end(missed: list[str], books: Books, terminal: Terminal) -> Iterator[str]:
    forged = "is noticed" if books.noticed else "IS NOT NOTICED"
    trail = f"{books.records} records verify; one bit turned over in a copy of it {forged}"
    yield f"the trail: {trail}"
    for fault in books.faults:
        yield terminal.paint(f"  {fault}", "bad")
    if missed:
        yield terminal.paint(f"NOT handled as expected: {', '.join(missed)}", "bad")
    yield "more: `stanchion demo --all`; one of them: `--scene NAME`; the policy: `--show-policy`"


DEMO_COMMAND: Final = DeclaredCommand(
    usage="stanchion demo [--all | --scene NAME] [--json] [--policy POLICY] [--show-policy]",
    description="""\
A scripted agent, without a model or a network, walks into hazards one by one, and a real
shield judges every step. Each scene ends with the line of the policy that made it.""",
    epilog="""\
examples:
  stanchion demo
  stanchion demo --scene hijacked
  stanchion demo --show-policy > mine.yaml
  stanchion demo --all --policy mine.yaml

Remove a rule from mine.yaml, and the demo shows what is no longer caught.

exit status:
  0  every scene went as expected
  1  a scene did not go as expected, or the trail does not verify
  2  the policy cannot be used, or there is no such scene""",
    options=(
        group(
            "",
            option("--all", "show every hazard, not only six"),
            option("--scene NAME", "show this one"),
        ),
        option("--json", "one line of JSON for each scene, and one for the trail"),
        option("--policy POLICY", "judge by this policy, a file or a pack", default=POLICY),
        option("--show-policy", "print the demo's own policy and do nothing else"),
    ),
    work=run,
)
