"""`stanchion answers`: have tickets answered by link, and in a chat."""

from __future__ import annotations

import os
import signal
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.links import TicketLink
from stanchion.approvals.ticket import State, Ticket
from stanchion.cli.answerers import whoever
from stanchion.cli.command import PROJECT, STORE, Args, BadInput, DeclaredCommand, option
from stanchion.cli.printing import labelled
from stanchion.cli.terminal import Terminal, tell
from stanchion.cli.whose import named_project
from stanchion.ops.answering.other_end import NOBODY, OtherEnd
from stanchion.ops.answering.server import AnswerDesk, AnswerServer
from stanchion.ops.broker.peers import Admission, die_with_parent
from stanchion.runtime.standing.listeners import notify_file, read_notify, usual_file
from stanchion.runtime.standing.ticket_links import links_of
from stanchion.telemetry.notices.config import NotifyFile


def notify_config() -> NotifyFile:
    """What the file says that says where notices go, and where people answer."""
    path = notify_file(None, os.environ)
    return NotifyFile() if path is None else read_notify(path)


def server_for(shield: Shield, agents: Admission = NOBODY) -> AnswerServer | None:
    """What serves the page where the file of notices wants it, listening already; `None` where it
    does not. `agents` are the users whom a broker serves."""
    file = notify_config()
    links = links_of(file, os.environ)
    if file.answers is None or links is None:
        return None
    presence = shield.presence
    end = OtherEnd(None if presence is None else presence.state, agents)
    try:
        return AnswerServer(AnswerDesk(shield, file.answers, links, end), file.answers)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"the page of answers cannot listen at `{file.answers.bind}`: {error}: correct "
            f"`answers` in `{notify_file(None, os.environ)}`"
        ) from None


@contextmanager
def beside_broker(shield: Shield, agents: Admission) -> Iterator[None]:
    """Serve the page in a process beside the broker's own, for as long as the broker runs."""
    server = server_for(shield, agents)
    if server is None:
        yield
        return
    tell(f"answers are heard at {server.place}")
    pid = os.fork()
    if not pid:
        try:
            die_with_parent()
            _serve_until_told(server)
        finally:
            os._exit(0)
    server.server_close()
    try:
        yield
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def link_lines(ticket: Ticket, terminal: Terminal) -> Iterator[str]:
    """The link to an open ticket's page, for whoever sits at this terminal: never for a program,
    which may be an agent's."""
    links = links_of(notify_config(), os.environ) if terminal.width is not None else None
    if links is not None and ticket.state is State.OPEN:
        holder = f"{whoever()}@terminal"
        digest = ticket.deed.digest
        link = TicketLink(ticket.tenant, ticket.id, ticket.generation, digest, holder)
        yield from labelled([("link", links.url(link))], terminal)


def _serve_until_told(server: AnswerServer) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def run(args: Args) -> int:
    """Serve until told to stop."""
    shield: Shield = args.load(
        "default" if args.policy is None else args.policy, store=args.store, **named_project(args)
    )
    with shield:
        server = server_for(shield)
        if server is None:
            path = notify_file(None, os.environ)
            where = usual_file() if path is None else path
            raise BadInput(f"nobody answers by link yet: add `answers: {{}}` to `{where}`")
        tell(f"answers are heard at {server.place}")
        sys.stdout.flush()
        _serve_until_told(server)
    return 0


ANSWERS_COMMAND: Final = DeclaredCommand(
    usage="stanchion answers [--policy FILE] [--store URL] [--project DIR]",
    description="""\
Serve the page on which a ticket is answered by whoever has its link, and take the buttons of a
chat. Links are in the notices of tickets and in `stanchion tickets show`. To look at a page
changes nothing. The file of notices says under `answers` where the page listens; a broker
serves it by itself. It runs until SIGTERM or Ctrl-C.""",
    epilog="""\
examples:
  stanchion answers --policy policy.yaml
  stanchion answers --store postgresql://db.example.org/stanchion

A yes by link or in a chat is unproven: it is for one call, and never for anything of high risk
or critical. `escalation.relayed` and `escalation.at_least` in the policy say more.

exit status:
  0  it was stopped
  2  it cannot be served; the message says what to do""",
    options=(
        option("--policy FILE", "the policy that says whose answer counts (default: `default`)"),
        STORE,
        PROJECT,
    ),
    work=run,
)
