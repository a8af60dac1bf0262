"""`stanchion demo`: watch a scripted agent walk into hazards, and what catches it."""

from __future__ import annotations

from contextlib import closing
from itertools import groupby
from typing import Any, Final

from stanchion.cli.command import Args, DeclaredCommand, option
from stanchion.cli.screen import Screen
from stanchion.ops.demo.hazard import DemoTally, HazardOutcome, HazardStep
from stanchion.ops.demo.hazards import HAZARDS
from stanchion.ops.demo.measured import sums
from stanchion.ops.demo.play import POLICY, Books, Demo
from stanchion.ops.views.veiled import json_line
from stanchion.telemetry.loggers import hush

BAR: Final = 16
"""How wide the bar is that shows how far the demo has come."""

COLOURS: Final = {
    "ALLOW": "good",
    "WARN": "note",
    "REDACT": "change",
    "DEGRADE": "change",
    "RETRY": "note",
    "QUEUE": "wait",
    "ESCALATE": "wait",
    "BLOCK": "bad",
    "QUARANTINE": "bad",
    "HALT": "bad",
    "DEADLINE": "note",
    "FAILED": "note",
}


def run(args: Args) -> int:
    """Play the demo; 0 if every hazard was handled as expected, 1 if not."""
    if args.show_policy:
        print(POLICY.read_text("utf-8"), end="")
        return 0
    hush()
    with closing(Demo(args.policy)) as demo:
        if args.json:
            return _print_lines(demo)
        screen = Screen.on_stdout(hurry=args.fast)
        try:
            return _show(demo, screen)
        finally:
            screen.close()


def _print_lines(demo: Demo) -> int:
    handled = True
    for outcome in demo.play(HAZARDS):
        handled = handled and not outcome.faults
        line = {
            "hazard": outcome.hazard.name,
            "title": outcome.hazard.title,
            "handled": not outcome.faults,
            "faults": outcome.faults,
            "expected": outcome.hazard.expects,
            "steps": outcome.steps,
            "rule": outcome.rule,
            "proof": outcome.proof.words,
            "tally": outcome.tally,
            "records": outcome.records,
            "head": outcome.head,
        }
        print(json_line(line).decode(), end="", flush=True)
    return 0 if handled and demo.books().verifies else 1


def _show(demo: Demo, screen: Screen) -> int:
    screen.text()
    screen.text(f"Stanchion demo: a scripted agent walks into {len(HAZARDS)} hazards.", "title", 1)
    screen.text(
        "No model, no network. Every verdict is a real decision, every record is kept.", "dim", 1
    )
    screen.pause(0.7)
    missed = []
    for outcome in demo.play(HAZARDS):
        _show_outcome(screen, outcome)
        if outcome.faults:
            missed.append(outcome.hazard.name)
    screen.close()
    books = demo.books()
    _show_end(screen, demo.tally(), books, missed)
    return 1 if missed or not books.verifies else 0


def _show_outcome(screen: Screen, outcome: HazardOutcome) -> None:
    screen.text()
    screen.text(f"{outcome.number:2}  {outcome.hazard.title}", "title")
    screen.text(outcome.hazard.story, "dim", 4)
    screen.pause(0.25)
    for _, alike in groupby(outcome.steps, key=_alike):
        _show_steps(screen, list(alike))
    if outcome.rule:
        screen.labelled("policy", outcome.rule, "dim")
    if outcome.faults:
        screen.labelled(screen.sign("✗", "!!"), "NOT HANDLED AS EXPECTED", "on bad", "bad")
        for fault in outcome.faults:
            screen.labelled("", fault, "bad")
    else:
        screen.labelled(screen.sign("✓", "ok"), outcome.proof.words, label_style="good")
    screen.status(*_standing(screen, outcome))
    screen.pause(0.45)


def _alike(step: HazardStep) -> tuple[Any, ...]:
    """Steps that are shown once, with how often they were taken."""
    return step.who, step.did, step.brief, [also.code for also in step.also]


def _show_steps(screen: Screen, steps: list[HazardStep]) -> None:
    step = steps[0]
    often = f"  {screen.sign('×', 'x')}{len(steps)}" if len(steps) > 1 else ""
    screen.labelled(step.who, f"{step.did}{often}")
    screen.pause(0.22)
    if not step.verdict:
        return
    screen.labelled(
        step.verdict,
        step.why if step.why else "goes ahead",
        label_style=f"on {COLOURS[step.verdict]}",
    )
    named = [(also.guard, also.code) for also in step.also]
    if step.guard and (step.guard, step.code) not in named:
        screen.labelled("guard", f"{step.guard} ({step.code})")
    if step.advice and not named:
        screen.labelled("advice", step.advice)
    for also in step.also:
        screen.labelled("guard", f"{also.guard} ({also.code}): {also.why}")
    for would in step.shadow:
        screen.labelled("shadow", f"{would.guard} would say {would.verdict}: {would.why}", "note")


def _standing(screen: Screen, outcome: HazardOutcome) -> tuple[str, ...]:
    """How things stand, in forms from the longest to the shortest."""
    tally = outcome.tally
    full = outcome.number * BAR // outcome.of
    bar = screen.sign("━", "#") * full + screen.sign("┄", "-") * (BAR - full)
    done = f"{outcome.number}/{outcome.of}"
    counts = (
        f"went ahead {tally.went_ahead}  changed {tally.changed}  refused {tally.refused}  "
        f"waiting {tally.waiting}"
    )
    return f" {bar} {done}   {counts}", f" {done}  {counts}", f" {bar} {done}", f" {done}"


def _show_end(screen: Screen, tally: DemoTally, books: Books, missed: list[str]) -> None:
    screen.text()
    screen.text("Summary", "title", 4)
    screen.labelled(
        "went ahead", f"{tally.went_ahead:2}  of {tally.actions} actions", label_style="good"
    )
    screen.labelled("changed", f"{tally.changed:2}  and went ahead", label_style="change")
    screen.labelled("refused", f"{tally.refused:2}", label_style="bad")
    screen.labelled(
        "waiting", f"{tally.waiting:2}  for a person, or for a place in line", label_style="wait"
    )
    whole = "its files verify, read by code that shares only the format"
    screen.labelled(
        "trail", f"{books.records} records; {'THEY DO NOT VERIFY' if books.faults else whole}"
    )
    for fault in books.faults:
        screen.labelled("", fault, "on bad")
    screen.labelled("head", books.head, "dim")
    noticed = books.noticed if books.noticed else "NOT NOTICED"
    screen.labelled("forgery", f"one bit of record {books.forged} turned over in a copy: {noticed}")
    handled = len(HAZARDS) - len(missed)
    screen.text()
    if missed:
        screen.text(
            f"{len(missed)} of {len(HAZARDS)} hazards NOT handled as expected: {', '.join(missed)}",
            "on bad",
            4,
        )
    else:
        screen.text(f"All {handled} hazards were handled as expected.", "good", 4)
    screen.text()
    _show_measured(screen)
    screen.text()


def _show_measured(screen: Screen) -> None:
    """Say what the script does not show: how guards do on calls that nobody tuned them to."""
    screen.text(
        "The script is ours. Of calls whose writers did not know the guards, and which nobody read "
        "since:",
        "",
        4,
    )
    for one in sums():
        found = (
            f"found {one.found} of {one.attacks} attacks, disturbed {one.disturbed} of "
            f"{one.honest} honest calls"
        )
        screen.labelled(one.guard, found)


DEMO_COMMAND: Final = DeclaredCommand(
    usage="stanchion demo [--fast] [--json] [--policy POLICY] [--show-policy]",
    description="""\
A scripted agent, without a model or a network, runs into hazards one by one, and a real
shield judges every step. You see its decisions under the demo's policy.""",
    epilog="""\
examples:
  stanchion demo
  stanchion demo --show-policy > mine.yaml
  stanchion demo --policy mine.yaml

Remove a rule from mine.yaml, and the demo shows what is no longer caught.

exit status:
  0  every hazard was handled as expected
  1  a hazard was not handled as expected, or the trail does not verify
  2  the policy cannot be used""",
    options=(
        option("--fast", "do not pause between hazards"),
        option("--json", "one line of JSON for each hazard"),
        option("--policy POLICY", "judge by this policy, a file or a pack", default=POLICY),
        option("--show-policy", "print the demo's own policy and do nothing else"),
    ),
    work=run,
)
