"""`stanchion install` and `stanchion uninstall`: hooks in the settings of coding agents."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.audit.layout import state_folder
from stanchion.cli.command import (
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    OptionGroup,
    Work,
    option,
    word_of,
)
from stanchion.cli.mcp import OURS, lasting
from stanchion.cli.terminal import note, tell
from stanchion.hosts.coding.installing import (
    AS_IT_IS,
    SettingsChange,
    SettingsForm,
    hooks_form,
    is_known,
    plan_install,
    plan_uninstall,
    remember,
    servers_form,
)
from stanchion.hosts.coding.program import (
    OLDEST,
    ProgramFailed,
    forget_hooks,
    host_version,
    trust_hooks,
)
from stanchion.hosts.coding.settings import (
    CLIENT,
    LEVELS,
    PORT,
    AgentsConfig,
    BadSettings,
    HookCaller,
    HostPlaces,
    SettingsLevel,
    hooks_of,
    kept_from,
    read_config,
    write_config,
)
from stanchion.hosts.foreign_file import FileChanged, read_foreign
from stanchion.policy.load import load_policy

ATTEMPTS: Final = 8
"""How often a file is read again that others keep changing."""
NOT_WRITTEN: Final = 1


class Job(NamedTuple):
    """The settings of an agent that hooks are put into, or taken out of."""

    agent: str
    level: SettingsLevel
    at: HostPlaces
    state: Path
    forms: Mapping[Path, SettingsForm]

    @property
    def path(self) -> Path:
        """The file of its hooks."""
        return self.level.path(self.at)

    @property
    def trusting(self) -> Path:
        """The file in which Codex writes down what it trusts."""
        return self.at.folder_of("codex") / "config.toml"

    @property
    def mode(self) -> int:
        """Who may read what is new: settings that hold for everybody are read by everybody."""
        return 0o644 if self.level.managed else 0o600


def _job(args: Args, form: Callable[[Path, SettingsLevel, Path], SettingsForm]) -> Job:
    named = [level for level in LEVELS[args.agent] if getattr(args, level)]
    level = LEVELS[args.agent][named[0] if named else "user"]
    if level.managed and os.geteuid() != 0 and not args.dry_run:
        raise BadInput(
            "`--managed` writes what the agent cannot change, so it needs root: run it with `sudo`"
        )
    at = HostPlaces(Path.cwd(), Path.home(), dict(os.environ))
    state = state_folder(os.environ)
    path = level.path(at)
    return Job(args.agent, level, at, state, {path: form(path, level, state)})


def _install(args: Args) -> int:
    config = _config(args, state_folder(os.environ))
    job = _job(args, lambda path, level, state: _hooks(args, config, path, level, state))
    if args.mcp:
        job = job._replace(forms={**job.forms, **_servers(job)})
    _check_version(args)
    if job.level.managed:
        _check_owners(args)
    status = _carried_out(args, job, plan_install)
    if status == 0 and not args.dry_run:
        if not job.level.managed:
            write_config(job.state, config)
        _tell_installed(job)
    return status


def _uninstall(args: Args) -> int:
    job = _job(args, lambda path, level, _: hooks_form(path, {}, level.managed))
    servers = None if job.level.servers is None else job.level.servers(job.at)
    forms = dict(job.forms)
    if servers is not None and (args.mcp or is_known(servers, job.state)):
        forms[servers] = servers_form(OURS, "")
    if _trusts(job) and is_known(job.trusting, job.state):
        forms[job.trusting] = AS_IT_IS
    return _carried_out(args, job._replace(forms=forms), plan_uninstall, _forget)


def _settings_work(work: Work) -> Work:
    """Work on settings, whose faults are bad input."""

    def done(args: Args) -> int:
        with AsBadInput(BadSettings):
            return work(args)

    return done


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


def _hooks(
    args: Args, config: AgentsConfig, path: Path, level: SettingsLevel, state: Path
) -> SettingsForm:
    # Settings that hold for everybody name nothing that is one user's: neither a port, which
    # another user could take, nor a folder.
    mine = not level.managed and not args.command_hooks
    caller = HookCaller(
        sys.executable, "~" if level.managed else str(state), config.port if mine else None
    )
    return hooks_form(path, hooks_of(args.agent, caller), level.managed)


def _check_version(args: Args) -> None:
    """Refuse a host that is too old; say so where nobody knows."""
    found = host_version(args.agent, os.environ)
    oldest = OLDEST.get(args.agent)
    if found is None:
        note(f"`{args.agent}` is not on PATH: which version is started is not known")
    elif oldest is not None and found < oldest and not args.anyway:
        now, first = (".".join(map(str, one)) for one in (found, oldest))
        raise BadInput(
            f"{args.agent} {now} goes on where a hook fails, without a word: update it to {first} "
            f"or later, or install with `--anyway`"
        )


def _check_owners(args: Args) -> None:
    """Refuse programs for settings that hold for everybody which others than root can change."""
    python = Path(sys.executable)
    for program in (python, python.resolve(), CLIENT.resolve()):
        for path in (program, *program.parents):
            about = path.stat()
            loose = about.st_mode & 0o022 and not about.st_mode & 0o1000
            if (about.st_uid != 0 or loose) and not args.anyway:
                raise BadInput(
                    f"`{path}` can be changed by others than root, and with it what `{program}` "
                    f"does: install Stanchion where only root writes, or give `--anyway`"
                )


def _carried_out(
    args: Args,
    job: Job,
    plan: Callable[[Path, SettingsForm, Path], SettingsChange],
    first: Callable[[Job], None] = lambda _: None,
) -> int:
    """Show what is to be done, ask, and do it, after something else that is to be done first; gives
    the exit status."""
    for _ in range(ATTEMPTS):
        plans = [plan(path, form, job.state) for path, form in job.forms.items()]
        changes = [one for one in plans if one.changes]
        for line in [line for change in changes for line in change.diff()]:
            tell(line)
        if not changes:
            tell("nothing to change")
        if args.dry_run:
            return 0
        if changes and not args.yes and not _agreed(len(changes)):
            tell("nothing is written")
            return NOT_WRITTEN
        try:
            first(job)
            for one in plans:
                one.carry_out(job.state, job.mode)
            return 0
        except FileChanged as error:
            note(f"`{error.filename}` was changed meanwhile, so it is read again")
    raise BadInput("others keep changing these files: try again when they are done")


def _agreed(files: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput("nobody can be asked here: read the diff above, then give `--yes`")
    sys.stderr.write(f"write {'this' if files == 1 else 'these'}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell_installed(job: Job) -> None:
    tell(f"the hooks of {job.agent} are in `{job.path}`")
    level = next(name for name, one in LEVELS[job.agent].items() if one is job.level)
    for line in (*_trusted(job), *(kept_from(level, job.at) if job.agent == "claude" else ())):
        tell(line)
    tell(job.level.off)
    if not job.level.managed:
        tell(f"where that must not be: `sudo stanchion install {job.agent} --managed`")
    tell(f"start {job.agent} anew, then see that it holds: `stanchion doctor {job.agent}`")


def _trusts(job: Job) -> bool:
    """Whether hooks are called only once the host trusts them."""
    return job.agent == "codex" and not job.level.managed


def _trusted(job: Job) -> Iterator[str]:
    """Have the host trust the hooks that its user has just agreed to."""
    if not _trusts(job):
        return
    before = read_foreign(job.trusting)
    try:
        if trust_hooks(job.at.project, job.at.environ, job.path):
            yield "Codex trusts them: it would not call them otherwise"
        else:
            yield (
                "Codex does not read them, since it does not trust this folder: start `codex` "
                "here, trust the folder, and install again"
            )
    except ProgramFailed as error:
        yield (
            f"Codex calls them once you have trusted them: start `codex`, and do so in `/hooks` "
            f"(it could not be told so from here: {error})"
        )
    remember(before, job.state)


def _forget(job: Job) -> None:
    if not _trusts(job) or is_known(job.trusting, job.state, unchanged=True):
        return
    try:
        forget_hooks(job.at.project, job.at.environ, job.path)
    except ProgramFailed as error:
        note(f"`{job.trusting}` still says that Codex trusted these hooks: {error}")


def _servers(job: Job) -> Mapping[Path, SettingsForm]:
    """The MCP servers of the same level, behind the proxy."""
    if job.level.servers is None:
        raise BadInput(
            "`--mcp` is for claude: Codex has its servers in `config.toml`, where `stanchion mcp "
            "--` goes before the command of each"
        )
    file = job.level.servers(job.at)
    if not file.exists():
        raise BadInput(f"`--mcp` finds no servers: there is no `{file}`")
    return {file: servers_form(OURS, "mcp")}


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
    option("--dry-run", "show what would be done, and do nothing"),
    option("--yes", "do it without being asked"),
)
STATUS: Final = """exit status:
  0  the settings are as they should be
  1  you did not agree, so nothing is written
  2  it cannot be done; the message says what to do"""

INSTALL_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion install claude|codex [--user|--project|--managed] [--mcp]
                         [--policy POLICY] [--dry-run] [--yes]""",
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
    work=_settings_work(_install),
)

UNINSTALL_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion uninstall claude|codex [--user|--project|--managed] [--mcp]
                           [--dry-run] [--yes]""",
    description="""\
Take the hooks of Stanchion out of the settings of a coding agent. The file is what it was
before, to the letter if nobody else has changed it since; else only what is Stanchion's goes.""",
    epilog=f"""\
examples:
  stanchion uninstall claude --dry-run
  stanchion uninstall codex --yes

{STATUS}""",
    options=COMMON,
    work=_settings_work(_uninstall),
)
