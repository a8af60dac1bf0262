"""`stanchion safe-mode`: refuse every tool call and every retry, until it is switched off again."""

from __future__ import annotations

import argparse
from typing import Any, Final

from stanchion.cli.answerers import WAYS, add_answerer
from stanchion.cli.operator_options import EXIT, SCOPES, add_options, operate
from stanchion.cli.parser import Parser

USAGE: Final = """stanchion safe-mode on|off [SCOPE] [--why WORDS] [--by NAME] [--tenant NAME]
       [--store URL]"""

DESCRIPTION: Final = """\
Switch safe mode on or off: no tool runs and nothing is retried, while models still answer
and requests still leave. Nothing leaves safe mode by itself."""

EPILOG: Final = f"""\
examples:
  stanchion safe-mode on --why 'the mail server is being moved'
  stanchion safe-mode on agent:writer-1
  stanchion safe-mode off

{SCOPES}

Only an operator may switch it off.
{WAYS}

{EXIT}"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "refuse every tool call and every retry, until it is switched off again"
    parser: Parser = commands.add_parser(
        "safe-mode", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("what", metavar="on|off", choices=("on", "off"), help="switch it on or off")
    add_options(parser, scoped="put into safe mode")
    add_answerer(parser)


def run(args: argparse.Namespace) -> int:
    """Switch it."""
    on = args.what == "on"
    return operate(
        args,
        lambda shield, by: shield.safe_mode(on, args.why, args.tenant, args.scope, by),
        loosens=not on,
    )
