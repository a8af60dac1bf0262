"""`stanchion tools`: how well each tool works, whether it is left alone for a time, and what it
seems to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.cli.answerers import answerer, loaded
from stanchion.cli.command import (
    ANSWERER,
    BY,
    PROJECT,
    STORE,
    WHY,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    Verb,
    option,
)
from stanchion.cli.mcp import named_server
from stanchion.cli.printing import Layout, put_found
from stanchion.cli.terminal import put_line, tell
from stanchion.cli.whose import opened, tenant_of, whose
from stanchion.guards.schema.tools import EVERYBODY
from stanchion.kernel.regex import regex
from stanchion.ops.views.amounts import shown
from stanchion.ops.views.drafts import DraftView, drafts
from stanchion.ops.views.standing import ToolView, changed_definition, tools
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.calling.tool import MARK, Tool
from stanchion.runtime.calling.tool_formats import definitions
from stanchion.stores.memory import wall_ms

HEADING: Final = """\
# Drafted from names: read every line before you use it, those with `?` first.
# A name is no proof: `as PACKAGE` is what that package does, whoever calls a tool so.
tools:"""
_PLAIN: Final = regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_NO_TEXT: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML takes for something else than text."""


def draft(args: Args) -> int:
    """Print what the tools of a file, a module or servers seem to do."""
    if bool(args.name) == bool(args.server):
        raise BadInput(
            "which tools? write `stanchion tools draft FILE`, with definitions as JSON, `stanchion "
            "tools draft MODULE`, with functions under `@shield.tool`, or `--server NAME=COMMAND`"
        )
    found = list(_of_servers(args.server) if args.server else _drafted(_given(args.name)))
    put_line(HEADING if found else "tools: {}")
    for one in found:
        put_line(_line(one))
    return 0


def _line(one: DraftView) -> str:
    said = [f"effect: {one.effect}"]
    said += [f"sinks: [{', '.join(map(_text, one.sinks))}]"] if one.sinks else []
    said += [f"result: {one.result}"] if one.result else []
    return f"  {_text(one.tool)}: {{{', '.join(said)}}}  # {'' if one.sure else '? '}{one.why}"


def _text(name: str) -> str:
    """A name as YAML has it."""
    plain = _PLAIN.fullmatch(name) is not None and name.lower() not in _NO_TEXT
    return name if plain else json.dumps(name)


def _drafted(given: Any, server: str = "") -> Iterator[DraftView]:
    with AsBadInput(ValueError):
        yield from drafts(definitions(given), server)


def _given(name: str) -> Any:
    """The definitions in a file, or the functions of a module of which their code does not say what
    they do."""
    if name != "-" and not Path(name).is_file():
        return list(_functions(name))
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise BadInput(f"`{name}` cannot be used: {error}") from None


def _functions(name: str) -> Iterator[Tool]:
    try:
        module = import_module(name)
    except ImportError as error:
        raise BadInput(f"`{name}` is no file, and no module either: {error}") from None
    for value in vars(module).values():
        made = getattr(value, MARK, value)
        if isinstance(made, Tool) and made.declared.effect is None:
            yield made


def _of_servers(servers: list[str]) -> Iterable[DraftView]:
    """The tools of servers. Where they are several, each name begins with its server's, as behind
    `stanchion mcp`."""
    try:
        from stanchion.hosts.mcp.listing import tools_of
        from stanchion.hosts.mcp.upstream import BadUpstream
    except ImportError:
        raise BadInput("asking a server needs the package `mcp`: install the extra `mcp`") from None
    for text in servers:
        with AsBadInput(BadUpstream):
            upstream = named_server(text, str)
            listed = tools_of(upstream)
        before = f"{upstream.name}__" if len(servers) > 1 else ""
        for one in _drafted(listed, upstream.name):
            yield replace(one, tool=f"{before}{one.tool}")


NOTHING: Final = 1
COLUMNS: Final = (
    "tool",
    "tenant",
    "health",
    "calls",
    "reliability",
    "state",
    "breaker",
    "definition",
)


def _list(args: Args) -> int:
    with opened(args.store, whose(args.project, args.store)) as store:
        found = (
            None if store is None else tools(store, wall_ms(), args.name, tenant_of(args.tenant))
        )
    if found is not None:
        _show(found, args.json)
    return 0


def _reset(args: Args) -> int:
    with loaded(args) as shield:
        closed = shield.reset_tool(args.name, args.tenant, args.why, answerer(args, shield))
    said = (
        "its breaker is closed"
        if closed
        else "none of its breakers is open or has counted a failure"
    )
    tell(f"{veiled(args.name)}: {said}")
    return 0 if closed else NOTHING


def _accept(args: Args) -> int:
    tenant = EVERYBODY if args.tenant is None else args.tenant
    with loaded(args) as shield:
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


def _show(found: list[ToolView], as_json: bool) -> None:
    alone = len({one.tenant for one in found}) == 1 and found[0].tenant == "default"
    needless = {"tenant"} if alone else set()
    needless |= set() if any(one.pinned for one in found) else {"definition"}
    shown_at = [at for at, name in enumerate(COLUMNS) if name not in needless]
    layout = Layout(
        [COLUMNS[at] for at in shown_at],
        lambda one: [_row(one)[at] for at in shown_at],
        ("health", "calls", "reliability"),
        "no tool is known yet: `health` and `breaker` guards record a tool with its first outcome",
        _styles,
    )
    put_found(found, layout, as_json)
    for one in () if as_json else found:
        for why in one.suspect:
            tell(f"{one.tool} is suspect: {why}")


def _row(one: ToolView) -> tuple[str, ...]:
    return (
        one.tool,
        one.tenant,
        "" if one.health is None else f"{one.health}%",
        f"{one.recent:,}" if one.recent else "",
        f"{one.calls - one.failures:,} of {one.calls:,}" if one.calls else "",
        f"{one.state} until {shown(one.until)}" if one.until else one.state,
        "; ".join(breaker.words for breaker in one.breakers),
        _definition(one),
    )


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


TOOLS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion tools [list] [NAME] [--tenant NAME] [--store URL] [--json]
       stanchion tools reset NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       stanchion tools accept NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       stanchion tools draft FILE|MODULE
       stanchion tools draft --server NAME=COMMAND|URL [--server ...]""",
    description="""\
list    how well each tool has worked lately and in all, whether its breaker lets calls
        through, and whether it is isolated
reset   let a tool be called again at once: its breakers are closed, for every process
accept  accept the changed or suspect definition of a tool, so that its calls need no
        approval; `list` shows the sentences that make one suspect
draft   write what tools seem to do as entries of a policy, for a person to read: by their
        names and arguments, or as the package has it that they seem to be of. FILE has
        definitions as JSON (of MCP, OpenAI or Anthropic; `-` is the input), MODULE functions
        under `@shield.tool`; with `--server` an MCP server is asked""",
    epilog="""\
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
  2  the store cannot be used""",
    options=(
        option(
            "verb list|reset|accept|draft", "what to do (default: list)", nargs="?", default="list"
        ),
        option("name NAME", "a tool, or for draft a file or a module", nargs="?", default=""),
        option(
            "--server NAME=WHAT",
            "for draft: an MCP server, by its command or address",
            action="append",
            default=[],
        ),
        option(
            "--tenant NAME", "the tenant (default: STANCHION_TENANT; for reset, or else `default`)"
        ),
        STORE,
        PROJECT,
        WHY,
        BY,
        option("--json", "answer with JSON, one line for each tool"),
        ANSWERER,
    ),
    work={
        "list": Verb(_list, "name json"),
        "reset": Verb(
            _reset,
            "name why by",
            "which tool? write `stanchion tools reset NAME`; `stanchion tools` shows them",
        ),
        "accept": Verb(_accept, "name why by", "which tool? write `stanchion tools accept NAME`"),
        "draft": Verb(draft, "name server"),
    },
)
