"""Credentials that tools keep for people: by whose folder it is, and by what a file is called."""

from __future__ import annotations

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
from stanchion.guards.files.protected.seat import Area, Rows, Seat, first_of
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
ASIDE: Final = listed(
    "completion completions plugin plugins extensions bin log logs themes schemas locale docs"
)
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
PAPERS: Final = listed(
    "txt rtf doc docx odt pages xls xlsx xlsm ods numbers csv tsv pdf one kdbx zip 7z"
)
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
    return first_of((*BY_NAME, *BY_AREA.get(seat.area, ())), seat, use, name)


def _is_personal(folders: tuple[str, ...], name: str) -> bool:
    """Whether a file is among a person's own papers: in such folders only, or a paper somewhere
    below one."""
    if all(not PERSONAL.isdisjoint(words_of(folder)) for folder in folders):
        return True
    return not PERSONAL.isdisjoint(words_of(folders[0])) and ending(name) in PAPERS


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


def _says_of_tool(seat: Seat) -> bool:
    """Whether names say credential where they are a tool's own."""
    named = map(says_credential_of_tool, seat.inner)
    return any(named) if seat.inner else says_credential(seat.tool)


BY_NAME: Final[Rows] = (
    (lambda seat, use, name: name.endswith(HISTORIES), HISTORY),
    (lambda seat, use, name: name == "history" and seat.tool and use == "read", HISTORY),
    (lambda seat, use, name: name in NAMED or name.startswith(TICKETS), TOOL),
    (lambda seat, use, name: use != "write" and _CLOUD.match(name), CLOUD),
    (lambda seat, use, name: name[:1] == "." and says_credential(name), TOOL),
)
"""What signs in wherever it is."""
PROFILE: Final[Rows] = ((lambda seat, use, name: seat.sure and ending(name) in PROFILES, TOOL),)
OF_TOOL: Final[Rows] = (
    *PROFILE,
    # A project may have such a folder too: there the file itself must say that it signs in.
    (
        lambda seat, use, _: (
            not seat.sure
            and use != "write"
            and seat.inner
            and (says_credential(seat.name) or (seat.name in USUAL and _signs_in(seat)))
        ),
        TOOL,
    ),
    (lambda seat, *_: not seat.sure, None),
    (lambda seat, *_: (seat.tool, *seat.inner[-1:]) in OPEN or seat.name.endswith(".pub"), None),
    (lambda seat, *_: _signs_in(seat) and "storage" in words_in(seat.inner[:-1]), TOOL),
    (lambda seat, *_: _signs_in(seat) and ASIDE.isdisjoint(words_in(seat.inner[:-1])), TOOL),
    (lambda seat, *_: _signs_in(seat) or is_code(seat.name), None),
    (lambda seat, *_: not SEEN.isdisjoint(words_in(seat.inner[:-1])), None),
    (lambda seat, *_: _says_of_tool(seat), TOOL),
    (
        lambda seat, use, _: (
            seat.tool in REGISTRIES and seat.name in REGISTRY_FILES and use != "write"
        ),
        TOOL,
    ),
    (
        lambda seat, use, _: (
            use == "read"
            and (ending(seat.name) in DATA or (not seat.inner and seat.area == "settings"))
            and keeps_for_its_user(seat)
        ),
        SETTINGS,
    ),
)
BY_AREA: Final[dict[Area, Rows]] = {
    "cache": (
        (lambda seat, _, name: seat.sure and len(seat.inner) == 2 and says_credential(name), TOOL),
    ),
    "plain": (
        *PROFILE,
        (lambda seat, *_: seat.inner[:1] in (("mail",), ("maildir",)), MAIL),
        (
            lambda seat, _, name: says_credential(name) and _is_personal(seat.inner[:-1], name),
            PERSON,
        ),
    ),
    "settings": OF_TOOL,
    "data": OF_TOOL,
}
"""What is known of the folders of a home, in the order in which it is asked."""
