"""`stanchion tools draft`: declarations of tools as a part of a policy, for a person to read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from stanchion.cli.mcp import named_server
from stanchion.cli.terminal import put_line
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.kernel.regex import regex
from stanchion.ops.views.drafts import DraftView, drafts
from stanchion.runtime.calling.tool import MARK, Tool
from stanchion.runtime.calling.tool_formats import definitions

HEADING: Final = """\
# Drafted from names: read every line before you use it, those with `?` first.
# A name is no proof: `as PACKAGE` is what that package does, whoever calls a tool so.
tools:"""
_PLAIN: Final = regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_NO_TEXT: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML takes for something else than text."""


def draft(args: argparse.Namespace) -> int:
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
