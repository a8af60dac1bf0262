"""`stanchion mcp`: stand between an MCP client and its servers."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final

from stanchion.cli.options import group, option
from stanchion.cli.parser import Once
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput

if TYPE_CHECKING:
    from stanchion.hosts.mcp.streams import Hide
    from stanchion.hosts.mcp.upstream import Upstream

USAGE: Final = """\
stanchion mcp [options] -- COMMAND [ARGUMENT ...]
       stanchion mcp [options] --url URL
       stanchion mcp [options] --server NAME=COMMAND|URL [--server ...]
       stanchion mcp wrap FILE [--policy POLICY] [--only NAME]
       stanchion mcp unwrap FILE"""

DESCRIPTION: Final = """\
Stand between an MCP client and its servers. The client starts this command in place of the
server, and everything that passes is judged by a policy: calls before they run; results,
resources and prompts before a model reads them; what a server asks of its client. What the
tools are said to do is pinned, and read for hidden instructions.

`wrap` rewrites the configuration of a client so that all of its servers are behind
Stanchion; `unwrap` restores it."""

EPILOG: Final = """\
examples:
  stanchion mcp -- npx -y @modelcontextprotocol/server-everything
  stanchion mcp --url https://mcp.example.com/mcp --header Authorization=TOKEN
  stanchion mcp --policy policy.yaml --server files='npx -y some-server .' \\
    --server web=https://mcp.example.com/mcp
  stanchion mcp --listen 127.0.0.1:8765 -- npx some-server
  stanchion mcp wrap ~/.cursor/mcp.json
  stanchion mcp unwrap .mcp.json

With several servers, the names of tools and prompts begin with the server's name and two
underscores: `files__read`. The value of a header is in a variable of the environment: here
`TOKEN` might be `Bearer abc`.

exit status:
  0  the client is gone, or the command was stopped; with wrap: the file is as it should be
  2  the proxy cannot run with these options; the message says what to do"""

VERBS: Final = ("wrap", "unwrap")


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


OPTIONS: Final = (
    option("words -- COMMAND", "what starts the server", nargs=argparse.REMAINDER),
    group(
        "the servers",
        option("--url URL", "the address of a server, instead of a command", action=Once),
        option(
            "--name NAME",
            "whose the definitions are pinned as (default: by COMMAND or URL)",
            action=Once,
        ),
        option(
            "--server NAME=WHAT", "one of several servers, by name", action="append", default=[]
        ),
        option(
            "--header NAME=VAR", "a header for URL, and its variable", action="append", default=[]
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
            "--policy POLICY", "a policy file, or a pack (default: mcp)", action=Once, default="mcp"
        ),
        option("--env NAME", "an environment of the policy", action=Once),
        option(
            "--agent NAME",
            "the agent's name in the policy (default: mcp)",
            action=Once,
            default="mcp",
        ),
        option("--task NAME", "the task's name in the policy", action=Once, default=""),
    ),
    option(
        "--listen HOST:PORT", "serve clients over HTTP, instead of standard streams", action=Once
    ),
)


def run(args: argparse.Namespace) -> int:
    """Serve until the client is gone."""
    if args.words and args.words[0] in VERBS:
        from stanchion.cli.mcp_wrap import rewrite

        return rewrite(args.words, args.policy)
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


def _serve(args: argparse.Namespace) -> int:
    from stanchion.audit.errors import TrailError
    from stanchion.hosts.mcp.proxy import PASSED, Proxy
    from stanchion.hosts.mcp.serving import serve_http, serve_streams
    from stanchion.hosts.mcp.upstream import BadUpstream
    from stanchion.policy.errors import PolicyError
    from stanchion.stores.protocol import StoreError

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
                serve_http(
                    proxy, *place, ready=lambda where: say(sys.stderr, f"listening at {where}")
                )
    except (BadUpstream, PolicyError, StoreError, TrailError) as error:
        raise BadInput(*str(error).splitlines()) from None
    return 0


def _upstreams(args: argparse.Namespace, hide: Hide) -> list[Upstream]:
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
