"""`stanchion broker`: judge for agents of other users, and keep policy, state and trail out of
their reach."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Final

from stanchion.audit.layout import STATE_DIR, state_folder
from stanchion.cli.answers import beside_broker
from stanchion.cli.command import Args, AsBadInput, BadInput, DeclaredCommand, option
from stanchion.cli.terminal import tell, warn
from stanchion.ops.broker.brokered_runs import key_in
from stanchion.ops.broker.peers import (
    NobodyKnown,
    Unsupported,
    admission,
    share_memory_between_threads,
    supported,
)
from stanchion.ops.broker.premises import (
    Exposed,
    Taken,
    listening,
    locked,
    own_file,
    own_folder,
    removed,
)
from stanchion.ops.broker.server import Broker
from stanchion.ops.broker.witnesses import WITNESSES
from stanchion.runtime.standing.listeners import post_for
from stanchion.runtime.standing.places import KEY, STORE_FILE, TRAIL_FOLDER


def run(args: Args) -> int:
    """Serve until told to stop."""

    with AsBadInput(Exposed, NobodyKnown, Taken, Unsupported):
        return _serve(args)


def _serve(args: Args) -> int:

    supported()
    share_memory_between_threads()
    who = admission(args.allow_user, args.allow_group)
    if who.is_empty:
        raise BadInput(
            "no user may use this broker: say who may with `--allow-user` or `--allow-group`"
        )
    os.umask(0o077)
    folder = own_folder(Path(args.state) if args.state else state_folder(os.environ))
    # What the runtime keeps beside the store is kept here, too.
    os.environ[STATE_DIR] = str(folder)
    key = os.environ.get(KEY, "")
    if key:
        own_file(Path(key))
    post_for(None, os.environ)
    path = Path(args.socket)
    with (
        locked(folder),
        args.load(
            args.policy,
            env=args.env,
            store=str(folder / STORE_FILE),
            journal=str(folder / TRAIL_FOLDER),
        ) as shield,
    ):
        for file in shield.policy.files:
            own_file(file)
        broker = Broker(
            shield,
            who,
            key_in(folder),
            warn=lambda words: warn(f"{words}"),
            witnesses=folder / WITNESSES,
            apart=True,
        )
        listener = listening(path)
        inode = path.lstat().st_ino
        # A signal that comes just before the broker waits would be seen when it wakes: this wakes
        # it.
        signal.set_wakeup_fd(broker.wakes_by, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: broker.stop())
        tell(f"listening at {path} as user {os.geteuid()}")
        sys.stdout.flush()
        try:
            with beside_broker(shield, who):
                broker.serve(listener)
        finally:
            signal.set_wakeup_fd(-1)
            removed(path, listener, inode)
    return 0


BROKER_COMMAND: Final = DeclaredCommand(
    usage="stanchion broker --socket PATH --policy POLICY --allow-user USER [options]",
    description="""\
Judge for agents that run as other users. The broker holds the policy, the state, the trail
and the keys in a folder of its own, and listens on a unix socket: an agent can ask it for
decisions, but can neither read nor change anything. Programs use it with
`Shield.load("broker:/run/stanchion/broker.sock")`. It runs until SIGTERM or Ctrl-C.""",
    epilog="""\
examples:
  stanchion broker --socket /run/stanchion/broker.sock --policy policy.yaml \\
    --state /var/lib/stanchion --allow-user agent
  stanchion broker --socket /run/stanchion/broker.sock --policy default \\
    --state /var/lib/stanchion --allow-group agents:team-a

USER and GROUP are names or numbers. With `:TENANT` they ask for that tenant, otherwise for
`default`. Linux only: there the kernel says which user is at the other end of a socket.

exit status:
  0  the broker was stopped
  2  the broker cannot run with these options; the message says what to do""",
    options=(
        option("--socket PATH", "the path of the socket", required=True),
        option("--policy POLICY", "a policy file, or the name of a pack", required=True),
        option("--env NAME", "an environment of the policy"),
        option("--state DIR", "the broker's own folder (default: your state folder)"),
        option("--allow-user USER", "a user to serve, or USER:TENANT", action="append", default=[]),
        option(
            "--allow-group GROUP", "a group to serve, or GROUP:TENANT", action="append", default=[]
        ),
    ),
    work=run,
)
