"""`stanchion hook`: answer the hook of a coding agent, and run, show and stop the daemon that
judges for all of them."""

from __future__ import annotations

import os
from functools import partial
from typing import Final

from stanchion.audit.layout import state_folder
from stanchion.cli.command import Args, AsBadInput, DeclaredCommand, Verb, option
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import tell
from stanchion.hosts.coding import AGENTS, carrier
from stanchion.hosts.coding.settings import BadSettings
from stanchion.ops.daemon.launch import NoDaemon, ask, run_daemon, stop_daemon

NOT_THERE: Final = 1


def _answer(agent: str, _: Args) -> int:
    with AsBadInput(OSError):
        return carrier.main([agent, f"state={state_folder(os.environ)}"])


def _daemon(_: Args) -> int:
    os.chdir("/")  # it outlives the folder of the hook that has started it
    with AsBadInput(NoDaemon, BadSettings):
        if not run_daemon(state_folder(os.environ)):
            tell("a daemon already runs: `stanchion hook status` shows it")
    return 0


def _status(args: Args) -> int:
    with AsBadInput(NoDaemon):
        found = ask(state_folder(os.environ), "status")
    if args.json:
        put_json(found)
    elif found is None:
        tell("no daemon runs: the next hook that is a command starts one")
    else:
        tell(
            f"process {found.pid}, version {found.version}, {found.answered:,} hooks answered, "
            f"{found.hosts} hosts alive"
        )
        tell(found.trouble if found.trouble else f"it listens on port {found.port} of loopback")
    return 0 if found is not None and not found.trouble else NOT_THERE


def _stop(_: Args) -> int:
    with AsBadInput(NoDaemon):
        found = stop_daemon(state_folder(os.environ))
    tell("no daemon runs" if found is None else f"process {found.pid} has ended")
    return 0


HOOK_COMMAND: Final = DeclaredCommand(
    usage=f"""stanchion hook {"|".join(AGENTS)}
       stanchion hook daemon
       stanchion hook status [--json]
       stanchion hook stop""",
    description="""\
claude, codex  answer one hook of a coding agent: what the host says is read from standard
               input, and whatever goes wrong the host is told to refuse
daemon         judge for all hooks of this user, until there is nothing more to do
status         show whether the daemon runs, and what it has answered
stop           have the daemon end what is under way, and end""",
    epilog="""\
examples:
  stanchion hook status
  stanchion hook stop

`stanchion install` writes the hooks. The first hook that is a command starts the daemon; it
ends when it was idle for 30 minutes and no coding agent that it knows is alive. What it has
to say goes to `agents/daemon.log` in the state folder. Only hooks are heard that the host's
own process has sent. An agent cannot stop the daemon with this command, nor can anybody
of whom it cannot be told that no agent has started them.

exit status:
  0  the hook was answered, it is done, or the daemon runs and listens
  1  no daemon runs, or not on its port
  2  the hook is refused, or the daemon cannot be asked; the message says what to do""",
    options=(
        option(f"verb {'|'.join(AGENTS)}|daemon|status|stop", "what to do"),
        option("--json", "answer with JSON"),
    ),
    work={
        **{agent: Verb(partial(_answer, agent)) for agent in AGENTS},
        "daemon": Verb(_daemon),
        "status": Verb(_status, "json"),
        "stop": Verb(_stop),
    },
)
