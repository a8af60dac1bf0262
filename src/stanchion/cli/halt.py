"""`stanchion halt`: stop everything, or everything of a scope, until an operator resumes it."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.operator_options import EXIT, SCOPES, operate
from stanchion.cli.options import CHANGE, scope

USAGE: Final = "stanchion halt [SCOPE] [--why WORDS] [--by NAME] [--tenant NAME] [--store URL]"

DESCRIPTION: Final = """\
Stop everything: every further action of an agent is refused. Running calls may finish, but
their results are not handed to the agent. Only `stanchion resume` ends a halt."""

EPILOG: Final = f"""\
examples:
  stanchion halt --why 'money is going out that nobody ordered'
  stanchion halt run:run-4f0c22a1
  stanchion halt fleet

{SCOPES}

{EXIT}"""


OPTIONS: Final = (
    scope("act on"),
    *CHANGE,
)


def run(args: argparse.Namespace) -> int:
    """Halt it."""
    return operate(args, lambda shield, by: shield.halt(args.why, args.tenant, args.scope, by))
