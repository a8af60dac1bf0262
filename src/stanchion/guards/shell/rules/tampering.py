"""Tampering: traces that would be wiped, and Stanchion itself switched off."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule
from stanchion.guards.shell.rules import own
from stanchion.readings.shell.command import Command

TRACES: Final = (
    ".bash_history",
    ".zsh_history",
    ".history",
    "/var/log",
    "wtmp",
    "btmp",
    "lastlog",
    "auth.log",
    "audit.log",
    "/var/audit",
)


def _wipes_traces(command: Command, _roots: Roots) -> bool:
    paths = (
        *command.deletes,
        *[path for path in command.writes if command.name in ("truncate", "ln", "shred")],
    )
    return any(mark in path for path in (*paths, *_emptied(command)) for mark in TRACES)


def _emptied(command: Command) -> list[str]:
    return [path for op, path in command.opens if op in (">", ">|", "&>")]


def _opens_traces(command: Command, _roots: Roots) -> bool:
    silent = command.name in ("", ":", "true", "cat", "echo") and (
        len(command.argv) < 2 or command.argv[1] in ("/dev/null", "", "-n")
    )
    return silent and any(mark in path for path in _emptied(command) for mark in TRACES)


def _history_off(command: Command, _roots: Roots) -> bool:
    for name, value in command.settings:
        if name in ("HISTFILE", "HISTSIZE", "HISTFILESIZE") and value in ("", "0", "/dev/null"):
            return True
    return False


FAMILY: Final = Family(
    "tampering",
    "control",
    (
        Rule("history", "wipes the shell's history", flags="-c"),
        Rule(
            "history",
            "deletes from the shell's history",
            flags="-d",
            check=lambda c, _: bool(c.operands),
        ),
        Rule("unset", "stops the shell's history", words="histfile|histsize|prompt_command"),
        Rule(
            "set", "stops the shell's history", check=lambda c, _: c.argv[1:3] == ("+o", "history")
        ),
        Rule("=", "stops the shell's history", check=_history_off),
        Rule("rm shred truncate unlink ln mv srm", "wipes a history or a log", check=_wipes_traces),
        Rule(">", "wipes a history or a log", check=_opens_traces),
        Rule(
            "journalctl",
            "wipes the system's log",
            flags="--vacuum-time|--vacuum-size|--vacuum-files|--rotate",
            loss="unknown",
        ),
        Rule(
            "auditctl",
            "stops the system's records",
            check=lambda c, _: "-D" in c.argv or c.argv[1:3] == ("-e", "0"),
        ),
        Rule(
            "systemctl service rc-service",
            "stops the system's records",
            words=(
                "stop|disable|mask|kill auditd|rsyslog|syslog*|systemd-journald|falco|osquery*|"
                "fail2ban"
            ),
        ),
        Rule("service", "stops the system's records", words="auditd|rsyslog|syslog|fail2ban stop"),
        Rule("wevtutil", "wipes the system's log", words="cl|clear-log"),
        Rule("clear-eventlog remove-eventlog limit-eventlog", "wipes the system's log"),
        Rule(
            "touch",
            "gives a file another time",
            flags="-r|--reference|-t",
            check=lambda c, _: any(
                m in p for p in c.operands for m in ("/etc/", "/usr/", "/bin/", "/var/log")
            ),
            loss="unknown",
        ),
        Rule("pkill killall", "stops Stanchion", words="** stanchion*"),
        Rule("systemctl", "stops Stanchion", words="stop|disable|mask|kill stanchion*"),
        Rule(
            "pip pip3 pipx uv poetry", "removes Stanchion", words="** uninstall|remove stanchion*"
        ),
        *own.RULES,
    ),
)

HITS: Final = (
    "history -c",
    "unset HISTFILE",
    "export HISTFILE=/dev/null",
    "rm ~/.bash_history",
    "> /var/log/auth.log",
    "rm -f /var/log/syslog",
    "set +o history",
    "systemctl stop auditd",
    "pkill -f stanchion",
    "pip uninstall -y stanchion",
    "uv remove Stanchion.Guard",
    "HISTSIZE=0",
    "cat /dev/null > ~/.zsh_history",
    "ln -sf /dev/null ~/.bash_history",
    *own.HITS,
)
MISSES: Final = (
    "history",
    "cat /var/log/syslog",
    "tail -f /var/log/auth.log",
    "echo $HISTFILE",
    "journalctl -u nginx",
    "grep stanchion README.md",
    "systemctl status stanchion",
    "pip uninstall -y requests",
    "echo line >> /var/log/app.log",
    *own.MISSES,
)
