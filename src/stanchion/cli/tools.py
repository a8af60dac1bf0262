"""`stanchion tools`: how well each tool works, and whether it is left alone for a time."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Purpose
from stanchion.approvals.errors import TicketError
from stanchion.approvals.request import Request
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.cells import name_of
from stanchion.cli.operating import NOW, loaded
from stanchion.cli.parser import Parser, nearest
from stanchion.cli.stores import opened
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.times import shown, span
from stanchion.cli.trouble import BadInput
from stanchion.cli.veiled import veiled
from stanchion.cli.whose import add_project, tenant_of, whose
from stanchion.guards.breaker import Circuit, circuit_of
from stanchion.guards.health import score
from stanchion.guards.schema.tools import EVERYBODY, differing
from stanchion.kernel.gates import standing_of
from stanchion.kernel.registers import outcomes
from stanchion.kernel.state import FOREVER, STANDING, StoreLost
from stanchion.kernel.states import NORMAL, phase
from stanchion.runtime.errors import NoTenant
from stanchion.runtime.pinning import pins_key, pins_of
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store

USAGE: Final = """stanchion tools [list] [NAME] [--tenant NAME] [--store URL] [--json]
       stanchion tools reset NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       stanchion tools accept NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]"""

DESCRIPTION: Final = """\
list    how well each tool has worked lately and in all, whether its breaker lets calls
        through, and whether it is isolated
reset   let a tool be called again at once: its breakers are closed, for every process
accept  take the definition of a tool that has changed since it was pinned: its calls ask
        nobody any more"""

EPILOG: Final = """\
examples:
  stanchion tools
  stanchion tools list send_mail --json
  stanchion tools reset send_mail --why 'the mail server is back'

Health is how much of a hundred of a tool's last calls went well; reliability counts all of
them. Both come from the `health` guard, breakers from the `breaker` guard. The store is
that of the project (`stanchion state --where`), or where STANCHION_STORE says; a reset is
written to the trail.

exit status:
  0  it is shown or done, or there is nothing yet
  1  there is nothing to reset or to accept
  2  the store cannot be used"""

NOTHING: Final = 1
VERBS: Final = ("list", "reset", "accept")


class Broken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A breaker of a tool: `closed`, `open` or `half_open`. `agent` where it is one agent's own."""

    guard: str
    state: str
    until: int = 0
    cooldown_s: float = 0.0
    failures: int = 0
    successes: int = 0
    probing: bool = False
    agent: str = ""
    shadow: bool = False


class ToolState(msgspec.Struct):
    """A tool as the store knows it."""

    tenant: str
    tool: str
    health: int | None = None
    recent: int = 0
    calls: int = 0
    failures: int = 0
    breakers: list[Broken] = []
    state: str = ""
    until: int = 0


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "show how well each tool works, and reset one that is left alone"
    parser: Parser = commands.add_parser("tools", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument(
        "verb", metavar="list|reset|accept", nargs="?", default="list", help="what to do (default: list)"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="a tool")
    parser.add_argument(
        "--tenant", metavar="NAME", help="whose; STANCHION_TENANT if none is named, and for reset else `default`"
    )
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--why", metavar="WORDS", default="", help="why it is reset, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="what you are called, where no key says so")
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each tool")
    add_answerer(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tools, or reset one."""
    if args.verb not in VERBS:
        known = "write `list`, `reset` or `accept`"
        raise BadInput(f"`stanchion tools` cannot `{args.verb}`: {nearest(args.verb, VERBS, known)}")
    if args.verb != "list":
        return _reset(args) if args.verb == "reset" else _accept(args)
    with opened(args.store, whose(args.project, args.store)) as store:
        if store is None:
            return 0
        each = [(one, veiled(one)) for one in tools(store, wall_ms())]
    tenant = tenant_of(args.tenant)
    found = [shown for one, shown in each if _fits(one, args.name, tenant) or _fits(shown, args.name, tenant)]
    if args.json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
    else:
        _show(found)
    return 0


def _fits(one: ToolState, name: str, tenant: str | None) -> bool:
    return name in ("", one.tool) and tenant in (None, one.tenant)


def _reset(args: argparse.Namespace) -> int:
    if not args.name:
        raise BadInput("which tool? write `stanchion tools reset NAME`; `stanchion tools` shows them")
    try:
        with loaded(args) as shield:
            closed = shield.reset_tool(args.name, args.tenant, args.why, answerer(args, shield))
    except (StoreLost, NoTenant, TicketError) as error:
        raise BadInput(str(error)) from None
    said = "its breaker is closed" if closed else "no breaker of it is open, and none has counted a failure"
    say(sys.stdout, f"{veiled(args.name)}: {said}")
    return 0 if closed else NOTHING


def _accept(args: argparse.Namespace) -> int:
    if not args.name:
        raise BadInput("which tool? write `stanchion tools accept NAME`")
    tenant = EVERYBODY if args.tenant is None else args.tenant
    try:
        with loaded(args) as shield:
            kept = pins_of(shield.store.read(pins_key(tenant))[1])
            parts = kept.seen.get(args.name)
            if parts is None:
                say(sys.stdout, f"{veiled(args.name)}: no other definition of it was seen")
                return NOTHING
            said = {"parts": parts, "why": args.why}
            shield.act(
                Request(purpose=Purpose.TOOL, tenant=tenant, subject=args.name, said=said), answerer(args, shield)
            )
    except (StoreLost, TicketError) as error:
        raise BadInput(str(error)) from None
    say(sys.stdout, f"{veiled(args.name)}: {differing(parts, kept.tools.get(args.name, {}))}, and that is accepted")
    return 0


def tools(store: Store, now: int) -> list[ToolState]:
    """Every tool that a store knows something about, by tenant and name."""
    found: dict[tuple[str, str], ToolState] = {}
    for cell in store.look():
        name = name_of(cell.key)
        if cell.key.endswith(STANDING):
            for marked, mark in standing_of(cell.value).marks.items():
                kind, _, tool = marked.partition(":")
                state, _, until = phase(mark, now)
                if kind == "tool" and state != NORMAL:
                    one = _of(found, name.tenant, tool)
                    one.state, one.until = NOW[state], until if until < FOREVER else 0
        match name.parts:
            case ("breaker", tool, counter, *whose) if cell.value is not None:
                agent = whose[1] if len(whose) == 2 else ""
                broken = _broken(circuit_of(cell.value), counter, agent, name.shadow, now)
                _of(found, name.tenant, tool).breakers.append(broken)
            case ("health", tool) if not name.shadow:
                one = _of(found, name.tenant, tool)
                one.health, one.recent = score(cell.number), outcomes(cell.number).known
            case ("reliability", tool, "calls") if not name.shadow:
                _of(found, name.tenant, tool).calls = cell.number
            case ("reliability", tool, "failures") if not name.shadow:
                _of(found, name.tenant, tool).failures = cell.number
    return [one for _, one in sorted(found.items())]


def _of(found: dict[tuple[str, str], ToolState], tenant: str, tool: str) -> ToolState:
    return found.setdefault((tenant, tool), ToolState(tenant, tool))


def _broken(circuit: Circuit, guard: str, agent: str, shadow: bool, now: int) -> Broken:
    if not circuit.until:
        return Broken(guard, "closed", failures=circuit.failures, agent=agent, shadow=shadow)
    probing = bool(circuit.probe) and now < circuit.expires
    state = "open" if now < circuit.until else "half_open"
    cooldown_s = circuit.cooldown_ms / 1_000
    return Broken(guard, state, circuit.until, cooldown_s, 0, circuit.successes, probing, agent, shadow)


def _show(found: list[ToolState]) -> None:
    if not found:
        put(sys.stdout, "no tool is known yet: `health` and `breaker` guards learn of one with its first outcome")
        return
    terminal = Terminal.of(sys.stdout, os.environ)
    columns = ("tool", "tenant", "health", "calls", "reliability", "state", "breaker")
    rows = [
        (
            one.tool,
            one.tenant,
            "" if one.health is None else str(one.health),
            str(one.recent) if one.recent else "",
            f"{one.calls - one.failures:,} of {one.calls:,}" if one.calls else "",
            f"{one.state} until {shown(one.until)}" if one.until else one.state,
            "; ".join(_words(broken) for broken in one.breakers),
        )
        for one in found
    ]
    alone = len({one.tenant for one in found}) == 1 and found[0].tenant == "default"
    shown_at = [at for at, name in enumerate(columns) if not (alone and name == "tenant")]
    cells = [tuple(row[at] for at in shown_at) for row in rows]
    styles = [_styles(one) for one in found]
    heading = tuple(columns[at] for at in shown_at)
    for line in table(heading, cells, ("health", "calls", "reliability"), terminal, styles):
        put(sys.stdout, line)


def _words(broken: Broken) -> str:
    whose = f" ({broken.agent})" if broken.agent else ""
    whose += " in shadow mode" if broken.shadow else ""
    if broken.state == "closed":
        counted = f", {broken.failures} failed" if broken.failures else ""
        return f"closed{counted}{whose}"
    lasts = span(round(broken.cooldown_s * 1_000))
    if broken.state == "open":
        return f"open until {shown(broken.until)}, for {lasts}{whose}"
    trying = "a call tries it" if broken.probing else "the next call tries it"
    return f"half-open, {trying}, {broken.successes} went well, after {lasts}{whose}"


def _styles(one: ToolState) -> dict[str, str]:
    health = {} if one.health is None else {"health": _graded(one.health)}
    enforced = {broken.state for broken in one.breakers if not broken.shadow}
    worst = "bad" if "open" in enforced else "mild" if "half_open" in enforced else ""
    return health | ({"breaker": worst} if worst else {}) | ({"state": "mild"} if one.state else {})


def _graded(health: int) -> str:
    return "good" if health >= 80 else "mild" if health >= 50 else "bad"
