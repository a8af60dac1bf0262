"""`stanchion policy lint` and `schema`: find mistakes in a policy, and the JSON Schema by which an
editor finds them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from stanchion.cli.command import ONE_LINE, Args, BadInput, DeclaredCommand, in_words, option
from stanchion.cli.policies import ProjectTrust
from stanchion.cli.printing import put_view
from stanchion.cli.terminal import Terminal, tell, visible
from stanchion.ops.views.amounts import counted
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.json_schema import policy_schema
from stanchion.policy.lint import Linted, lint, lint_found
from stanchion.policy.project_policies import FOUND as FOUND_POLICY
from stanchion.policy.schema import always_active
from stanchion.runtime.calling.tool_formats import definitions

CLEAN: Final = 0
FOUND: Final = 1
FAULTY: Final = 2
STYLES: Final = {"fault": "bad", "certain": "bad", "likely": "mild", "info": "dim"}


def look_over(args: Args) -> int:
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
    data = {
        "policy": args.policy,
        "faults": faults,
        "findings": () if linted is None else linted.remarks,
    }

    def lines(_: Any, terminal: Terminal) -> Iterator[str]:
        for sure, place, words in _lines(faults, linted):
            yield f"{visible(place)}: {terminal.paint(sure, STYLES[sure])}: {visible(words)}"
        yield terminal.paint(visible(_summary(args.policy, faults, linted)), "bold")

    put_view(data, lines, args.json)
    if linted is None:
        return FAULTY
    return CLEAN if linted.clean else FOUND


def _schemas(file: str | None) -> dict[str, Any]:
    """The schemas of the tools that a file defines: an MCP `tools/list` result, or a list of
    OpenAI's or Anthropic's definitions."""
    if file is None:
        return {}
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
        return f"{policy} does not load: {counted(len(faults), 'fault')}"
    findings = [remark for remark in linted.remarks if remark.sure != "info"]
    said = (
        f"{policy} loads: {counted(len(findings), 'finding')}" if findings else f"{policy} is clean"
    )
    more = len(linted.remarks) - len(findings)
    seen = next(iter(linted.checked.values()))
    over = (
        f"{counted(len(always_active(seen.file)), 'guard')}, "
        f"{counted(len([e for e in linted.checked if e]), 'environment')}"
    )
    return f"{said}{f', {more} to know' if more else ''} ({over})"


POLICY_LINT_COMMAND: Final = DeclaredCommand(
    usage="stanchion policy lint POLICY [--tools FILE] [--env NAME] [--json]",
    description="""\
Find everything that is wrong with a policy at once, each with file, line and column: faults
that keep it from loading, and findings in a policy that does load, such as rules that never
apply or are never reached, conditions that contradict themselves, names that are probably
misspelled, declarations that nothing uses, warnings that every agent gets, no guards at
all, and rules that read arguments which none of their tools has.""",
    epilog="""\
Each line says how certain it is: fault, certain, likely, or info. Info is not a mistake but
easily forgotten (guards that are switched off or only watch) and does not change the exit
status. Every environment is checked, unless you name one. `found` means your own policy
with the project's policies applied to it, and shows which parts of them are left out.
Tools are known by their `schema` in the policy, and by --tools: the result of MCP's
`tools/list`, or a list of definitions as OpenAI's or Anthropic's interfaces take them.

examples:
  stanchion policy lint policy.yaml
  stanchion policy lint policy.yaml --tools tools.json
  stanchion policy lint policy.yaml --env trial
  stanchion policy lint policy.yaml --json | jq .findings

exit status:
  0  nothing was found, or only information
  1  the policy loads, but something in it is probably or certainly a mistake
  2  it does not load""",
    options=(
        option("policy POLICY", "a policy file, a pack, or `found`"),
        option("--tools FILE", "hold it against these definitions of tools, as JSON"),
        option("--env NAME", "check only this environment"),
        ONE_LINE,
    ),
    work=look_over,
)


def write_schema(args: Args) -> int:
    """Write the schema."""
    text = json.dumps(policy_schema(), indent=None if args.json else 2) + "\n"
    if args.out is None:
        sys.stdout.write(text)
        return 0
    try:
        Path(args.out).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"`{args.out}` cannot be written: {in_words(error)}; use another file"
        ) from None
    tell(f"{args.out} is written. Put this line on top of a policy beside it:")
    tell(f"  # yaml-language-server: $schema={Path(args.out).name}")
    return 0


POLICY_SCHEMA_COMMAND: Final = DeclaredCommand(
    usage="stanchion policy schema [--out FILE] [--json]",
    description="""\
Print the JSON Schema (2020-12) of policy files, made for this version. With it
an editor completes keys, explains them, and marks mistakes as you write.""",
    epilog="""\
examples:
  stanchion policy schema --out policy.schema.json
  stanchion policy schema | jq '."$defs".StepLimitEntry'

For editors with the YAML language server, put this line on top of a policy:
  # yaml-language-server: $schema=policy.schema.json

exit status:
  0  the schema is written
  2  the file cannot be written""",
    options=(
        option("--out FILE", "write it to this file instead of printing it"),
        option("--json", "in one line"),
    ),
    work=write_schema,
)
