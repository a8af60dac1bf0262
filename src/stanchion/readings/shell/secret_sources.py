"""Sources of secrets: commands whose output is a key, a password, a token or all variables, and
those by which a tool shows the credential that it keeps."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import by_name
from stanchion.readings.word_lists import listed

SOURCE: Final = "<a store of secrets>"
"""What stands among the origins of a text that such a command printed."""


def _taken_apart(ways: tuple[str, ...]) -> list[list[str]]:
    return [way.split() for way in ways]


STORES: Final = by_name("tells", _taken_apart)
"""Programs that hold secrets, with the words that make them tell one: `|` parts alternatives, `*`
stands for more."""


def tells_secret(command: Command) -> bool:
    """Whether what a command prints is a secret."""
    ways = STORES.get(command.name)
    if ways is None:
        return False
    words = [word.lower() for word in command.argv[1:] if word[:1] != "-" or len(ways[0]) == 1]
    return any(_follow(words, way) for way in ways)


def _follow(words: list[str], way: list[str]) -> bool:
    """Whether the words have those of a way, in their order, whatever stands between."""
    at = 0
    for piece in way:
        options = piece.split("|")
        at = next((place + 1 for place in range(at, len(words)) if _fits(words[place], options)), 0)
        if not at:
            return False
    return True


def _fits(word: str, options: list[str]) -> bool:
    for option in options:
        bare = option.strip("*")
        if word == option or (
            option != bare and (word.startswith(bare) or (option[0] == "*" and bare in word))
        ):
            return True
    return False


_SHOWS: Final = regex(
    r"-{0,2}(?:print|get|show|export|dump|find|reveal|decrypt|list)[-_:](?:\w+[-_])*"
    r"(?:access-token|identity-token|tokens?|credentials?|secret(?:s|-keys?|-subkeys?|-value)?|password|keychain)\Z"
)
"""Words that ask for a credential, in the one way or the other in which tools are made."""
SAID: Final = by_name("shows", _taken_apart)
"""What else asks for one, by program: the words of one of these, whatever stands between."""
_STORE: Final = regex(r"credential|\bcreds|-creds|keyring|passw(?!d\Z)|secret|vault|wallet")
"""Programs that keep credentials, by their names."""
TELLS: Final = listed("get show decrypt print export cat reveal read dump lookup view")
CONFIGURES: Final = listed("config configure settings configuration conf credential-helper")
_KEY: Final = regex(
    r"[^=]*(?:extraheader|oauth|-token\b|_auth\b|authtoken|auth_token|access[-_.]?token|http-basic|[-_.:/]token|passw|secret|api[-_.]?key"
    r"|private[-_.]?key|credentials?\b|bearer)[^=]*\Z"
)
"""A setting that signs in, by its name."""
SETS: Final = listed("set unset add delete rm remove --unset --add --unset-all --replace-all")
SAFE: Final = listed("get-login-password list-secrets --list-secret-keys")
"""What is handed on to a login and to nothing else, and what lists no more than names."""


def shows_secret(command: Command) -> bool:
    """Whether a command has a tool show what it signs in with."""
    words = [word.lower() for word in command.argv[1:]]
    if not words:
        return False
    if any(_SHOWS.match(word) is not None and word not in SAFE for word in words[:4]):
        return True
    if _asks_for_setting(words) or (
        _STORE.search(command.name) and not TELLS.isdisjoint(words[:3])
    ):
        return True
    return any(_follow(words, way) for way in SAID.get(command.name, ()))


def _asks_for_setting(words: list[str]) -> bool:
    """Whether a tool is asked for a setting of its own that signs in: `config get …token`."""
    at = next((at for at, word in enumerate(words[:3]) if word in CONFIGURES), -1)
    if at < 0:
        return False
    rest = words[at + 1 :]
    gets = any(word == "get" or word.startswith(("--get", "get-")) for word in rest[:4])
    keys = [word for word in rest if word[:1] != "-" and _KEY.match(word) is not None]
    alone = len([word for word in rest if word[:1] != "-"]) == 1
    return (gets or alone) and bool(keys) and SETS.isdisjoint(rest)
