"""`stanchion doctor`: whether a coding agent is really guarded, tried with its real program."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from stanchion.cli.command import Args, AsBadInput, BadInput, DeclaredCommand, option, word_of
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, put_line
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.doctor import DoctorCheck, Outcome, examine
from stanchion.hosts.coding.program import ProgramFailed
from stanchion.hosts.coding.settings import BadSettings, HostPlaces

STYLES: Final[dict[Outcome, str]] = {
    "holds": "good",
    "fails": "bad",
    "open": "mild",
    "told": "dim",
}
WIDTH: Final = max(map(len, STYLES))


def _examine(args: Args) -> int:
    agents = [args.agent] if args.agent else [one for one in AGENTS if shutil.which(one)]
    if not agents:
        raise BadInput(f"none of {', '.join(AGENTS)} is on PATH: install one, or correct PATH")
    at = HostPlaces(Path.cwd(), Path.home(), os.environ)
    found: dict[str, list[DoctorCheck]] = {agent: [] for agent in agents}
    with AsBadInput(BadSettings, ProgramFailed):
        for agent, checks in found.items():
            for check in examine(agent, at):
                checks.append(check)
                if not args.json:
                    _put(agent, check)
    if args.json:
        put_json(found)
    every = [check for checks in found.values() for check in checks]
    return int(any(check.outcome == "fails" for check in every))


def _put(agent: str, check: DoctorCheck) -> None:
    mark = Terminal.of_stdout().paint(check.outcome.ljust(WIDTH), STYLES[check.outcome])
    put_line(f"{mark}  {agent}: {check.about}{': ' if check.why else ''}{check.why}")


DOCTOR_COMMAND: Final = DeclaredCommand(
    usage="stanchion doctor [claude|codex] [--json]",
    description="""\
Find out whether a coding agent is really guarded. Its settings are read; then its real program
makes three calls for a model on loopback, in folders of its own: one that is refused, one that
goes ahead, and one with Stanchion's end dead. Nothing of yours is changed, and nothing leaves
the machine. It takes some ten seconds.""",
    epilog="""\
examples:
  stanchion doctor
  stanchion doctor claude --json

Each line begins with what came of it:
  holds  it is as it should be
  fails  it is not; the line says what to do
  open   nothing can shut this in that host; know it
  told   how it is

exit status:
  0  everything holds that can hold
  1  something fails
  2  it cannot be tried; the message says why""",
    options=(
        option(
            "agent AGENT",
            "claude or codex (default: those on PATH)",
            nargs="?",
            type=word_of("agent", AGENTS),
        ),
        option("--json", "answer with JSON"),
    ),
    work=_examine,
)
