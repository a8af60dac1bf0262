"""`stanchion tools`: how well each tool works, and whether it is left alone for a time."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketError
from stanchion.cli.answerers import answerer
from stanchion.cli.operator_options import loaded
from stanchion.cli.options import ANSWERER, BY, PROJECT, STORE, WHY, know_verb, option
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.stores import opened
from stanchion.cli.terminal import put_line, tell
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import tenant_of, whose
from stanchion.guards.schema.tools import EVERYBODY
from stanchion.kernel.state import StoreLost
from stanchion.ops.views.times import shown
from stanchion.ops.views.tools import ToolView, changed_definition, tools
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.errors import NoTenant
from stanchion.stores.memory import wall_ms

USAGE: Final = """stanchion tools [list] [NAME] [--tenant NAME] [--store URL] [--json]
       stanchion tools reset NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       stanchion tools accept NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       stanchion tools draft FILE|MODULE
       stanchion tools draft --server NAME=COMMAND|URL [--server ...]"""

DESCRIPTION: Final = """\
list    how well each tool has worked lately and in all, whether its breaker lets calls
        through, and whether it is isolated
reset   let a tool be called again at once: its breakers are closed, for every process
accept  accept the changed or suspect definition of a tool, so that its calls need no
        approval; `list` shows the sentences that make one suspect
draft   write what tools seem to do as entries of a policy, for a person to read: by their
        names and arguments, or as the package has it that they seem to be of. FILE has
        definitions as JSON (of MCP, OpenAI or Anthropic; `-` is the input), MODULE functions
        under `@shield.tool`; with `--server` an MCP server is asked"""

EPILOG: Final = """\
examples:
  stanchion tools
  stanchion tools list send_mail --json
  stanchion tools reset send_mail --why 'the mail server is back'
  stanchion tools draft tools.json
  stanchion tools draft --server files='npx -y @modelcontextprotocol/server-filesystem .'

Health is the percentage of a tool's last calls that succeeded; reliability counts all
calls. Both come from the `health` guard, breakers from the `breaker` guard. The store is
the project's (`stanchion state --where`), or the one that STANCHION_STORE names; a reset is
written to the trail.

exit status:
  0  it is shown or done, or there is nothing yet
  1  there is nothing to reset or to accept
  2  the store cannot be used"""

NOTHING: Final = 1
VERBS: Final = ("list", "reset", "accept", "draft")


OPTIONS: Final = (
    option("verb list|reset|accept|draft", "what to do (default: list)", nargs="?", default="list"),
    option("name NAME", "a tool, or for draft a file or a module", nargs="?", default=""),
    option(
        "--server NAME=WHAT",
        "for draft: an MCP server, by its command or address",
        action="append",
        default=[],
    ),
    option("--tenant NAME", "the tenant (default: STANCHION_TENANT; for reset, or else `default`)"),
    STORE,
    PROJECT,
    WHY,
    BY,
    option("--json", "answer with JSON, one line for each tool"),
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Show the tools, or reset one."""
    know_verb("tools", args.verb, VERBS, "write `list`, `reset`, `accept` or `draft`")
    if args.verb == "draft":
        from stanchion.cli.tools_draft import draft

        return draft(args)
    if args.verb != "list":
        return _reset(args) if args.verb == "reset" else _accept(args)
    with opened(args.store, whose(args.project, args.store)) as store:
        if store is None:
            return 0
        found = tools(store, wall_ms(), args.name, tenant_of(args.tenant))
    if args.json:
        put_json(*found)
    else:
        _show(found)
    return 0


def _reset(args: argparse.Namespace) -> int:
    if not args.name:
        raise BadInput(
            "which tool? write `stanchion tools reset NAME`; `stanchion tools` shows them"
        )
    with AsBadInput(StoreLost, NoTenant, TicketError), loaded(args) as shield:
        closed = shield.reset_tool(args.name, args.tenant, args.why, answerer(args, shield))
    said = (
        "its breaker is closed"
        if closed
        else "none of its breakers is open or has counted a failure"
    )
    tell(f"{veiled(args.name)}: {said}")
    return 0 if closed else NOTHING


def _accept(args: argparse.Namespace) -> int:
    if not args.name:
        raise BadInput("which tool? write `stanchion tools accept NAME`")
    tenant = EVERYBODY if args.tenant is None else args.tenant
    with AsBadInput(StoreLost, TicketError), loaded(args) as shield:
        changed = changed_definition(shield.store, args.name, tenant)
        if changed is None:
            tell(
                f"{veiled(args.name)}: no changed or suspect definition of it was seen",
            )
            return NOTHING
        said = {"parts": changed.parts, "why": args.why}
        shield.act(
            Request(purpose=Purpose.TOOL, tenant=tenant, subject=args.name, said=said),
            answerer(args, shield),
        )
    tell(f"{veiled(args.name)}: {changed.differs}, and that is accepted")
    return 0


def _show(found: list[ToolView]) -> None:
    if not found:
        put_line(
            "no tool is known yet: `health` and `breaker` guards record a tool with its first "
            "outcome",
        )
        return
    columns = ("tool", "tenant", "health", "calls", "reliability", "state", "breaker", "definition")
    rows = [
        (
            one.tool,
            one.tenant,
            "" if one.health is None else f"{one.health}%",
            f"{one.recent:,}" if one.recent else "",
            f"{one.calls - one.failures:,} of {one.calls:,}" if one.calls else "",
            f"{one.state} until {shown(one.until)}" if one.until else one.state,
            "; ".join(breaker.words for breaker in one.breakers),
            _definition(one),
        )
        for one in found
    ]
    alone = len({one.tenant for one in found}) == 1 and found[0].tenant == "default"
    needless = {"tenant"} if alone else set()
    needless |= set() if any(one.pinned for one in found) else {"definition"}
    shown_at = [at for at, name in enumerate(columns) if name not in needless]
    cells = [tuple(row[at] for at in shown_at) for row in rows]
    styles = [_styles(one) for one in found]
    heading = tuple(columns[at] for at in shown_at)
    put_table(heading, cells, ("health", "calls", "reliability"), styles)
    for one in found:
        for why in one.suspect:
            tell(f"{one.tool} is suspect: {why}")


def _definition(one: ToolView) -> str:
    said = [*([one.changed] if one.changed else []), *(["suspect"] if one.suspect else [])]
    return "; ".join(said) if said else "pinned" if one.pinned else ""


def _styles(one: ToolView) -> dict[str, str]:
    health = {} if one.health is None else {"health": _graded(one.health)}
    enforced = {broken.state for broken in one.breakers if not broken.shadow}
    worst = "bad" if "open" in enforced else "mild" if "half_open" in enforced else ""
    health |= {"breaker": worst} if worst else {}
    health |= {"definition": "asks"} if one.changed or one.suspect else {}
    return health | ({"state": "mild"} if one.state else {})


def _graded(health: int) -> str:
    return "good" if health >= 80 else "mild" if health >= 50 else "bad"
