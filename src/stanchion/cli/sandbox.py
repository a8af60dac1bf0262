"""`stanchion tools sandbox`: show behind which walls commands can run on this machine."""

from __future__ import annotations

import os
from typing import Final

from stanchion.cli.command import JSON, Args, BadInput, DeclaredCommand, option
from stanchion.cli.printing import Layout, put_view
from stanchion.runtime.sandbox.sandbox import standing


def run(args: Args) -> int:
    """Show the walls."""
    if args.user is not None and os.getuid() != 0:
        raise BadInput("only root can try walls as another user: leave `--user` away")
    found = standing(args.user)
    put_view(found, WALLS.lines, args.json)
    return 0 if any(one.walls for one in found) else 1


WALLS: Final = Layout(
    ("kind", "stands", "lacks"),
    lambda one: (
        str(one.kind),
        "yes" if one.walls else "no",
        ", ".join(one.missing) if one.walls else one.why,
    ),
)


TOOLS_SANDBOX_COMMAND: Final = DeclaredCommand(
    usage="stanchion tools sandbox [--user UID] [--json]",
    description="""\
Try every kind of walls that a sandbox can build round a command, and show which
stand here and what each lacks. The strongest kind is first.""",
    epilog="""\
examples:
  stanchion tools sandbox
  sudo stanchion tools sandbox --user 1000

exit status:
  0  at least one kind stands
  1  none does: commands cannot be confined here
  2  you are not root, and gave `--user`; or it is no user that commands run as""",
    options=(
        option("--user UID", "as this user (a number); only root can; 65534 otherwise", type=int),
        JSON,
    ),
    work=run,
)
