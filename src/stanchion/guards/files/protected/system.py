"""The system itself: what it trusts, what it starts, and what it runs on."""

from __future__ import annotations

from typing import Final

from stanchion.guards._protected import CHANGES, Held, Protected, Use
from stanchion.guards.files.protected.names import (
    WORDS,
    ending,
    is_key_file,
    says_credential,
    words_of,
)
from stanchion.guards.files.protected.seat import Seat
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

RULES: Final = (
    Protected(
        "the system's passwords",
        in_order(
            "/etc/shadow* /etc/gshadow* /etc/master.passwd /etc/security/opasswd /etc/sudoers "
            "/etc/sudoers.d/** /var/db/shadow/** /etc/krb5.keytab /var/lib/sss/secrets/** "
            "?:/windows/system32/config/** ?:/windows/repair/** ?:/windows/ntds/** "
            "/etc/ssl/private/**"
        ),
    ),
    Protected(
        "the memory of a process",
        ("/proc/*/environ", "/proc/*/mem", "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"),
    ),
    Protected(
        "part of the system",
        (
            "/etc/**", "/boot/**", "/bin/**", "/sbin/**", "/lib/**", "/lib32/**", "/lib64/**",
            "/usr/bin/**", "/usr/sbin/**", "/usr/lib/**", "/usr/libexec/**", "/sys/**", "/proc/**",
            "/System/**", "/Library/LaunchDaemons/**", "/Library/LaunchAgents/**",
            "/var/spool/cron/**", "/var/lib/systemd/**", "/usr/share/**", "/usr/include/**",
            "/usr/local/etc/**", "/usr/local/sbin/**", "/Library/**", "/Applications/**",
            "?:/ProgramData/**", "?:/Program Files (x86)/**", "/var/db/**", "?:/windows/**",
            "?:/boot.ini", "?:/bootmgr", "?:/Program Files/**",
        ),
        CHANGES,
    ),
    Protected(
        "a disk",
        (
            "/dev/sd*", "/dev/hd*", "/dev/vd*", "/dev/xvd*", "/dev/nvme*", "/dev/mmcblk*",
            "/dev/disk*", "/dev/disk/**", "/dev/rdisk*", "/dev/md*", "/dev/dm-*", "/dev/mapper/**",
            "/dev/loop*", "/dev/zvol/**",
        ),
        CHANGES,
    ),
)  # fmt: skip

CLOSED: Final = WORDS["closed"]
"""Folders and files of the system that hold keys and passwords of networks, clusters, runners and
people."""
DATABASES: Final = WORDS["databases"]
"""Programs whose data below `/var/lib` is for themselves alone."""
SITES: Final = tuple(
    [
        tuple(path.split("/"))
        for path in in_order("var/www srv/www srv/http usr/share/nginx inetpub opt/lampp")
    ]
)
"""Where sites are served from."""
SERVED: Final = frozenset([start[0] for start in SITES])
_SITE: Final = regex(
    r"(?:wp-config|config(?:uration)?(?:\.inc)?|(?:local|default\.)?settings(?:\.inc)?|database|db|"
    r"parameters|env|secrets?"
    r"|connect(?:ion)?)\.(?:php|ya?ml|py|rb)\Z|web\.config\Z|appsettings(?:\.\w+)?\.json\Z|"
    r"tomcat-users\.xml\Z|local\.xml\Z"
)
"""Settings in which a site has the passwords of its database."""
SITE: Final = Held("settings of a site that is served", asks=True)
FOR_ALL: Final = listed("usr lib opt nix sys dev applications snap bin sbin")
"""Folders whose files all may read, but for keys."""
SIGNS: Final = listed("shadow creds cred userlist htdigest")
PACKAGES: Final = listed("dpkg apt rpm dnf pacman snapd command-not-found mlocate")
"""Programs below `/var/lib` that say what is installed and where it is."""
LOGS: Final = Held("what is recorded about this system")
CLOSED_TO: Final = Held("keys and passwords of the system")
PROGRAM: Final = Held("a program that others find by its name", asks=True)
MEMORY: Final = Held("the memory of a process")


def held(seat: Seat, use: Use) -> Held | None:
    """What the system keeps to itself: keys and passwords of any service, records, and the programs
    that all find."""
    parts = seat.all
    if use == "read" and parts[:1] and parts[0] in SERVED and _is_of_site(parts):
        return SITE
    if seat.area != "system" or not parts:
        return None
    if use == "read":
        return _read(parts)
    if parts[:2] == ("var", "log") or parts[:2] == ("private", "var"):
        return LOGS
    if parts[0] in ("usr", "opt") and not {"bin", "sbin"}.isdisjoint(parts[:-1]):
        return PROGRAM
    return CLOSED_TO if _read(parts) is not None else None


def _is_of_site(parts: tuple[str, ...]) -> bool:
    return (
        any(parts[: len(start)] == start for start in SITES) and _SITE.match(parts[-1]) is not None
    )


def _read(parts: tuple[str, ...]) -> Held | None:
    if parts[0] == "proc":
        return MEMORY if parts[-1] in ("environ", "mem", "kcore") else None
    if parts[0] in FOR_ALL:
        return CLOSED_TO if is_key_file(parts[-1]) and "share" not in parts else None
    if parts[:2] == ("var", "lib") and not DATABASES.isdisjoint(parts[2:3]):
        return CLOSED_TO
    if not CLOSED.isdisjoint(parts) or is_key_file(parts[-1]):
        return CLOSED_TO
    last = parts[-1]
    if says_credential(last) or not SIGNS.isdisjoint(words_of(last)):
        return CLOSED_TO
    stored = parts[:2] == ("var", "lib") and ending(last) in ("db", "sqlite", "sqlite3")
    return CLOSED_TO if stored and PACKAGES.isdisjoint(parts[2:3]) else None
