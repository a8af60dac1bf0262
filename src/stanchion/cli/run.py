"""`stanchion run`: run a command that can only reach what its policy names."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from stanchion.audit.layout import state_folder
from stanchion.cli.answers import notify_config
from stanchion.cli.command import (
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    in_words,
    option,
    word_of,
)
from stanchion.cli.terminal import note, visible
from stanchion.cli.whose import lasting
from stanchion.guards.files import Files
from stanchion.hosts.coding.settings import AgentsConfig, BadSettings, read_config
from stanchion.policy.sections import CredentialEntry
from stanchion.runtime.door.door import Door, local_doors
from stanchion.runtime.door.listeners import VERSION, Listeners, ports
from stanchion.runtime.sandbox.contained import Contained, StandingWalls
from stanchion.runtime.sandbox.guarded import GIT, UnfitFolder
from stanchion.runtime.sandbox.inside import Inside
from stanchion.runtime.sandbox.refused import how_to_allow
from stanchion.runtime.sandbox.sandbox import SandboxError, WallKind
from stanchion.runtime.standing.places import own_places
from stanchion.telemetry.notices.config import AnswerPage


def run(args: Args) -> int:
    """Run the command to its end, and give its exit status."""
    words = args.words[1:]
    if not words or args.words[0] != "--":
        raise BadInput("say what to run: put the command behind `--`, as in `stanchion run -- sh`")
    if args.user is not None and (os.getuid() != 0 or args.user < 1):
        raise BadInput("`--user` is the number of a user, from 1, and only root can be another one")
    named = getattr(args, "pass")
    for name in named:
        if name not in os.environ:
            raise BadInput(f"`--pass` is `{name}`, which is not set: set it, or leave it away")
    with ExitStack() as open_now:
        with AsBadInput(SandboxError, UnfitFolder, BadSettings):
            contained = open_now.enter_context(Contained(args.user))
            learned = open_now.enter_context(_begun(args.learn))
            shield = open_now.enter_context(args.load(_source(args), env=args.env))
            one = open_now.enter_context(shield.run(args.agent, args.task))
            inside = _inside(args, shield)
            _check_credentials(shield.policy.file.credentials, inside)
            kinds = tuple(WallKind) if args.walls is None else (WallKind(args.walls),)
            inner = ports(local_doors(shield.policy.file))
            walls = contained.build(inside, Path.cwd(), inner, VERSION.decode(), kinds)
            _tell(walls, args.require)
            _tell_of_hooks(inside.project)
            _tell_of_roots(inside.run_outside)
            door = Door(one, Listeners.received(contained.line), closed=_own_ports())
            open_now.callback(door.close)
            open_now.push(contained)  # what is inside ends before the door does
            door.start()
            try:
                contained.go(words, inside.environment(os.environ, named) | door.environment())
            except SandboxError as error:
                raise BadInput(f"{error}{_where_it_is(words[0], inside)}") from None
        status = contained.wait()
        if learned is not None:
            learned.write(door.learned(lasting(args.policy)))
            note(visible(f"what was reached is in `{args.learn}`: read it before you use it"))
        return status


def _source(args: Args) -> str | dict[str, str]:
    """The policy; with `--shadow` one that only tells, over it."""
    shadow = {"name": "shadow", "extends": lasting(args.policy), "mode": "shadow"}
    return shadow if args.shadow else args.policy


def _begun(path: str | None) -> AbstractContextManager[TextIO | None]:
    """A new file, made before anything runs: what is inside cannot have it lead elsewhere."""
    try:
        return nullcontext() if path is None else open(path, "x", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"`{path}` cannot be written: {in_words(error)}: name a new file") from None


def _inside(args: Args, shield: Any) -> Inside:
    own = own_places(shield.store, shield.journal, shield.policy.files, os.environ)
    return Inside(
        Path.cwd(),
        _roots(shield.policy),
        map(Path, args.show),
        None if args.home is None else Path(args.home),
        [*own.closed, *([] if args.learn is None else [os.path.realpath(args.learn)])],
        own.policies,
    )


def _own_ports() -> Iterator[int]:
    """Where the page of answers and the daemon listen."""
    page = notify_config().answers or AnswerPage()
    yield int(page.bind.rpartition(":")[2])
    yield (read_config(state_folder(os.environ)) or AgentsConfig()).port


def _roots(policy: Any) -> Iterator[Path]:
    """The folders that the policy names as the run's own."""
    for seat in policy.seats:
        if isinstance(seat.placed.guard, Files):
            yield from map(Path, seat.placed.guard.root)


def _check_credentials(entries: Mapping[str, CredentialEntry], inside: Inside) -> None:
    """Refuse secrets that could be read inside, and commands that could have been written there."""
    for name, entry in entries.items():
        file = os.path.expanduser(entry.file)
        if file and (inside.sees(file) or inside.changes(file)):
            told = f"credential `{name}`: `{entry.file}` can be reached from inside"
            raise BadInput(f"{told}: keep the secret in a folder that is not there")
        program = [shutil.which(one) or one for one in entry.command[:1]]
        words = [part for word in entry.command for part in (word, word.rpartition("=")[2])]
        for one in filter(os.path.lexists, [*program, *words]):
            if inside.changes(one):
                told = f"credential `{name}`: its command names `{one}`, which is written inside"
                raise BadInput(f"{told}: keep it in a folder that is not")


def _where_it_is(program: str, inside: Inside) -> str:
    """Where a program is that stands outside of what is shown, and what shows it."""
    found = shutil.which(program)
    if found is None or inside.shows(found):
        return ""
    folder = os.path.dirname(os.path.realpath(found))
    return f": it is in `{folder}`: show that with `--show {folder}`, and what it needs"


def _tell(walls: StandingWalls, require: bool) -> None:
    """Say which walls stand; raises `BadInput` where one does not that is required."""
    for reason in walls.reasons:
        note(visible(f"{reason}{how_to_allow(reason)}"))
    if not walls.missing:
        note(f"contained: walls of {walls.kind}, and one door to the network")
        return
    missing = ", ".join(walls.missing)
    if require:
        raise BadInput(f"nothing ran: walls of {walls.kind} do not hold {missing}")
    held = ", ".join(walls.walls)
    note(f"not contained: walls of {walls.kind} hold {held}; nothing holds {missing}")


def _tell_of_hooks(project: Path) -> None:
    """Say that hooks of ours in the project judge nothing: the daemon that they call is outside."""
    for name in (".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json"):
        with suppress(OSError):
            if "stanchion" in (project / name).read_text(encoding="utf-8", errors="replace"):
                told = "do not reach what judges: what leaves is judged, and single calls are not"
                note(f"hooks in `{name}` {told}")


def _tell_of_roots(paths: Iterable[str]) -> None:
    """Say what programs outside run of what the policy lets the command write."""
    for path in paths:
        program = "git" if os.path.basename(path) == GIT else "a program"
        note(visible(f"{program} outside may run what is written in `{path}`"))


RUN_COMMAND: Final = DeclaredCommand(
    usage="stanchion run [options] -- COMMAND [ARGUMENT ...]",
    description="""\
Run a command, with everything that it starts, behind walls: it sees the current folder, what
the policy's `root` names and the programs of the system, and no other files, processes or
sockets. One door leads to the network, and the policy judges what goes through it. Needs
Linux.""",
    epilog="""\
examples:
  stanchion run -- make test
  stanchion run --policy policy.yaml --require -- npm install
  stanchion run --policy policy.yaml --home ~/agent-home -- claude

The command has the terminal, and a home that is empty and goes with it. It has no variables
of yours but those that tell of the terminal. When this process ends, everything inside does.

exit status:
  0  the command ended well; any other status is that of the command, too, or 128 and the
     number of the signal that ended it
  2  it was not started: the message says why""",
    options=(
        option("words -- COMMAND", "what to run", nargs=argparse.REMAINDER),
        option(
            "--policy POLICY",
            "a policy file, or a pack (default: coding-agent)",
            default="coding-agent",
        ),
        option("--env NAME", "an environment of the policy"),
        option("--agent NAME", "the agent's name in the policy", default=""),
        option("--task NAME", "the task's name in the policy", default=""),
        option("--learn FILE", "write a policy of what was reached to this new file"),
        option("--shadow", "tell what the policy would refuse, and refuse nothing"),
        option("--require", "refuse to run where a wall does not stand"),
        option(
            "--walls KIND",
            "this kind of walls, not the strongest",
            type=word_of("--walls", WallKind),
        ),
        option("--home DIR", "a home that is kept, instead of an empty one"),
        option("--show DIR", "a folder or a file to be read inside", action="append", default=[]),
        option("--pass NAME", "a variable of yours that it gets", action="append", default=[]),
        option("--user UID", "run as this user (a number); only root can", type=int),
    ),
    work=run,
)
