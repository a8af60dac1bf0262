"""`stanchion lint`: find mistakes in a policy, and what is probably not intended."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from stanchion.cli.options import ONE_LINE, option
from stanchion.cli.policy_trust import ProjectTrust
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, put_line, visible
from stanchion.cli.trouble import BadInput
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.lint import Linted, lint, lint_found
from stanchion.policy.schema import always_active
from stanchion.policy.whereabouts import FOUND as FOUND_POLICY

CLEAN: Final = 0
FOUND: Final = 1
FAULTY: Final = 2
STYLES: Final = {"fault": "bad", "certain": "bad", "likely": "mild", "info": "dim"}

USAGE: Final = "stanchion lint POLICY [--tools FILE] [--env NAME] [--json]"

DESCRIPTION: Final = """\
Find everything that is wrong with a policy at once, each with file, line and column: faults
that keep it from loading, and findings in a policy that does load, such as rules that never
apply or are never reached, conditions that contradict themselves, names that are probably
misspelled, declarations that nothing uses, warnings that every agent gets, no guards at
all, and rules that read arguments which none of their tools has."""

EPILOG: Final = """\
Each line says how certain it is: fault, certain, likely, or info. Info is not a mistake but
easily forgotten (guards that are switched off or only watch) and does not change the exit
status. Every environment is checked, unless you name one. `found` means your own policy
with the project's policies applied to it, and shows which parts of them are left out.
Tools are known by their `schema` in the policy, and by --tools: the result of MCP's
`tools/list`, or a list of definitions as OpenAI's or Anthropic's interfaces take them.

examples:
  stanchion lint policy.yaml
  stanchion lint policy.yaml --tools tools.json
  stanchion lint policy.yaml --env trial
  stanchion lint policy.yaml --json | jq .findings

exit status:
  0  nothing was found, or only information
  1  the policy loads, but something in it is probably or certainly a mistake
  2  it does not load"""


OPTIONS: Final = (
    option("policy POLICY", "a policy file, a pack, or `found`"),
    option("--tools FILE", "hold it against these definitions of tools, as JSON"),
    option("--env NAME", "check only this environment"),
    ONE_LINE,
)


def run(args: argparse.Namespace) -> int:
    """Look a policy over and say what was found."""
    linted: Linted | None = None
    faults: tuple[Fault, ...] = ()
    try:
        linted = (
            lint_found(args.env, ProjectTrust().trusts, tools=_schemas(args.tools))
            if args.policy == FOUND_POLICY
            else lint(args.policy, args.env, _schemas(args.tools))
        )
    except PolicyError as error:
        faults = error.faults
    if args.json:
        found = {
            "policy": args.policy,
            "faults": faults,
            "findings": () if linted is None else linted.remarks,
        }
        put_json(found)
    else:
        terminal = Terminal.of_stdout()
        for sure, place, words in _lines(faults, linted):
            put_line(
                f"{visible(place)}: {terminal.paint(sure, STYLES[sure])}: {visible(words)}",
            )
        put_line(terminal.paint(visible(_summary(args.policy, faults, linted)), "bold"))
    if linted is None:
        return FAULTY
    return CLEAN if linted.clean else FOUND


def _schemas(file: str | None) -> dict[str, Any]:
    """The schemas of the tools that a file defines: an MCP `tools/list` result, or a list of
    OpenAI's or Anthropic's definitions."""
    if file is None:
        return {}
    from stanchion.runtime.calling.tool_formats import definitions

    try:
        with open(file, "rb") as opened:
            return {one.name: one.schema for one in definitions(json.load(opened))}
    except (OSError, ValueError) as error:
        raise BadInput(f"`--tools` cannot be used: {error}") from None


def _lines(faults: tuple[Fault, ...], linted: Linted | None) -> list[tuple[str, str, str]]:
    if linted is None:
        return [("fault", fault.place, fault.message) for fault in faults]
    return [
        (each.sure, each.place, str(each).removeprefix(f"{each.place}: "))
        for each in linted.remarks
    ]


def _summary(policy: str, faults: tuple[Fault, ...], linted: Linted | None) -> str:
    if linted is None:
        return f"{policy} does not load: {_count(len(faults), 'fault')}"
    findings = [remark for remark in linted.remarks if remark.sure != "info"]
    said = (
        f"{policy} loads: {_count(len(findings), 'finding')}" if findings else f"{policy} is clean"
    )
    more = len(linted.remarks) - len(findings)
    seen = next(iter(linted.checked.values()))
    over = (
        f"{_count(len(always_active(seen.file)), 'guard')}, "
        f"{_count(len([e for e in linted.checked if e]), 'environment')}"
    )
    return f"{said}{f', {more} to know' if more else ''} ({over})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
