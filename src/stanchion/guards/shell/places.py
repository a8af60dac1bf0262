"""Places: which part of a machine a path leads to, and where secrets are."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.secret_sources import SOURCE
from stanchion.readings.word_lists import in_order

SYSTEM: Final = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/run",
    "/sbin", "/srv", "/sys", "/usr", "/var", "/System", "/Library", "/Applications", "/private",
    "/snap", "/mnt", "/media", "/Volumes", "C:/Windows", "C:",
)  # fmt: skip
CORE: Final = in_order("/bin /boot /dev /etc /lib /lib32 /lib64 /sbin /sys /usr /proc /System")
"""Folders of the system itself: a single file of these matters."""
HOMES: Final = ("/home", "/Users", "/root", "~")
TEMPORARY: Final = in_order("/tmp /var/tmp /dev/shm /private/tmp $TMPDIR $TMP $TEMP /var/folders")
SHARED: Final = frozenset({"/tmp", "/var/tmp", "/dev/shm", "/private/tmp"})
"""Those of them in which other programs keep their files and sockets, too."""
HIDDEN: Final = ("/tmp/.*", "/tmp/.[", "/tmp/.?", "/var/tmp/.*")
MADE_FOR_ONCE: Final = (
    "$TMP",
    "/tmp",
    "$(mktemp…)",
    "$env:TEMP/",
    "$env:TMP/",
    "%TEMP%/",
    "%TMP%/",
)
"""How a path begins that leads into such a folder, or to one that `mktemp` has just made."""
DISKS: Final = (
    "/dev/sd", "/dev/nvme", "/dev/hd", "/dev/vd", "/dev/xvd", "/dev/disk", "/dev/rdisk",
    "/dev/mmcblk", "/dev/md", "/dev/mapper", "/dev/dm-", "/dev/mem", "/dev/kmem", "/dev/port",
    "/dev/loop", "\\\\.\\PhysicalDrive",
)  # fmt: skip


class Roots(NamedTuple):
    """Folders in which a run may delete: absolute ones, and whether the working directory is one;
    and where the shield keeps what is its own."""

    absolute: tuple[str, ...]
    here: bool
    own: OwnPlaces = NOWHERE


def roots_of(given: tuple[str, ...], own: OwnPlaces = NOWHERE) -> Roots:
    """The folders as they are compared."""
    plain = [path.rstrip("/") for path in given]
    absolute = [path for path in plain if path.startswith(("/", "~", "$"))]
    return Roots(tuple(absolute), "." in plain or "" in plain, own)


def plain(path: str, cwd: str = "") -> str:
    """A path as it is compared: home is `~`, `.` and `..` are carried out, a relative one stands
    behind `cwd`."""
    if path[:1] in ("$", "%"):
        for name in ("$HOME", "${HOME}", "%USERPROFILE%"):
            if path.startswith(name):
                path = "~" + path[len(name) :]
        for name in ("$PWD", "$(pwd)", "$(pwd…)"):
            if path.startswith(name):
                path = "." + path[len(name) :]
    if "\\" in path:
        path = path.replace("\\", "/")
    if cwd and not path.startswith(("/", "~", "$")) and path[1:2] != ":":
        path = f"{plain(cwd)}/{path}"
    if path and path[0] != "." and path[-1] != "/" and "//" not in path and "/." not in path:
        return path
    lead = "/" if path.startswith("/") else ""
    kept: list[str] = []
    for piece in path.split("/"):
        if piece in ("", "."):
            continue
        if piece == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif piece != ".." or not lead:
            kept.append(piece)
    return lead + "/".join(kept) if kept or lead else "."


@lru_cache(64)
def _insides(folders: tuple[str, ...]) -> tuple[str, ...]:
    """How everything in the folders begins."""
    return tuple([f"{folder}/" for folder in folders])


def under(path: str, folders: tuple[str, ...]) -> str:
    """The folder that a path is in or is; empty where it is in none."""
    if not f"{path}/".startswith(_insides(folders)):
        return ""
    for folder in folders:
        if path == folder or path.startswith(folder + "/"):
            return folder
    return ""


def place_of(path: str, cwd: str, roots: Roots) -> str:
    """What a path stands for.

    `root`, `home`, `system`, `core` (a folder or file of the system itself), `disk`; `own` (in the
    folders of the run), `temporary`, and `shared` (everything in a temporary folder that others
    use, too); `made` (a build or a program makes it again); `all` (everything in the folder of the
    run); `outside` of it; `open` (begins with something that is not known).
    """
    where = plain(path, cwd)
    bare = (
        where[:-1].rstrip("/") if where.endswith("*") and where.rstrip("*").endswith("/") else where
    )
    bare = where.rstrip("*").rstrip("/") if where.endswith(("/*", "/**", "/.*")) else bare
    if where.startswith(DISKS):
        return "disk"
    if where == "/" or bare in ("", "/") or where in ("/.*", "/*"):
        return "root"
    if where[0] == "~" and "/" not in bare:
        return "home"
    folder = under(where, roots.absolute)
    if folder:
        return "all" if bare == folder else "own"
    if under(where, TEMPORARY) or where.startswith(MADE_FOR_ONCE):
        return "shared" if bare in SHARED or where.startswith(HIDDEN) else "temporary"
    from stanchion.guards.shell.made import is_made

    if is_made(where):
        return "made"
    if folder := under(where, HOMES):
        deep = bare.count("/") - (folder in ("/home", "/Users"))
        return "home" if deep <= (1 if folder in ("/home", "/Users") else 0) else "outside"
    if under(where, CORE):
        return "core"
    if under(where, SYSTEM):
        return "system"
    if where.startswith("$"):
        return "open"
    if where == ".." or where.startswith(("/", "../")) or where[1:2] == ":":
        return "outside"
    if not roots.here:
        return "outside"
    return "all" if where in (".", "*", "**", ".*", "./**", "{}") else "own"


PUBLIC: Final = (
    ".pub", ".example", ".sample", ".template", ".dist", ".tmpl", ".crt", ".md", ".ssh/config",
    ".ssh/known_hosts", ".ssh/authorized_keys",
)  # fmt: skip
"""How the names of files end that tell no secret."""

FOLDERS: Final = (
    r"\.(?:ssh|gnupg|aws|azure|oci|aliyun|kube|docker|terraform\.d|password-store)",
    r"\.config/(?:gcloud|gh|hub|op|doctl|rclone|sops|helm|heroku|stripe|netlify|configstore)",
    (
        r"\.local/share/keyrings|keychains?|(?:var/)?run/secrets|etc/(?:ssl/private|wireguard|"
        r"kubernetes/pki)"
    ),
    (
        r"(?:google/chrome|google-chrome|chromium|bravesoftware|microsoft/edge|\.mozilla|mozilla/"
        r"firefox|firefox/profiles)"
    ),
    r"\.(?:ethereum|bitcoin|electrum|solana|exodus)",
)
"""Folders that are secret as a whole: of keys, of tools and clouds, of browsers, of money."""

FILES: Final = (
    (
        r"\.ssh/(?:id_\w+|identity|\*.*)|id_(?:rsa|ed25519|ecdsa|dsa)\w*|[\w.*-]*(?:\.pem|\.key|"
        r"-key\.txt)"
    ),
    (
        r"[\w.*-]*\.(?:kdbx|keytab|jks|p12|pfx|ppk|keystore)|master\.key|wallet\.dat|"
        r"login\.keychain(?:-db)?"
    ),
    (
        r"\.aws/(?:credentials|config|sso|\*).*|\.docker/(?:config\.json|\*)|\.kube/\S+|\.config/\w+/"
        r"\S+|\.gnupg/.*"
    ),
    (
        r"\.(?:netrc|pgpass|git-credentials|npmrc|pypirc|my\.cnf|htpasswd|boto|s3cfg|vault-token|"
        r"terraformrc)"
    ),
    (
        r"(?:\.(?:gem|cargo)/)?credentials(?:\.(?:json|toml|ya?ml|xml|db|ini))?|\.m2/settings\S*|"
        r"\.composer/auth\S*"
    ),
    r"\.(?:claude|codex|gemini|cursor|continue|aider)/[^/]*(?:auth|credential|token|key)\S*",
    (
        r"\.env(?:\.\w+|rc)?|[\w-]+\.env|secrets?\.(?:ya?ml|json|toml|txt)|"
        r"service[-_]?account[\w.-]*\.json"
    ),
    r"[\w.*-]*\.(?:tfstate(?:\.backup)?|tfvars)",
    r"\.\w+_history|fish_history|consolehost_history\.txt",
    (
        r"etc/(?:g?shadow|sudoers\S*|krb5\.keytab|ssh/ssh_host\S*)|proc/[^/]+/environ|(?:var/)?run/"
        r"secrets/\S+"
    ),
    r"login data|local state|cookies(?:\.sqlite)?|key[34]\.db|logins\.json|web data",
    r"sam|ntds\.dit|lsass\.dmp|system32/config/\w+|\.terraform\.d/\S+|\.azure/\S+",
)
"""Files: keys, stores of keys, what tools keep, settings with secrets, histories, what the system
keeps, browsers'."""

_SECRET: Final = regex(rf"(?:^|[/@=:])(?:(?:{'|'.join(FOLDERS)})(?:/.*)?|{'|'.join(FILES)})$")


def is_secret(path: str) -> bool:
    """Whether a path is where keys, passwords or traces of people are usually kept."""
    if path == SOURCE[1:]:
        return True
    low = path.lower().replace("\\", "/").rstrip("/")
    return not low.endswith(PUBLIC) and _SECRET.search(low) is not None
