"""Names: what the name of a file says of what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed, sections

WORDS: Final = sections("stanchion.guards.files.protected", "words.txt")
"""The words by which files are protected, by the titles above them."""

_WORDS: Final = regex(r"[a-z]+|[0-9]+")
CREDENTIAL: Final = regex(
    r"credential|secret|passw|passphrase|token|oauth|api[-_.]?key|private[-_.]?key|keychain|"
    r"keyring|keystore"
    r"|wallet|mnemonic|cookie|htpasswd|keytab|kdbx|gshadow|opasswd|privkey|logins?\b|login "
    r"data|\.jceks"
    r"|recovery.?(?:code|key)|state\.vscdb"
)
"""Parts of names that say credential, however the rest is written."""
CREDENTIAL_WORDS: Final = WORDS["credential words"]
"""Words that say credential where a tool keeps its own things."""

CODE: Final = WORDS["code"]
"""Endings of files that are written by people or shown to them, and hold no credential of their
own."""
KEY_FILES: Final = listed("pem key ppk p12 pfx jks keystore kdbx p8 agekey kdb")
"""Endings of files with private keys."""
CERTIFICATE: Final = WORDS["certificate"]
"""Words in the name of a file with an ending of keys that say it holds what anybody may see."""
SAMPLE: Final = WORDS["sample"]
"""Words of folders and names of things that are made to be seen."""


def words_of(name: str) -> list[str]:
    """The words of a name in lower case."""
    return _WORDS.findall(name)


def words_in(parts: Iterable[str]) -> set[str]:
    """The words of several names."""
    return {word for part in parts for word in words_of(part)}


def ending(name: str) -> str:
    """What stands behind the last dot of a name that does not begin with it."""
    head, dot, last = name.rpartition(".")
    return last if dot and head else ""


def is_code(name: str) -> bool:
    """Whether a name is that of a text that people write."""
    return ending(name) in CODE


def says_credential(name: str) -> bool:
    """Whether a name says credential, wherever the file is."""
    return (
        CREDENTIAL.search(name) is not None
        and not is_code(name)
        and name not in ("passwd", "passwd-")
    )


def says_credential_of_tool(name: str) -> bool:
    """Whether a name says credential where it is a tool's own."""
    return says_credential(name) or (
        not is_code(name) and not CREDENTIAL_WORDS.isdisjoint(words_of(name))
    )


def is_key_file(name: str) -> bool:
    """Whether a name is that of a file with a private key."""
    if name.startswith(("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")) or (
        name.endswith("_key") and name.startswith("ssh_host_")
    ):
        return not is_code(name) and not name.endswith((".pub", "_parser"))
    return ending(name) in KEY_FILES and CERTIFICATE.isdisjoint(words_of(name.rpartition(".")[0]))
