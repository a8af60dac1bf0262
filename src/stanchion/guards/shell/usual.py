"""Usual places: the folders in which Stanchion keeps what is its own unless it is told otherwise,
on any host."""

from __future__ import annotations

import re
from typing import Final

from stanchion.guards._own import OwnPlaces, Use
from stanchion.kernel.regex import regex

HOME: Final = "/~"
USUAL: Final = OwnPlaces(
    closed=(
        f"{HOME}/.local/state/stanchion",
        f"{HOME}/.config/stanchion/keys",
        f"{HOME}/library/application support/stanchion",
    ),
    policies=(f"{HOME}/.config/stanchion", f"{HOME}/.cache/stanchion"),
    here="/here/is/somewhere/deep/down",
    home=HOME,
)
"""Where it is without settings: a home folder like any other."""

_OPEN: Final = regex(r"[*?\[$]")
_HOMES: Final = regex(r"/(?:home/[^/]+|users/[^/]+|root)(?=/|\Z)", re.IGNORECASE)
_CLOSED: Final = regex(
    r"(?:^|/)(?:"
    r"\.local/state/stanchion|appdata/(?:local|roaming)/stanchion|library/application "
    r"support/stanchion"
    r"|\.local/share/stanchion|var/lib/stanchion|\.config/stanchion/keys|etc/stanchion/keys|"
    r"\.stanchion/(?:trail|keys|sealed)"
    r"|\$\{?xdg_state_home\}?/stanchion|\$\{?stanchion_(?:state_dir|store|audit|audit_key)\}?"
    r"|(?<!src/)(?<!lib/)(?<!packages/)stanchion/(?:state\.db[^/]*|trail|audit\.key|sealed|epochs|"
    r"projects/[^/]*/(?:state\.db[^/]*|trail|sealed|epochs))"
    r")(?:/|$)"
)
_CHANGED: Final = regex(
    r"(?:^|/)(?:(?:site|dist)-packages/stanchion|\.stanchion|\.config/stanchion|\.cache/stanchion|"
    r"etc/stanchion|library/caches/stanchion"
    r"|\$\{?xdg_(?:config|cache)_home\}?/stanchion|\.?stanchion\.[^/]*)(?:/|$)"
)
_FIRST: Final = regex(
    r"(?:^|/)(?:site|dist)-packages/(?:[^/]*\.pth|(?:site|user)customize(?:\.py|/.*))$|(?:^|/)"
    r"python[\d.]*/sitecustomize\.py$"
)
_SOURCE: Final = regex(
    r"(?:^|/)stanchion\.(?:py|md|rst|txt|html|svg|png|css|js|ts|ipynb|egg-info|toml\.example)$"
)


def is_closed(path: str, base: str = "") -> bool:
    """Whether a path, seen from a folder, leads to state, records or keys, which no agent reads or
    changes."""
    if not may_lead(path, base):
        return False
    seen = seen_from(path, base)
    return _CLOSED.search(_plain(seen)) is not None or USUAL.leads_to(seen, "read") != ""


def is_kept(path: str, use: Use, base: str = "") -> bool:
    """Whether a path leads to something of ours that no agent changes so: those, policies and
    caches."""
    if use != "delete" and not may_lead(path, base):
        return False
    seen = seen_from(path, base)
    text = _plain(seen)
    if _CLOSED.search(text) is not None or USUAL.leads_to(seen, use) != "":
        return True
    return _CHANGED.search(text) is not None and _SOURCE.search(text) is None


def runs_first(path: str, base: str = "") -> bool:
    """Whether a file is one that Python runs whenever it starts."""
    return _FIRST.search(_plain(seen_from(path, base))) is not None


def may_lead(path: str, base: str) -> bool:
    """Whether a path can lead to us at all: our name is in it, or something that may stand for our
    name."""
    text = f"{base}/{path}" if base else path
    return _OPEN.search(text) is not None or "stanchion" in text.lower()


def seen_from(path: str, base: str) -> str:
    """A path from a folder on, every home being one."""
    whole = (
        path
        if not base or path[:1] in ("/", "~", "$", "%") or path[1:2] == ":"
        else f"{base}/{path}"
    )
    return _HOMES.sub("~", whole, count=1) if whole[:1] == "/" else whole


def _plain(path: str) -> str:
    kept: list[str] = []
    for name in path.lower().replace("\\", "/").split("/"):
        if name == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif name not in ("", "."):
            kept.append(name)
    return "/".join(kept)
