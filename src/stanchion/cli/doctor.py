"""`stanchion doctor`: whether everything that is configured works, and whether a coding agent is
really guarded, with its real program."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.approvals.operators import ELSEWHERE
from stanchion.audit.layout import state_folder
from stanchion.cli.answerers import loaded
from stanchion.cli.answers import notify_config
from stanchion.cli.command import (
    PROJECT,
    STORE,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    in_words,
    option,
    word_of,
)
from stanchion.cli.notify import tried
from stanchion.cli.printing import put_json
from stanchion.cli.status import ABOUT, Lines, Looking, Mark, show, tried as tried_adapter
from stanchion.cli.terminal import Terminal, put_line
from stanchion.cli.whose import in_memory, opened
from stanchion.folders import user_config
from stanchion.hosts.canaries import installed
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.doctor import DoctorCheck, Outcome, examine, hooked
from stanchion.hosts.coding.program import ProgramFailed
from stanchion.hosts.coding.settings import BadSettings, HostPlaces
from stanchion.hosts.contract.canary import Came
from stanchion.hosts.foreign_file import known_files
from stanchion.hosts.mcp.client_config import format_of, unwrapped
from stanchion.ops.answering.server import SIGNING
from stanchion.ops.views.amounts import counted
from stanchion.policy.errors import PolicyError
from stanchion.policy.lint import lint
from stanchion.policy.project_policies import own_policy
from stanchion.runtime.people.authority import pinned_by
from stanchion.runtime.remote.shield import RemoteShield
from stanchion.runtime.standing.listeners import notify_file, post_for
from stanchion.runtime.standing.places import BROKER, STORE as BROKER_NAMED
from stanchion.telemetry.notices.post import own_text

STYLES: Final[dict[Outcome, str]] = {
    "holds": "good",
    "fails": "bad",
    "open": "mild",
    "told": "dim",
}
WIDTH: Final = max(map(len, STYLES))


MARKS: Final[dict[Outcome, Mark]] = {
    "holds": "good",
    "fails": "bad",
    "open": "none",
    "told": "none",
}
"""What an outcome is among the lines of everything."""
LEFT_DAYS: Final = 14
"""How long a certificate should still be valid."""
DRIVE: Final = """
import sys, msgspec
from stanchion.hosts.canaries import driven
sys.stdout.buffer.write(b"\\n" + msgspec.json.encode(driven(sys.argv[1])))
"""
DRIVE_S: Final = 120.0


def _with(name: str, more: Callable[[Looking], Lines]) -> Callable[[Looking], Lines]:
    """What the screen of status says of something, and what is only tried here."""

    def look(at: Looking) -> Lines:
        yield from ABOUT[name](at)
        yield from more(at)

    return look


def _durable(at: Looking) -> Lines:
    if in_memory(at.args.store, at.state):
        yield "look", "kept in memory: it ends with the process", "name a file or a server"


def _writable(at: Looking) -> Lines:
    folders = {folder for one in at.readers if (folder := getattr(one, "folder", None))}
    for folder in [one for one in folders if not os.access(one, os.W_OK | os.X_OK)]:
        yield "bad", f"`{folder}` cannot be written: what cannot be recorded is refused"


def _linted(at: Looking) -> Lines:
    own = own_policy()
    sources = [own] if own.exists() else []
    sources += [Path(at.case.source)] if at.case is not None and at.case.source else []
    for source in dict.fromkeys(sources):
        try:
            linted = lint(str(source), None, {})
        except PolicyError as error:
            yield "bad", f"{source}: {error.faults[0]}", f"`stanchion policy lint {source}`"
            continue
        if not linted.clean:
            found = len([one for one in linted.remarks if one.sure != "info"])
            words = f"{source}: {counted(found, 'finding')}"
            yield "look", words, f"`stanchion policy lint {source}`"


def _broker(at: Looking) -> Lines:
    named = os.environ.get(BROKER_NAMED, "")
    place = named.removeprefix(BROKER)
    if place == named:
        yield "none", "none is named"
        return
    with RemoteShield(place):
        yield "good", f"`{place}` answers, and speaks this version"


def _operators(at: Looking) -> Lines:
    with opened(at.args.store, at.state, quiet=True) as store:
        if store is None:
            yield "none", "nobody is enrolled yet"
            return
    with loaded(at.args) as shield:
        roster = shield.authority.known()
    pinned = () if at.policy is None else pinned_by(at.policy)
    known = {*roster.operators, *(one.name for one in pinned)}
    if roster.trouble and not (pinned and roster.trouble == ELSEWHERE):
        yield "bad", roster.trouble
    elif not known:
        do = "`stanchion operators add NAME` enrols the first one"
        yield "look", "no operator: what is critical can be answered by nobody", do
    else:
        yield "good", f"enrolled: {', '.join(sorted(known))}"
    keys = Path(user_config()) / "keys"
    for key in sorted(keys.iterdir()) if keys.is_dir() else ():
        if key.suffix != ".pub" and key.stat().st_mode & 0o077:
            yield "bad", f"others on this host can read `{key}`", f"`chmod 600 {key}`"


def _notices(at: Looking) -> Lines:
    yield from ABOUT["notices"](at)
    path = notify_file(None, os.environ)
    post = None if path is None else post_for(path, os.environ)
    for name, _, outcome in tried(post) if post is not None else ():
        words = f"{name}: a test notice: {outcome.said}"
        yield ("good", words) if outcome.delivered else ("bad", words, "`stanchion notify test`")


def _answers(at: Looking) -> Lines:
    page = notify_config().answers
    if page is None:
        yield "none", "nobody answers by link or in a chat"
        return
    if page.chat is not None:
        own_text(page.chat.secret_file, SIGNING)
    host, _, port = page.bind.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), 5.0) as plain:
            if page.certificate is None:
                yield "good", f"heard at {page.bind}"
                return
            context = ssl.create_default_context(cafile=page.certificate)
            context.check_hostname = False
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            with context.wrap_socket(plain) as link:
                ends = ssl.cert_time_to_seconds(str((link.getpeercert() or {})["notAfter"]))
    except ssl.SSLError as error:
        yield "bad", f"{page.bind} has no certificate that holds: {error.reason}", "renew it"
        return
    except OSError as error:
        words = f"nobody hears answers at {page.bind}: {in_words(error)}"
        yield "bad", words, "`stanchion answers`, or a broker"
        return
    days = int(ends - time.time()) // 86_400
    words = f"heard at {page.bind}, with a certificate for {counted(days, 'more day')}"
    yield ("good", words) if days >= LEFT_DAYS else ("look", words, "renew it")


def _adapters(at: Looking) -> Lines:
    there = installed()
    if not there:
        yield from ABOUT["adapters"](at)
    yield from map(driven_apart, there)


def driven_apart(name: str) -> tuple[Mark, str]:
    """What comes of an adapter's canary in a process of its own, which has no other framework."""
    command = [sys.executable, "-c", DRIVE, name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=DRIVE_S, check=True)
        said = done.stdout.rpartition(b"\n")[2]
        return tried_adapter(name, typed.decode(said, Came))
    except (subprocess.SubprocessError, msgspec.MsgspecError) as error:
        return "bad", f"{name}: its canary could not be driven: {error}"


def _mcp(_: Looking) -> Lines:
    found = 0
    for path in known_files(state_folder(os.environ)):
        try:
            servers = unwrapped(path.read_text("utf-8"), "", format_of(path))
        except (OSError, ValueError):
            continue  # it is no configuration of servers
        if not servers.changed and not servers.left:
            continue
        found += 1
        if servers.changed:
            yield "good", f"{path}: behind Stanchion: {', '.join(servers.changed)}"
        if servers.left:
            words = f"{path}: not behind Stanchion: {', '.join(servers.left)}"
            yield "look", words, f"`stanchion mcp wrap {path}`"
    if not found:
        yield "none", "no configuration of a client was wrapped by this user"


def _agents(at: Looking) -> Lines:
    places = HostPlaces(Path.cwd(), Path.home(), os.environ)
    there = [one for one in AGENTS if shutil.which(one)]
    hooked_ones = [one for one in there if hooked(one, places)]
    if there != hooked_ones or not there:
        yield from ABOUT["agents"](at)
    for agent in hooked_ones:
        for check in examine(agent, places):
            why = f": {check.why}" if check.why else ""
            yield MARKS[check.outcome], f"{agent}: {check.about}{why}"


EVERYTHING: Final[dict[str, Callable[[Looking], Lines]]] = {
    "store": _with("store", _durable),
    "trail": _with("trail", _writable),
    "policy": _with("policy", _linted),
    "broker": _broker,
    "operators": _operators,
    "notices": _notices,
    "answers": _answers,
    "adapters": _adapters,
    "mcp": _mcp,
    "agents": _agents,
}
"""What is tried where no agent is named."""


def _examine(args: Args) -> int:
    if not args.agent:
        return show(args, EVERYTHING)
    if not shutil.which(args.agent):
        raise BadInput(f"`{args.agent}` is not on PATH: install it, or correct PATH")
    at = HostPlaces(Path.cwd(), Path.home(), os.environ)
    checks = []
    with AsBadInput(BadSettings, ProgramFailed):
        for check in examine(args.agent, at):
            checks.append(check)
            if not args.json:
                _put(args.agent, check)
    if args.json:
        put_json({args.agent: checks})
    return int(any(check.outcome == "fails" for check in checks))


def _put(agent: str, check: DoctorCheck) -> None:
    mark = Terminal.of_stdout().paint(check.outcome.ljust(WIDTH), STYLES[check.outcome])
    put_line(f"{mark}  {agent}: {check.about}{': ' if check.why else ''}{check.why}")


DOCTOR_COMMAND: Final = DeclaredCommand(
    usage="stanchion doctor [claude|codex] [--trail DIR] [--store URL] [--project DIR] [--json]",
    description="""\
Try everything that is configured: store, trail, policy, broker, operators, destinations of
notices (each gets a test notice), the page of answers, the canary of each adapter that is
installed, MCP servers, and the coding agents that are hooked.

With an agent's name, find out whether that one is really guarded. Its settings are read; then
its real program makes three calls for a model on loopback, in folders of its own: one that is
refused, one that goes ahead, and one with Stanchion's end dead. Nothing of yours is changed,
and nothing leaves the machine. It takes some ten seconds.""",
    epilog="""\
examples:
  stanchion doctor
  stanchion doctor claude --json

Without an agent each line has a mark, as in `stanchion status`: good, look, bad, none. Of an
agent each line begins with what came of it:
  holds  it is as it should be
  fails  it is not; the line says what to do
  open   nothing can shut this in that host; know it
  told   how it is

exit status:
  0  everything holds that can hold; nothing is bad
  1  something fails, or is bad
  2  it cannot be tried; the message says why""",
    options=(
        option(
            "agent AGENT",
            "claude or codex (default: everything that is configured)",
            nargs="?",
            type=word_of("agent", AGENTS),
        ),
        option("--trail DIR", "look at this trail (default: that of the project)"),
        STORE,
        PROJECT,
        option("--json", "answer with JSON"),
    ),
    work=_examine,
)
