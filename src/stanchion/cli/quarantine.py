"""`stanchion quarantine`: isolate a tool, an agent or a run for a time, while others continue."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.operator_options import APPLIES, EXIT, operate
from stanchion.cli.options import CHANGE, option
from stanchion.cli.times import lasting_s

USAGE: Final = """stanchion quarantine SCOPE [--for TIME] [--why WORDS] [--by NAME]
       [--tenant NAME] [--store URL]"""

DESCRIPTION: Final = """\
Isolate a tool, an agent or a run: everything it does or is asked to do is refused, and all
others continue. It ends by itself; `stanchion resume SCOPE` ends it earlier."""

EPILOG: Final = f"""\
examples:
  stanchion quarantine tool:send_mail --for 15m --why 'it leaks addresses'
  stanchion quarantine agent:writer-1

{APPLIES}

{EXIT}"""


OPTIONS: Final = (
    option("scope SCOPE", "`tool:NAME`, `agent:NAME` or `run:ID`"),
    option(
        "--for TIME",
        "how long: 90s, 15m, 2h, 1d (default: 5m)",
        dest="for_s",
        type=lasting_s,
        default=300.0,
    ),
    *CHANGE,
)


def run(args: argparse.Namespace) -> int:
    """Isolate it."""
    return operate(
        args,
        lambda shield, by: shield.quarantine(args.scope, args.for_s, args.why, args.tenant, by),
    )
