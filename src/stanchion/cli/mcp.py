"""`stanchion mcp`: stand between an MCP client and its servers; put the servers of a client
there."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stanchion.audit.layout import state_folder
from stanchion.cli.command import (
    Args,
    BadInput,
    DeclaredCommand,
    GivenOnce,
    group,
    in_words,
    option,
)
from stanchion.cli.terminal import note, put_line, visible
from stanchion.cli.whose import lasting
from stanchion.hosts.foreign_file import plan_change, read_foreign
from stanchion.hosts.json_text import NotJson
from stanchion.hosts.mcp.client_config import (
    Rewritten,
    format_of,
    servers_form,
    unwrapped,
    wrapped,
)
from stanchion.policy.load import load_policy

if TYPE_CHECKING:
    from stanchion.hosts.mcp.streams import Hide
    from stanchion.hosts.mcp.upstream import Upstream


OURS: Final = (sys.executable, "-m", "stanchion")
"""How another program starts this one."""


def _wrap(args: Args) -> int:
    policy = lasting(args.policy)
    load_policy(policy)
    made = _rewritten(args.file, policy, args.only)
    _tell(made, "behind Stanchion now")
    for name in made.strangers:
        put_line(f"{visible(name)}: if it wants a login, set a header with its token first")
    return 0


def _unwrap(args: Args) -> int:
    _tell(_rewritten(args.file), "no longer behind Stanchion")
    return 0


def _rewritten(named: str, policy: str = "", only: Sequence[str] = ()) -> Rewritten:
    """Rewrite a file so that its servers are judged by a policy, or by none."""
    try:
        # A link leads to the file that is meant; bytes stay as they are, line ends included.
        file = read_foreign(Path(named).resolve(strict=True))
        form, state = format_of(file.path), state_folder(os.environ)
        made = (
            wrapped(file.text, OURS, ["--policy", policy], only, form)
            if policy
            else unwrapped(file.text, "", form)
        )
        if made.changed or not policy:
            servers = servers_form(file.path, OURS, policy, only)
            plan_change(file.path, servers, state, puts=bool(policy)).carry_out(state, 0o600)
    except UnicodeDecodeError:
        raise BadInput(f"`{named}` cannot be rewritten: it is not text in UTF-8") from None
    except (OSError, NotJson) as error:
        raise BadInput(f"`{named}` cannot be rewritten: {in_words(error)}") from None
    return made


def _tell(made: Rewritten, done: str) -> None:
    for name in made.changed:
        put_line(f"{visible(name)}: {done}")
    for name, why in made.left.items():
        put_line(f"{visible(name)}: left as it is, {why}")
    if made.changed:
        put_line("restart the client to make it so")
    elif not made.left:
        put_line("there are no servers in it")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError(
            f"is `{text}`: give a number of seconds, more than 0 and at most 86400"
        )
    return seconds


def run(args: Args) -> int:
    """Serve until the client is gone."""
    if args.words and args.words[0] != "--":
        raise BadInput(
            f"`{args.words[0]}` is no verb: put the server's command behind `--`, as in `stanchion "
            f"mcp -- npx x`"
        )
    try:
        import mcp  # noqa: F401 - only whether it is there
    except ImportError:
        raise BadInput(
            "the proxy needs the package `mcp`: install the extra `mcp`, from a checkout `pip "
            "install '.[mcp]'`"
        ) from None
    return _serve(args)


def _serve(args: Args) -> int:
    from stanchion.hosts.mcp.proxy import PASSED, Proxy
    from stanchion.hosts.mcp.serving import serve_http, serve_streams
    from stanchion.hosts.mcp.upstream import BadUpstream

    try:
        place = None if args.listen is None else _place(args.listen)
        shields: list[Any] = []
        upstreams = _upstreams(args, lambda line: str(shields[0].policy.veil.words(line)))
        with args.load(args.policy, env=args.env) as shield:
            shields.append(shield)
            proxy = Proxy(
                shield,
                upstreams,
                agent=args.agent,
                task=args.task,
                timeout_s=args.timeout,
                passed=(*PASSED, *args.pass_header),
            )
            if place is None:
                serve_streams(proxy)
            else:
                serve_http(proxy, *place, ready=lambda where: note(f"listening at {where}"))
    except BadUpstream as error:
        raise BadInput(str(error)) from None
    return 0


def _upstreams(args: Args, hide: Hide) -> list[Upstream]:
    from stanchion.hosts.mcp.upstream import UNNAMED, command, header, url

    words = args.words[1:]
    ways = [bool(words), args.url is not None, bool(args.server)]
    if sum(ways) != 1:
        raise BadInput(
            "say which server this stands before: a command behind `--`, `--url URL`, or `--server "
            "NAME=WHAT`"
        )
    if args.header and args.url is None:
        raise BadInput("`--header` is for a server at an address: give it with `--url`")
    if args.name is not None and args.server:
        raise BadInput(
            "`--name` is for a server that is alone: with `--server` each has its name already"
        )
    name = UNNAMED if args.name is None else args.name
    if words:
        return [command(name, words, hide=hide)]
    if args.url is not None:
        return [url(name, args.url, dict(header(text, os.environ) for text in args.header))]
    return [named_server(text, hide) for text in args.server]


def named_server(text: str, hide: Hide) -> Upstream:
    """A server as `--server` names it, with its command or its address."""
    from stanchion.hosts.mcp.upstream import command, url

    name, equals, what = text.partition("=")
    if not equals or not what.strip():
        raise BadInput(f"`--server` is `{text}`: write it as `NAME=COMMAND` or `NAME=URL`")
    if what.startswith(("http://", "https://")):
        return url(name, what)
    try:
        return command(name, shlex.split(what), hide=hide)
    except ValueError as error:
        raise BadInput(f"the command of `{name}` cannot be read: {error}".lower()) from None


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise BadInput(f"`--listen` is `{text}`: give it as `HOST:PORT`, such as `127.0.0.1:8765`")
    return host.strip("[]"), int(port)


MCP_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion mcp [options] -- COMMAND [ARGUMENT ...]
       stanchion mcp [options] --url URL
       stanchion mcp [options] --server NAME=COMMAND|URL [--server ...]""",
    description="""\
Stand between an MCP client and its servers. The client starts this command in place of the
server, and everything that passes is judged by a policy: calls before they run; results,
resources and prompts before a model reads them; what a server asks of its client. What the
tools are said to do is pinned, and read for hidden instructions.

`stanchion mcp wrap` rewrites the configuration of a client so that all of its servers are
behind Stanchion; `stanchion mcp unwrap` restores it.""",
    epilog="""\
examples:
  stanchion mcp -- npx -y @modelcontextprotocol/server-everything
  stanchion mcp --url https://mcp.example.com/mcp --header Authorization=TOKEN
  stanchion mcp --policy policy.yaml --server files='npx -y some-server .' \\
    --server web=https://mcp.example.com/mcp
  stanchion mcp --listen 127.0.0.1:8765 -- npx some-server

With several servers, the names of tools and prompts begin with the server's name and two
underscores: `files__read`. The value of a header is in a variable of the environment: here
`TOKEN` might be `Bearer abc`.

exit status:
  0  the client is gone, or the command was stopped
  2  the proxy cannot run with these options; the message says what to do""",
    options=(
        option("words -- COMMAND", "what starts the server", nargs=argparse.REMAINDER),
        group(
            "the servers",
            option("--url URL", "the address of a server, instead of a command", action=GivenOnce),
            option(
                "--name NAME",
                "whose the definitions are pinned as (default: by COMMAND or URL)",
                action=GivenOnce,
            ),
            option(
                "--server NAME=WHAT", "one of several servers, by name", action="append", default=[]
            ),
            option(
                "--header NAME=VAR",
                "a header for URL, and its variable",
                action="append",
                default=[],
            ),
            option(
                "--pass-header NAME",
                "a header of the client that the servers get, besides `Authorization`",
                action="append",
                default=[],
            ),
            option(
                "--timeout SECONDS",
                "how long one request may take (default: 300)",
                type=_seconds,
                default=300.0,
            ),
        ),
        group(
            "judging",
            option(
                "--policy POLICY",
                "a policy file, or a pack (default: mcp)",
                action=GivenOnce,
                default="mcp",
            ),
            option("--env NAME", "an environment of the policy", action=GivenOnce),
            option(
                "--agent NAME",
                "the agent's name in the policy (default: mcp)",
                action=GivenOnce,
                default="mcp",
            ),
            option("--task NAME", "the task's name in the policy", action=GivenOnce, default=""),
        ),
        option(
            "--listen HOST:PORT",
            "serve clients over HTTP, instead of standard streams",
            action=GivenOnce,
        ),
    ),
    work=run,
)


MCP_WRAP_COMMAND: Final = DeclaredCommand(
    usage="stanchion mcp wrap FILE [--policy POLICY] [--only NAME]",
    description="""\
Rewrite the configuration of an MCP client so that its servers are behind Stanchion. What it was
is kept in your state folder, until `stanchion mcp unwrap`.""",
    epilog="""\
examples:
  stanchion mcp wrap ~/.cursor/mcp.json
  stanchion mcp wrap ~/.codex/config.toml
  stanchion mcp wrap .mcp.json --policy policy.yaml --only files

exit status:
  0  the file is as it should be
  2  it cannot be rewritten, or the policy does not load""",
    options=(
        option("file FILE", "the configuration of the client"),
        option("--policy POLICY", "a policy file, or a pack (default: mcp)", default="mcp"),
        option("--only NAME", "only this server", action="append", default=[]),
    ),
    work=_wrap,
)

MCP_UNWRAP_COMMAND: Final = DeclaredCommand(
    usage="stanchion mcp unwrap FILE",
    description="""\
Restore the configuration of an MCP client as it was before `stanchion mcp wrap`.""",
    epilog="""\
examples:
  stanchion mcp unwrap .mcp.json

exit status:
  0  the file is as it should be
  2  it cannot be rewritten""",
    options=(option("file FILE", "the configuration of the client"),),
    work=_unwrap,
)
