"""`stanchion install` and `stanchion uninstall`: hooks in the settings of coding agents."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.audit.layout import state_folder
from stanchion.cli.command import (
    Args,
    BadInput,
    DeclaredCommand,
    OptionGroup,
    in_words,
    option,
    word_of,
)
from stanchion.cli.mcp import OURS
from stanchion.cli.terminal import note, tell
from stanchion.cli.whose import lasting
from stanchion.hosts.coding.program import (
    OLDEST,
    ProgramFailed,
    host_version,
    trust_hooks,
)
from stanchion.hosts.coding.settings import (
    CLIENT,
    LEVELS,
    PORT,
    AgentsConfig,
    HookCaller,
    HostPlaces,
    SettingsLevel,
    hooks_form,
    hooks_of,
    kept_from,
    read_config,
    write_config,
)
from stanchion.hosts.foreign_file import (
    FileChange,
    FileChanged,
    TextForm,
    is_known,
    plan_change,
    read_foreign,
    remember,
)
from stanchion.hosts.mcp.client_config import servers_form
from stanchion.ops.views.amounts import counted
from stanchion.policy.load import load_policy

ATTEMPTS: Final = 8
"""How often a file is read again that others keep changing."""
NOT_WRITTEN: Final = 1
NOT_HEARD: Final = 1


class Job(NamedTuple):
    """Whose settings hooks are put into, or taken out of. `notes` is the file in which Codex writes
    down what it trusts, if the hooks are called only then."""

    agent: str
    named: str
    level: SettingsLevel
    at: HostPlaces
    state: Path
    path: Path
    servers: Path | None
    notes: Path | None


def _job(args: Args) -> Job:
    levels = LEVELS[args.agent]
    named = next((name for name in levels if getattr(args, name)), "user")
    level = levels[named]
    if level.managed and os.geteuid() != 0 and not args.dry_run:
        raise BadInput(
            "`--managed` writes what the agent cannot change, so it needs root: run it with `sudo`"
        )
    at = HostPlaces(Path.cwd(), Path.home(), dict(os.environ))
    servers = at.file(level.servers) if level.servers else None
    trusts = args.agent == "codex" and not level.managed
    notes = at.folder_of("codex") / "config.toml" if trusts else None
    state = state_folder(os.environ)
    return Job(args.agent, named, level, at, state, level.path(at), servers, notes)


def _install(args: Args) -> int:
    job = _job(args)
    managed, config = job.level.managed, _config(args, job.state)
    # Settings that hold for everybody name nothing that is one user's: neither a port, which
    # another user could take, nor a folder.
    state = "~" if managed else str(job.state)
    port = None if managed or args.command_hooks else config.port
    hooks = hooks_of(job.agent, HookCaller(sys.executable, state, port))
    forms = {job.path: hooks_form(job.path, hooks, managed)}
    if args.mcp:
        if job.servers is None or not job.servers.exists():
            where = "" if job.servers is None else f": there is no `{job.servers}`"
            raise BadInput(
                f"`--mcp` finds no servers of {job.agent} in {job.named} settings{where}"
            )
        forms[job.servers] = servers_form(job.servers, OURS, "mcp")
    if not args.anyway:
        _check_version(job)
    if managed and not args.anyway:
        _check_owners()
    status = _carried_out(args, job, forms, puts=True)
    if status == 0 and not args.dry_run:
        if not managed:
            write_config(job.state, config)
        return 0 if _tell_installed(job) else NOT_HEARD
    return status


def _uninstall(args: Args) -> int:
    job = _job(args)
    forms = {job.path: hooks_form(job.path, {}, job.level.managed)}
    for path in (job.servers, job.notes):
        if path is not None and (is_known(path, job.state) or (args.mcp and path == job.servers)):
            forms[path] = servers_form(path, OURS, "")
    return _carried_out(args, job, forms, puts=False)


def _config(args: Args, state: Path) -> AgentsConfig:
    """What is set for all agents: as it is where it is set already."""
    policy = None if args.policy is None else lasting(args.policy)
    if policy is not None:
        load_policy(policy)
    set_already = read_config(state)
    port = _free_port() if set_already is None else set_already.port
    kept = AgentsConfig().policy if set_already is None else set_already.policy
    return AgentsConfig(port, kept if policy is None else policy, sys.executable)


def _free_port() -> int:
    for port in range(PORT, PORT + 100):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise BadInput(f"no port from {PORT} on is free: install with `--command-hooks`")


def _check_version(job: Job) -> None:
    """Refuse a host that is too old; say so where nobody knows."""
    found, oldest = host_version(job.agent, job.at.environ), OLDEST.get(job.agent)
    if found is None:
        note(f"`{job.agent}` is not on PATH: which version is started is not known")
    elif oldest is not None and found < oldest:
        now, first = (".".join(map(str, one)) for one in (found, oldest))
        raise BadInput(
            f"{job.agent} {now} goes on where a hook fails, without a word: update it to {first} "
            f"or later, or install with `--anyway`"
        )


def _check_owners() -> None:
    """Refuse programs for settings that hold for everybody which others than root can change."""
    python = Path(sys.executable)
    for program in (python, python.resolve(), CLIENT.resolve()):
        for path in (program, *program.parents):
            about = path.stat()
            loose = about.st_mode & 0o022 and not about.st_mode & 0o1000
            if about.st_uid != 0 or loose:
                raise BadInput(
                    f"`{path}` can be changed by others than root, and with it what `{program}` "
                    f"does: install Stanchion where only root writes, or give `--anyway`"
                )


def _carried_out(args: Args, job: Job, forms: Mapping[Path, TextForm], *, puts: bool) -> int:
    """Show what is to be done, ask, and do it; gives the exit status."""
    # Settings that hold for everybody are read by everybody.
    mode = 0o644 if job.level.managed else 0o600
    for _ in range(ATTEMPTS):
        plans = [plan_change(path, form, job.state, puts=puts) for path, form in forms.items()]
        changes = [one for one in plans if one.changes]
        _show(changes, job, puts, args.diff)
        if args.dry_run:
            return 0
        if changes and not args.yes and not _agreed(len(changes)):
            tell("nothing is written")
            return NOT_WRITTEN
        try:
            for one in plans:
                one.carry_out(job.state, mode)
            return 0
        except FileChanged as error:
            note(f"`{error.filename}` was changed meanwhile, so it is read again")
        except OSError as error:
            raise BadInput(f"`{error.filename}` cannot be changed: {in_words(error)}") from None
    raise BadInput("others keep changing these files: try again when they are done")


def _show(changes: list[FileChange], job: Job, puts: bool, every_line: bool) -> None:
    for change in changes:
        shown = change.diff() if every_line else _in_short(change, job)
        for line in (*shown, *change.misses()):
            tell(line)
    if puts or not changes:
        tell(job.level.off if changes else "nothing to change")


def _in_short(change: FileChange, job: Job) -> Iterator[str]:
    """What becomes of a file, by the names of what is ours in it."""
    yield f"{change.file.path} ({job.named} settings of {job.agent})"
    found = {how: names for how, names in change.names().items() if names}
    for how, names in found.items():
        yield f"  {how}: {counted(len(names), change.form.piece)}, {', '.join(names)}"
    if change.new is None:
        yield "  the file goes, for it was made for this"
    elif not found:
        yield "  it becomes what it was before"


def _agreed(files: int) -> bool:
    note("what others have in there stays; `--diff` shows every line that changes")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput("nobody can be asked here: read the lines above, then give `--yes`")
    sys.stderr.write(f"write {'this' if files == 1 else 'these'}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell_installed(job: Job) -> bool:
    """Say what holds now; whether the host calls the hooks."""
    tell(f"the hooks of {job.agent} are in `{job.path}`")
    missing = list(kept_from(job.named, job.at)) if job.agent == "claude" else []
    if job.notes is not None:
        before = read_foreign(job.notes)
        missing = _trusted(job, job.notes)
        remember(before, job.state)
    for line in missing:
        tell(line)
    if not job.level.managed:
        tell(
            f"to put them out of the agent's reach: `sudo stanchion install {job.agent} --managed`"
        )
    tell(f"start {job.agent} anew, then see that it holds: `stanchion doctor {job.agent}`")
    return not missing


def _trusted(job: Job, notes: Path) -> list[str]:
    """Have Codex trust the hooks that its user has just agreed to; says why it does not call
    them."""
    try:
        if trust_hooks(job.at.project, job.at.environ, job.path):
            tell("Codex trusts them: it would not call them otherwise")
            return []
    except ProgramFailed as error:
        return [
            f"Codex calls none of them until you have trusted them: start `codex`, and do so in "
            f"`/hooks` (it could not be told so from here: {error})"
        ]
    folder = "or it does not trust this folder: start `codex` here, and trust it; "
    return [
        f"Codex calls none of them: `{notes}` has `hooks = false` in its `[features]`, or "
        f"`{job.path}` has something else in it that Codex does not know; "
        f"{folder if job.named == 'project' else ''}then install again"
    ]


LEVEL: Final = OptionGroup(
    "",
    (
        option("--user", "for all that you do with it (default)"),
        option("--project", "for what is done in the current folder"),
        option("--managed", "for everybody on this machine, and out of the agent's reach; as root"),
    ),
)
COMMON: Final = (
    option("agent AGENT", "claude or codex", type=word_of("agent", LEVELS)),
    LEVEL,
    option("--mcp", "its MCP servers, too"),
    option("--diff", "show every line that changes"),
    option("--dry-run", "show what would be done, and do nothing"),
    option("--yes", "do it without being asked"),
)
STATUS: Final = """exit status:
  0  the settings are as they should be
  1  you did not agree, so nothing is written; or the host calls no hooks, and why is said
  2  it cannot be done; the message says what to do"""

INSTALL_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion install claude|codex [--user|--project|--managed] [--mcp]
                         [--policy POLICY] [--diff] [--dry-run] [--yes]""",
    description="""\
Have a coding agent call Stanchion before it does anything: hooks are put into its settings,
beside what others have there. What changes is shown first. Doing it again changes nothing.

Hooks of your own settings, or of a project's, can be switched off by who may change those
settings; the last lines say how. With --managed only root can.""",
    epilog=f"""\
examples:
  stanchion install claude
  stanchion install codex --project --dry-run
  sudo stanchion install claude --managed

{STATUS}""",
    options=(
        *COMMON,
        option("--policy POLICY", "a policy file, or a pack (default: coding-agent)"),
        option("--command-hooks", "start a process for every hook, none over HTTP"),
        option("--anyway", "also where the hooks can be passed by"),
    ),
    work=_install,
)

UNINSTALL_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion uninstall claude|codex [--user|--project|--managed] [--mcp]
                           [--diff] [--dry-run] [--yes]""",
    description="""\
Take the hooks of Stanchion out of the settings of a coding agent. The file is what it was
before, to the letter if nobody else has changed it since; else only what is Stanchion's goes.""",
    epilog=f"""\
examples:
  stanchion uninstall claude --dry-run
  stanchion uninstall codex --yes

{STATUS}""",
    options=COMMON,
    work=_uninstall,
)
