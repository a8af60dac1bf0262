"""`stanchion resume`: return to normal after a halt, safe mode, a quarantine or a warning."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.answerers import WAYS
from stanchion.cli.operator_options import EXIT, SCOPES, operate
from stanchion.cli.options import ANSWERER, CHANGE, scope

USAGE: Final = """stanchion resume [SCOPE] [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       [--store URL]"""

DESCRIPTION: Final = """\
Put something back to normal, whatever state it is in: halted, in safe mode, in quarantine,
or watched because it failed too often. Other scopes stay as they are."""

EPILOG: Final = f"""\
examples:
  stanchion resume
  stanchion resume tool:send_mail

{SCOPES}

{WAYS}

{EXIT}"""


OPTIONS: Final = (
    scope("act on"),
    *CHANGE,
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Resume it."""
    return operate(
        args, lambda shield, by: shield.resume(args.tenant, args.scope, by, args.why), loosens=True
    )
