"""Classes of protected files: what a file is, by its name and by whose folder it is in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from stanchion.guards._own import FIRST, POLICY, STATE
from stanchion.guards._protected import CHANGES, FileProtection, Protected, Use
from stanchion.guards.files.protected.hosts import agents
from stanchion.guards.files.protected.seat import (
    CREDENTIAL,
    KEY_FILES,
    WORDS,
    PathSeat,
    ending,
    is_code,
    is_key_file,
    says_credential,
    says_credential_of_tool,
    words_in,
    words_of,
)
from stanchion.kernel.names import is_glob
from stanchion.kernel.regex import regex
from stanchion.readings.paths.place import pattern
from stanchion.readings.word_lists import Strings, in_order, listed

RULES: Final = (
    Protected(
        "the list of who may log in", ("**/.ssh/authorized_keys*", "**/.rhosts", "**/.shosts")
    ),
    Protected("a wallet", ("wallet.dat",)),
    Protected(
        "a file of passwords",
        ("unattend.xml", "sysprep.xml", "sysprep.inf", "_netrc", "ntuser.dat"),
    ),
    FIRST,
    Protected(
        "a hook",
        ("**/.git/**/hooks/**", "**/.git/**/config", "**/.git/info/attributes"),
        CHANGES,
        asks=True,
    ),
    Protected(
        "a program that others find by its name",
        in_order(
            "**/node_modules/.bin/* **/.venv/bin/* **/venv/bin/* **/.venv/Scripts/* "
            "**/venv/Scripts/*"
        ),
        CHANGES,
        asks=True,
    ),
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
        in_order(
            "/dev/sd* /dev/hd* /dev/vd* /dev/xvd* /dev/nvme* /dev/mmcblk* /dev/disk* /dev/disk/** "
            "/dev/rdisk* /dev/md* /dev/dm-* /dev/mapper/** /dev/loop* /dev/zvol/**"
        ),
        CHANGES,
    ),
    POLICY,
    STATE,
)  # fmt: skip
"""Files that are protected by globs, whatever their class is."""

_SECRETS: Final = FileProtection("settings with secrets")
_KEY: Final = FileProtection("a private key")
_TOOL: Final = FileProtection("credentials of a tool")
_START: Final = FileProtection("what starts by itself")
_PROGRAM: Final = FileProtection("a program that others find by its name", asks=True)
_LIBRARY: Final = FileProtection("what other programs load", asks=True)
_CLOSED: Final = FileProtection("keys and passwords of the system")


# Settings of a project that hold secrets.

_SETTINGS: Final = regex(
    r"\.env(?:rc)?(?:[._-].*)?\Z|[\w-]+\.env\Z|\.secrets?\Z|\.?secrets?\.(?:ya?ml|toml|json|env|"
    r"ini|properties)\Z"
)


def environment(seat: PathSeat, use: Use) -> FileProtection | None:
    """Settings in which a project keeps its secrets: whoever sets it up writes them, its program
    reads them."""
    name = seat.name if seat.inner else f".{seat.tool}" if seat.tool else ""
    if use == "write" or _SETTINGS.match(name) is None or name.endswith(".d.ts"):
        return None
    if name[0] != "." and ending(name) == "env" and WORDS["kinds"].isdisjoint(words_of(name)):
        return None
    if ending(name) in ("vault", "gpg", "age", "enc", "sops"):
        return None
    return _SECRETS._replace(asks=True) if use == "delete" else _SECRETS


# Private keys and the stores they are kept in.

RINGS: Final = listed("gnupg password-store keyrings keychains putty electrum electron-cash")
"""Tools that keep nothing but keys."""
_PUBLIC: Final = listed("known_hosts known_hosts.old pubring.kbx pubring.gpg trustdb.gpg")


def keys(seat: PathSeat, use: Use) -> FileProtection | None:
    """A private key that exists: making one in a project is no reading, and one among fixtures is
    made to be seen."""
    name = seat.name
    if name.endswith(".pub") or name in _PUBLIC:
        return None
    if seat.tool == "ssh":
        return FileProtection("keys for other hosts")
    if seat.tool in RINGS or not RINGS.isdisjoint(seat.all):
        return FileProtection("a ring of keys")
    if not is_key_file(name):
        return None
    if seat.area in ("near", "plain"):
        return None if use == "write" else _KEY._replace(asks=use == "delete")
    return None if seat.area == "temporary" else _KEY


# Credentials that tools keep for people: by whose folder it is, and by what a file is called.

_CLOUD: Final = regex(
    r"service[-_]account.*\.json\Z|credentials\.(?:json|db|ya?ml|csv)\Z|client_secret.*\.json\Z|"
    r"kubeconfig(?:\.ya?ml)?\Z"
    r"|application_default_credentials\.json\Z|gha-creds-.*\.json\Z"
)
"""Names that clouds give the files by which they are signed in to, wherever these are put."""
SIGNED_IN: Final = WORDS["signed in"]
"""Tools whose own folder or file signs people in somewhere, whatever their files are called."""
_LONG: Final = tuple([name for name in SIGNED_IN if len(name) > 6])
"""Those that are known even where another word is grown onto them: `telegramdesktop`."""
HISTORIES: Final = ("_history", "consolehost_history.txt", ".histfile", "lesshst")
PERSONAL: Final = WORDS["personal"]
"""Words of folders in which people keep what is theirs."""
TICKETS: Final = ("krb5cc_", "x509up_u")
"""How the names of tickets begin, which lie in folders for temporary files."""
PROFILES: Final = listed("ovpn pcf nmconnection remmina rdg psk mobileconfig")
"""Endings of what signs in to a network or another computer."""
USUAL: Final = listed("config config.json hosts.yml credentials.db rclone.conf")
OPEN: Final = frozenset(
    {("aws", "config"), ("docker", "daemon.json"), ("kube", "kubectx"), ("gcloud", "active_config")}
)


def credentials(seat: PathSeat, use: Use) -> FileProtection | None:
    """Credentials, by three questions: what the file is called, whose folder it is, and what is
    known of the tool."""
    name = seat.name if seat.inner else f".{seat.tool}"
    if name.endswith(HISTORIES) or (name == "history" and seat.tool and use == "read"):
        return FileProtection("a history of commands")
    if name in WORDS["named"] or name.startswith(TICKETS):
        return _TOOL
    if use != "write" and _CLOUD.match(name):
        return FileProtection("credentials of a cloud")
    if name[:1] == "." and says_credential(name):
        return _TOOL
    match seat.area:
        case "cache":
            return _TOOL if seat.sure and len(seat.inner) == 2 and says_credential(name) else None
        case "plain":
            return _among_papers(seat, name)
        case "settings" | "data":
            return _signing_in(seat, use, name)
    return None


def _among_papers(seat: PathSeat, name: str) -> FileProtection | None:
    """What is among a person's own things."""
    if seat.sure and ending(name) in PROFILES:
        return _TOOL
    if seat.inner[:1] in (("mail",), ("maildir",)):
        return FileProtection("somebody's mail", asks=True)
    personal = says_credential(name) and _is_personal(seat.inner[:-1], name)
    return FileProtection("somebody's passwords") if personal else None


def _is_personal(folders: Strings, name: str) -> bool:
    """Whether a file is among a person's own papers: in such folders only, or a paper somewhere
    below one."""
    if all(not PERSONAL.isdisjoint(words_of(folder)) for folder in folders):
        return True
    return not PERSONAL.isdisjoint(words_of(folders[0])) and ending(name) in WORDS["papers"]


def _signing_in(seat: PathSeat, use: Use, hidden: str) -> FileProtection | None:
    """What is in the folder of a tool."""
    tool, inner, name = seat.tool, seat.inner, seat.name
    if not seat.sure:
        return _TOOL if use != "write" and inner and _signs_in_itself(seat) else None
    if ending(hidden) in PROFILES:
        return _TOOL
    if (tool, *inner[-1:]) in OPEN or name.endswith(".pub"):
        return None
    folders = words_in(inner[:-1])
    if _signs_in(seat):
        return _TOOL if WORDS["aside"].isdisjoint(folders) or "storage" in folders else None
    if is_code(name) or not WORDS["seen"].isdisjoint(folders):
        return None
    if any(map(says_credential_of_tool, inner)) if inner else says_credential(tool):
        return _TOOL
    return _kept(seat, use)


def _signs_in_itself(seat: PathSeat) -> bool:
    """Whether a file says itself that it signs in, where a project may have such a folder, too."""
    return says_credential(seat.name) or (seat.name in USUAL and _signs_in(seat))


def _kept(seat: PathSeat, use: Use) -> FileProtection | None:
    """What a tool keeps that does not sign in by itself: where its user does, or data that nobody
    else knows."""
    if use != "write" and seat.tool in WORDS["registries"] and seat.name in WORDS["registry files"]:
        return _TOOL
    kept = ending(seat.name) in WORDS["data"] or (not seat.inner and seat.area == "settings")
    held = use == "read" and kept and keeps_for_its_user(seat)
    return FileProtection("what another program keeps for its user", asks=True) if held else None


def keeps_for_its_user(seat: PathSeat) -> bool:
    """Whether a folder is that of a tool of which nothing is known."""
    tool = {seat.tool, *words_of(seat.tool)}
    return seat.sure and seat.tool != "" and WORDS["of code"].isdisjoint(tool)


def _signs_in(seat: PathSeat) -> bool:
    """Whether the tool, or the one that its maker's folder holds, signs in."""
    for part in (seat.tool, *seat.inner[: 2 if seat.area == "data" else 1]):
        words = words_of(part)
        if not SIGNED_IN.isdisjoint((part, part.removeprefix("."), *words)):
            return True
        if any(word.startswith(_LONG) for word in words):
            return True
    return False


# What runs by itself: start-up files of shells, desktops, editors and interpreters, and programs
# that others find.

_STARTS: Final = regex(
    r"\.?(?:\w*(?:rc|profile|login|logout|aliases|functions|init|env|startup)(?:\.(?:d|local|ps1|"
    r"py|lua|vim|el|zsh|sh|bash))?"
    r"|xinitrc|xsession|pam_environment|forward|inputrc)\Z"
)
"""Names of what a shell or a tool runs when it begins."""
RUNS: Final = WORDS["runs"]
"""Words of folders whose files are run by themselves."""
SCRIPTS: Final = listed("sh bash zsh fish lua vim el ps1 bat cmd plist service timer desktop")
GATHERS: Final = WORDS["gathers"]
"""Folders in which people gather their projects."""
_OF_APPLICATION: Final = regex(
    r"(?:user|personal|site|custom)?[-_]?(?:setup|startup|autoexec|autorun|init|launch|menu|"
    r"profile|main)(?:[-_]\w+)?"
    r"\.(?:py|lua|mel|ms|js|jsx|scr|lsp|vbs|ps1|bat|cmd|sh|jl|m|rb|tcl|el)\Z|(?:personal|normal|"
    r"startup)\.(?:xlsb|xlsm|xla|xlam|dotm|dot)\Z"
)
"""Names of what an application runs when it begins, kept among a person's documents."""
SHARED: Final = (("users", "public"), ("users", "shared"))
RUNNABLE: Final = SCRIPTS | {"exe", "dll", "app", "com", "scr", "msi", "py"}
"""What runs, in the folders that all who use a computer share."""
CACHED: Final = listed("cache caches cacache log logs tmp")
SCRIPTED: Final = RUNS | listed(
    "scripts script macros python templates xlstart addins user presets"
)
"""Words of folders in which an application keeps what it runs."""
DEEPEST: Final = 5


def startup(seat: PathSeat, use: Use) -> FileProtection | None:
    """What would run without being asked for, once it is written outside of the project."""
    if use == "read" or not seat.sure:
        return None
    match seat.area:
        case "programs":
            return _PROGRAM if seat.inner else None
        case "libraries":
            return _LIBRARY
        case "plain":
            return _run_for_person(seat, use)
        case "settings" | "data":
            return _run_by_tool(seat)
    return None


def _run_by_tool(seat: PathSeat) -> FileProtection | None:
    """What is in the folder of a tool."""
    folders = (seat.tool, *seat.inner[:-1])
    words = words_in(folders)
    if not seat.tool or not WORDS["free"].isdisjoint(folders) or not CACHED.isdisjoint(words):
        return None
    if _STARTS.match(seat.name) or not RUNS.isdisjoint(words) or _ending(seat) in SCRIPTS:
        return _START
    followed = CACHED.isdisjoint(words_of(seat.name))
    return FileProtection("settings that other programs follow", asks=True) if followed else None


def _run_for_person(seat: PathSeat, use: Use) -> FileProtection | None:
    """What is among a person's own things: above their projects, or where an application looks when
    it begins."""
    folders = seat.inner[:-1]
    if seat.all[:2] in SHARED and _ending(seat) in RUNNABLE:
        return _PROGRAM
    if use == "delete" and seat.inner and "." not in seat.name[1:] and GATHERS.issuperset(folders):
        return FileProtection("a whole project", asks=True)
    if seat.name in WORDS["found above"] and GATHERS.issuperset(folders):
        return _LIBRARY
    if folders[-1:] in (("powershell",), ("windowspowershell",)):
        return _START
    if folders[:1] != ("documents",) or not 2 <= len(folders) <= DEEPEST or folders[1] in GATHERS:
        return None
    scripted = _OF_APPLICATION.match(seat.name) and not SCRIPTED.isdisjoint(words_in(folders[1:]))
    return _START if scripted else None


def _ending(seat: PathSeat) -> str:
    return seat.name.rpartition(".")[2]


# The system itself: what it trusts, what it starts, and what it runs on.

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
FOR_ALL: Final = listed("usr lib opt nix sys dev applications snap bin sbin")
"""Folders whose files all may read, but for keys."""
SIGNS: Final = listed("shadow creds cred userlist htdigest")
PACKAGES: Final = listed("dpkg apt rpm dnf pacman snapd command-not-found mlocate")
"""Programs below `/var/lib` that say what is installed and where it is."""


def system(seat: PathSeat, use: Use) -> FileProtection | None:
    """What the system keeps to itself: keys and passwords of any service, records, and the programs
    that all find."""
    parts = seat.all
    if use == "read" and parts[:1] and parts[0] in SERVED and _is_of_site(parts):
        return FileProtection("settings of a site that is served", asks=True)
    if seat.area != "system" or not parts:
        return None
    if use == "read":
        return _closed(parts)
    if parts[:2] == ("var", "log") or parts[:2] == ("private", "var"):
        return FileProtection("what is recorded about this system")
    if parts[0] in ("usr", "opt") and not {"bin", "sbin"}.isdisjoint(parts[:-1]):
        return _PROGRAM
    return _CLOSED if _closed(parts) is not None else None


def _is_of_site(parts: Strings) -> bool:
    served = any(parts[: len(start)] == start for start in SITES)
    return served and _SITE.match(parts[-1]) is not None


def _closed(parts: Strings) -> FileProtection | None:
    """What of the system nobody reads."""
    last = parts[-1]
    if parts[0] == "proc":
        memory = last in ("environ", "mem", "kcore")
        return FileProtection("the memory of a process") if memory else None
    if parts[0] in FOR_ALL:
        return _CLOSED if is_key_file(last) and "share" not in parts else None
    of_service = parts[2:3] if parts[:2] == ("var", "lib") else ()
    if not WORDS["databases"].isdisjoint(of_service) or not WORDS["closed"].isdisjoint(parts):
        return _CLOSED
    if is_key_file(last) or says_credential(last) or not SIGNS.isdisjoint(words_of(last)):
        return _CLOSED
    stored = parts[:2] == ("var", "lib") and ending(last) in ("db", "sqlite", "sqlite3")
    return _CLOSED if stored and PACKAGES.isdisjoint(of_service) else None


Family = Callable[[PathSeat, Use], FileProtection | None]
"""A class, which says why a file may not be used so."""
SHOWN_FREELY: Final[tuple[Family, ...]] = (startup, system, agents)
"""The families for what is made to be seen: fixtures, examples and templates hold nobody's
secrets."""
FAMILIES: Final[tuple[Family, ...]] = (environment, keys, credentials, *SHOWN_FREELY)

_ROOTED: Final = r"(?:^|[^\w.:/-])/|(?:^|[^a-z0-9])[a-z]:|:/[^/]|:///|file:"
"""A path that begins elsewhere than where the run works: at the top, on a drive, behind a
scheme."""
_ODD: Final = r"[^\n -~]|[$%*?\[\\~]|\.\.|0x|(?:^|[^\w.])\.[^./\s]"
"""What can be read in several ways or stands for other names, climbs, or begins with a dot."""
_KNOWN: Final = (
    CREDENTIAL.pattern,
    rf"\.(?:env|{'|'.join(sorted(KEY_FILES | PROFILES))})\b",
    *sorted([*RINGS, *TICKETS]),
    "id_(?:[rd]sa|ecdsa|ed25519)|ssh_host_|kubeconfig|service[-_]account|gha-creds",
    "_history|histfile|lesshst|appdata|mcp|claude_desktop",
    r"(?:www|srv|nginx|inetpub|lampp)[. ]*/",
    "opencode|crush\\.json|gemini-extension|kiro\\.hook|code-workspace|documents",
    *[re.escape(name) for name in sorted(WORDS["instructions"]) if name[0] != "."],
)
"""Parts of names by which a file is protected wherever it is."""


def signs_of(more: list[str]) -> str:
    """What no path is without that a class or a glob protects from being read or written, seen from
    a folder of which nothing is known, so that one search tells that a call names none. Deleting is
    another matter: it reaches what is inside."""
    made = [pattern(text) for rule in RULES for text in rule.globs]
    known = [
        max([part for part in one.parts if not is_glob(part)], key=len)
        for one in made
        if one.anywhere
    ]
    names = [re.escape(name) for name in known if name[0] != "."]
    return "(?i)" + "|".join([_ROOTED, _ODD, *_KNOWN, *names, *more])
