"""Credentials that tools keep for people: by whose folder it is, and by what a file is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.guards._protected import Held, Protected, Use
from stanchion.guards.files.protected.names import (
    WORDS,
    ending,
    is_code,
    says_credential,
    says_credential_of_tool,
    words_in,
    words_of,
)
from stanchion.guards.files.protected.seat import Area, Seat
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

RULES: Final = (
    Protected(
        "a file of passwords",
        ("unattend.xml", "sysprep.xml", "sysprep.inf", "_netrc", "ntuser.dat"),
    ),
)

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
REGISTRIES: Final = WORDS["registries"]
REGISTRY_FILES: Final = WORDS["registry files"]
"""Settings of package managers in which their users sign in."""
OF_CODE: Final = WORDS["of code"]
"""Tools of which what is not called a credential is none."""
SEEN: Final = WORDS["seen"]
"""Folders of a tool with what it fetched or made, none of it anybody's credential."""
ASIDE: Final = WORDS["aside"]
"""Folders with none even of a tool that signs in; its caches hold what it signed in with."""
HISTORIES: Final = ("_history", "consolehost_history.txt", ".histfile", "lesshst")
NAMED: Final = WORDS["named"]
"""Files that sign in wherever they are."""
DATA: Final = WORDS["data"]
PERSONAL: Final = WORDS["personal"]
"""Words of folders in which people keep what is theirs."""
TICKETS: Final = ("krb5cc_", "x509up_u")
"""How the names of tickets begin, which lie in folders for temporary files."""
PROFILES: Final = listed("ovpn pcf nmconnection remmina rdg psk mobileconfig")
"""Endings of what signs in to a network or another computer."""
PAPERS: Final = WORDS["papers"]
"""Endings of what people write for themselves."""
USUAL: Final = listed("config config.json hosts.yml credentials.db rclone.conf")
OPEN: Final = frozenset(
    {("aws", "config"), ("docker", "daemon.json"), ("kube", "kubectx"), ("gcloud", "active_config")}
)

CLOUD: Final = Held("credentials of a cloud")
TOOL: Final = Held("credentials of a tool")
MAIL: Final = Held("somebody's mail", asks=True)
PERSON: Final = Held("somebody's passwords")
HISTORY: Final = Held("a history of commands")
SETTINGS: Final = Held("what another program keeps for its user", asks=True)


def held(seat: Seat, use: Use) -> Held | None:
    """Credentials, by three questions: what the file is called, whose folder it is, and what is
    known of the tool."""
    name = seat.name if seat.inner else f".{seat.tool}"
    if name.endswith(HISTORIES) or (name == "history" and seat.tool and use == "read"):
        return HISTORY
    if name in NAMED or name.startswith(TICKETS):
        return TOOL
    if use != "write" and _CLOUD.match(name):
        return CLOUD
    if name[:1] == "." and says_credential(name):
        return TOOL
    inside = BY_AREA.get(seat.area)
    return None if inside is None else inside(seat, use, name)


def _cached(seat: Seat, _use: Use, name: str) -> Held | None:
    """What is in a cache."""
    return TOOL if seat.sure and len(seat.inner) == 2 and says_credential(name) else None


def _plainly(seat: Seat, _use: Use, name: str) -> Held | None:
    """What is among a person's own things."""
    if seat.sure and ending(name) in PROFILES:
        return TOOL
    if seat.inner[:1] in (("mail",), ("maildir",)):
        return MAIL
    return PERSON if says_credential(name) and _is_personal(seat.inner[:-1], name) else None


def _is_personal(folders: tuple[str, ...], name: str) -> bool:
    """Whether a file is among a person's own papers: in such folders only, or a paper somewhere
    below one."""
    if all(not PERSONAL.isdisjoint(words_of(folder)) for folder in folders):
        return True
    return not PERSONAL.isdisjoint(words_of(folders[0])) and ending(name) in PAPERS


def _signs_in_itself(seat: Seat) -> bool:
    """Whether a file says itself that it signs in, where a project may have such a folder, too."""
    named = says_credential(seat.name) or (seat.name in USUAL and _signs_in(seat))
    return bool(seat.inner) and named


def _of_tool(seat: Seat, use: Use, hidden: str) -> Held | None:
    """What is in the folder of a tool."""
    tool, inner, name = seat.tool, seat.inner, seat.name
    if not seat.sure:
        return TOOL if use != "write" and _signs_in_itself(seat) else None
    if ending(hidden) in PROFILES:
        return TOOL
    if (tool, *inner[-1:]) in OPEN or name.endswith(".pub"):
        return None
    folders = words_in(inner[:-1])
    if _signs_in(seat):
        return TOOL if ASIDE.isdisjoint(folders) or "storage" in folders else None
    if is_code(name) or not SEEN.isdisjoint(folders):
        return None
    if any(map(says_credential_of_tool, inner)) if inner else says_credential(tool):
        return TOOL
    return _kept(seat, use)


def _kept(seat: Seat, use: Use) -> Held | None:
    """What a tool keeps that does not sign in by itself: where its user does, or data that nobody
    else knows."""
    if use != "write" and seat.tool in REGISTRIES and seat.name in REGISTRY_FILES:
        return TOOL
    kept = ending(seat.name) in DATA or (not seat.inner and seat.area == "settings")
    return SETTINGS if use == "read" and kept and keeps_for_its_user(seat) else None


def keeps_for_its_user(seat: Seat) -> bool:
    """Whether a folder is that of a tool of which nothing is known."""
    return seat.sure and seat.tool != "" and OF_CODE.isdisjoint({seat.tool, *words_of(seat.tool)})


def _signs_in(seat: Seat) -> bool:
    """Whether the tool, or the one that its maker's folder holds, signs in."""
    for part in (seat.tool, *seat.inner[: 2 if seat.area == "data" else 1]):
        words = words_of(part)
        if not SIGNED_IN.isdisjoint((part, part.removeprefix("."), *words)):
            return True
        if any(word.startswith(_LONG) for word in words):
            return True
    return False


BY_AREA: Final[dict[Area, Callable[[Seat, Use, str], Held | None]]] = {
    "cache": _cached,
    "plain": _plainly,
    "settings": _of_tool,
    "data": _of_tool,
}
