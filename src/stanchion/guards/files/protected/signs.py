"""Signs: what every protected path has at least one of, so that one search tells that a call names
none."""

from __future__ import annotations

import re
from typing import Final

from stanchion.guards.files.protected.credentials import PROFILES, TICKETS
from stanchion.guards.files.protected.keys import RINGS
from stanchion.guards.files.protected.names import CREDENTIAL, KEY_FILES
from stanchion.kernel.names import is_glob
from stanchion.readings.paths.globs import Pattern

ROOTED: Final = r"(?:^|[^\w.:/-])/|(?:^|[^a-z0-9])[a-z]:|:/[^/]|:///|file:"
"""A path that begins elsewhere than where the run works: at the top, on a drive, behind a
scheme."""
ODD: Final = r"[^\n -~]|[$%*?\[\\~]|\.\.|0x|(?:^|[^\w.])\.[^./\s]"
"""What can be read in several ways or stands for other names, climbs, or begins with a dot."""
KNOWN: Final = "|".join(
    [
        CREDENTIAL.pattern,
        rf"\.(?:env|{'|'.join(sorted(KEY_FILES | PROFILES))})\b",
        *sorted([*RINGS, *TICKETS]),
        "id_(?:[rd]sa|ecdsa|ed25519)|ssh_host_|kubeconfig|service[-_]account|gha-creds",
        "_history|histfile|lesshst|appdata|mcp|claude_desktop",
        r"(?:www|srv|nginx|inetpub|lampp)[. ]*/",
    ]
)
"""Parts of names by which a file is protected wherever it is."""


def signs_of(globs: list[Pattern], more: list[str]) -> str:
    """What no path is without that a class or one of these globs protects from being read or
    written, seen from a folder of which nothing is known. Deleting is another matter: it reaches
    what is inside."""
    known = [
        max([x for x in one.parts if not is_glob(x)], key=len) for one in globs if one.anywhere
    ]
    names = [re.escape(name) for name in known if name[0] != "."]
    return "(?i)" + "|".join([ROOTED, ODD, KNOWN, *names, *more])
