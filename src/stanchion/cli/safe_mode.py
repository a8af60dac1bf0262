"""`stanchion safe-mode`: refuse every tool call and every retry, until it is switched off again."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.answerers import WAYS
from stanchion.cli.operator_options import EXIT, SCOPES, operate
from stanchion.cli.options import ANSWERER, CHANGE, option, scope

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


OPTIONS: Final = (
    option("what on|off", "switch it on or off", choices=("on", "off")),
    scope("put into safe mode"),
    *CHANGE,
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Switch it."""
    on = args.what == "on"
    return operate(
        args,
        lambda shield, by: shield.safe_mode(on, args.why, args.tenant, args.scope, by),
        loosens=not on,
    )
