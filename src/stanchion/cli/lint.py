"""`stanchion lint`: find mistakes in a policy, and what cannot be meant."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

from stanchion.cli.terminal import Terminal, json_line, put, visible
from stanchion.cli.trusting import ProjectTrust
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.found_lint import lint_found
from stanchion.policy.lint import Linted, lint
from stanchion.policy.locating import FOUND as FOUND_POLICY

CLEAN: Final = 0
FOUND: Final = 1
FAULTY: Final = 2
STYLES: Final = {"fault": "bad", "certain": "bad", "likely": "mild", "info": "dim"}

USAGE: Final = "stanchion lint POLICY [--env NAME] [--json]"

DESCRIPTION: Final = """\
Find everything that is wrong with a policy at once, each with its file, line and column:
faults, because of which it does not load, and findings about a policy that does load:
rules that never apply or are never reached, conditions that contradict themselves, names
that are likely misspelt, declarations that nothing uses, warnings that everybody gets."""

EPILOG: Final = """\
Each line says how sure it is: fault, certain, likely, or info, which is no mistake but
easily forgotten (guards that are switched off or only watch) and changes no exit status.
Every environment is looked at, unless one is named. `found` stands for your own policy with
those of the project over it, and names what of them is left out.

examples:
  stanchion lint policy.yaml
  stanchion lint policy.yaml --env trial
  stanchion lint policy.yaml --json | jq .findings

exit status:
  0  nothing was found, or only what is worth knowing
  1  it loads, and something is likely or certainly not as it is meant
  2  it does not load"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "find mistakes in a policy, and what cannot be meant"
    parser = commands.add_parser("lint", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("policy", metavar="POLICY", help="a policy file, a pack, or `found`")
    parser.add_argument("--env", metavar="NAME", help="look at this environment alone")
    parser.add_argument("--json", action="store_true", help="answer with one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Look a policy over and say what was found."""
    linted: Linted | None = None
    faults: tuple[Fault, ...] = ()
    try:
        linted = (
            lint_found(args.env, ProjectTrust().trusts) if args.policy == FOUND_POLICY else lint(args.policy, args.env)
        )
    except PolicyError as error:
        faults = error.faults
    if args.json:
        found = {"policy": args.policy, "faults": faults, "findings": () if linted is None else linted.remarks}
        sys.stdout.write(json_line(found).decode())
    else:
        terminal = Terminal.of(sys.stdout, os.environ)
        for sure, place, words in _lines(faults, linted):
            put(sys.stdout, f"{visible(place)}: {terminal.paint(sure, STYLES[sure])}: {visible(words)}")
        put(sys.stdout, terminal.paint(visible(_summary(args.policy, faults, linted)), "bold"))
    if linted is None:
        return FAULTY
    return CLEAN if linted.clean else FOUND


def _lines(faults: tuple[Fault, ...], linted: Linted | None) -> list[tuple[str, str, str]]:
    if linted is None:
        return [("fault", fault.place, fault.message) for fault in faults]
    return [(each.sure, each.place, str(each).removeprefix(f"{each.place}: ")) for each in linted.remarks]


def _summary(policy: str, faults: tuple[Fault, ...], linted: Linted | None) -> str:
    if linted is None:
        return f"{policy} does not load: {_count(len(faults), 'fault')}"
    findings = [remark for remark in linted.remarks if remark.sure != "info"]
    said = f"{policy} loads: {_count(len(findings), 'finding')}" if findings else f"{policy} is clean"
    more = len(linted.remarks) - len(findings)
    seen = next(iter(linted.checked.values()))
    over = f"{_count(len(seen.file.guards), 'guard')}, {_count(len([e for e in linted.checked if e]), 'environment')}"
    return f"{said}{f', {more} to know' if more else ''} ({over})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
