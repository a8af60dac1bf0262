"""Second looks at what a rule's pattern found: whether it can be a secret of its kind, or only has
the shape of one."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Callable
from itertools import pairwise
from operator import ne
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

SAME: Final = regex(r"(.)\1{5,}", re.DOTALL)
"""Six times the same character, one after another."""
FORM: Final = regex(
    r"\$\{\{?[\w\s.:?!,()'|-]{0,60}\}|\{\{[\w\s.()'|$-]{0,60}\}\}|\$\([\w.-]{1,40}\)|"
    r"^\$[A-Za-z_]\w*$"
    r"|^%[({]?[A-Za-z_][\w.]*[)}]?[sd%]?$|^[<\[{(][A-Za-z_ .:-]{0,60}[>\]})]$"
    r"|^[*.•#_-]{3,}$|#{4,}|\*{4,}|•{4,}|\.{2,}|…"
)
"""A place where a secret is yet to be put in, or was taken out."""
TELLTALE: Final = regex(
    r"(?i)^(?:(?:your|my|the|some|a|dummy|fake|sample|test|example|demo)[_-]?)*"
    r"(?:api|secret|access|auth|private|user|db|database|client|admin|root|service|account|bot|new|"
    r"old|real|super)?"
    r"[_-]?(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?|value|here|string|changeme|"
    r"change[_-]?me"
    r"|none|null|nil|undefined|true|false|redacted|hidden|removed|masked|placeholder|example|todo|"
    r"fixme|yyy+)"
    r"(?:[_-]?(?:goes|here|value))*[_-]?\d{0,3}$"
)
"""A word that stands for a secret in documentation."""
KEPT: Final = regex(
    r"(?:ref\+)?[a-z][a-z0-9+]{1,20}://[\w.-]+(?:[/#:?][\w "
    r".%=-]*)*|[a-z][a-z0-9_]{1,15}:/{0,2}[\w.-]+(?:[/#][\w.-]+)+"
    r"|(?:id|src|source|type|name|env|target|file|field|from)=[^=].*"
)
"""Where a secret is kept: an address without a password in it, a store and a path in it, what to
take it from."""
PARTS: Final = regex(r"[^0-9A-Za-z]+")
"""What stands between the parts of a value."""
NUMBERED: Final = regex(
    r"[A-Za-z]+\d*|\d+[A-Za-z]*|[vV]\d+[a-z]\d+|[A-Za-z]{1,6}\d{1,4}[A-Za-z]{1,8}"
)
"""A word, a number, or a word with a number before, behind or in it."""
CAMEL: Final = regex(r"[A-Za-z]?[a-z]*\d{0,5}(?:[A-Z][a-z]{2,}\d{0,3}){2,}")
"""Words one after another, as names in code are."""
NEIGHBOURS: Final = regex(r"[A-Z]{2}")
HEXADECIMAL: Final = regex(r"(?=.*\d)(?=.*[A-Fa-f])[0-9A-Fa-f]{16,}")
"""A number in hexadecimal that is long, and seen to be one."""
NOTHING: Final = regex(
    r"(?i)(x+|y+|\W*)|(?:your[_-]?|my[_-]?)?pass(?:word|wd)?|change[_-]?me|token|pwd"
)
"""A word that is no password, not even a bad one."""
CODE: Final = regex(
    r"^[A-Za-z_][\w.]*[\[()]|^[\[({<&]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\W*$|^[A-Za-z_]\w*[)}\]]+$"
    r"|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\W*$|^[a-z_]+(?:[|][a-z_]+(?::[\w,]+)?)+$|"
    r"^[a-z]+(?:[_-](?:[a-z]+|v?\d{1,4}))*$|^\W+$"
)
"""What code has in the place of a value: a call, an attribute, a constant, a name."""
PATH: Final = regex(r"~?\.{0,2}/?(?:[\w.@-]+/)+[\w.@-]*|[A-Za-z]:[\\/].*|/[\w.-]+")
"""A place in a file system."""
CHANCE: Final = 5
"""How long what stands between two slashes has to be so that its case tells."""

NUMBERS: Final = regex(r"0[xX][0-9A-Fa-f]+|\d+")
CODE_ITEMS: Final = regex(r"[0-9A-Za-z]{4,}(?:-[0-9A-Za-z]{4,})*")
SEED_WORDS: Final = regex(r"[a-z]{3,8}")
SENTENCES: Final = listed("the and for are was not your from never words this which them its has")
"""Words that no list of seed phrases has, and hardly a sentence is without."""
ANYBODY: Final = regex(rb'"role"\s*:\s*"anon(?:ymous)?"')
"""What a token says that pages give to everybody who opens them."""
PHRASE: Final = regex(r"[a-z]+(?:-[a-z]+){4,}(?:-\d{1,4})?")


def real(text: str) -> bool:
    """Whether it is no placeholder: no `xxxxxx`, no `${TOKEN}`, no `<your-token>`, no
    `changeme`."""
    if _filled(text) or FORM.search(text) or TELLTALE.search(text) or KEPT.fullmatch(text):
        return False
    return len(set(text)) > min(len(text) // 12, 6)


def _filled(text: str) -> bool:
    """Whether much of it is one character again and again. A long secret may have a run of one by
    chance."""
    return any(len(run.group()) * 5 >= len(text) for run in SAME.finditer(text))


def random(text: str) -> bool:
    """Whether chance may have made it: no placeholder, and letters with digits among them or in
    wild cases."""
    if not any(c.isalpha() for c in text) or CAMEL.fullmatch(text) is not None:
        return False
    return (any(c.isdigit() for c in text) or wild(text)) and real(text)


def wild(text: str) -> bool:
    """Whether the case of its letters changes as it does in no name."""
    if NEIGHBOURS.search(text) is None:
        return False
    upper = [*map(str.isupper, text)]
    changes: int = sum(map(ne, upper, upper[1:]))
    return changes * 3 >= len(text)


def guessed(text: str) -> bool:
    """Whether chance made it, where no more is known of it than a name: no identifier, path, host,
    version or word."""
    if not any(c.isdigit() for c in text) or not random(text) or is_path(text):
        return False
    return any(len(part) >= 8 and not worded(part) for part in PARTS.split(text))


def is_path(text: str) -> bool:
    """Whether it is a place in a file system, and no base64 with a slash in it, of which each long
    part is in wild cases."""
    if PATH.fullmatch(text) is None:
        return False
    long = [part for part in text.split("/") if len(part) >= CHANCE]
    return not long or not all(map(wild, long))


def worded(part: str) -> bool:
    """Whether people may have written it: a word, a number, a word with a number at one end."""
    if HEXADECIMAL.fullmatch(part):
        return False
    return NUMBERED.fullmatch(part) is not None or CAMEL.fullmatch(part) is not None


def password(text: str) -> bool:
    """Whether it can be a password that somebody uses: no placeholder, and more than letters."""
    return any(not c.isalpha() for c in text) and len(set(text)) > 3 and real(text)


def present(text: str) -> bool:
    """Whether anything but a placeholder stands where only a password can stand."""
    return not (_filled(text) or FORM.search(text) or NOTHING.fullmatch(text))


def mixed(text: str) -> bool:
    """Whether it has letters of both cases and a digit."""
    return text != text.lower() and text != text.upper() and any(c.isdigit() for c in text)


def artifactory(text: str) -> bool:
    """Whether it is no word and no number that begins as a credential of Artifactory does."""
    return text.startswith("AKC") or (
        any(c.isdigit() for c in text) and any(c.isalpha() for c in text[3:])
    )


def written_password(text: str) -> bool:
    """Whether a value under the name of a password is one: not what code, a path or a sentence has
    there."""
    return password(text) and CODE.search(text) is None and not is_path(text)


def jwt(text: str) -> bool:
    """Whether its first part is the base64 of an object, as the header of a JSON Web Token is."""
    parts = text.split(".")
    header = _decoded(parts[0])
    if header is None or not (header.startswith(b"{") and header.endswith(b"}")):
        return False
    if len(parts) > 1 and ANYBODY.search(_decoded(parts[1]) or b"") is not None:
        return False
    return sum(32 <= byte < 127 for byte in header) >= len(header) * 0.8


def wrapped_jwt(text: str) -> bool:
    """Whether it is the base64 of a JSON Web Token."""
    inner = _decoded(text.rstrip("="))
    return inner is not None and b"." in inner and jwt(inner.decode("ascii", "replace"))


def base64_text(text: str) -> bool:
    """Whether it is base64, with its padding, of something that may be a secret."""
    if len(text) % 4:
        return False
    inner = _decoded(text.rstrip("="))
    return (
        inner is not None
        and len(inner) > 6
        and not text.isdigit()
        and (not text.islower() or "=" in text)
    )


def user_and_password(text: str) -> bool:
    """Whether it is the base64 of `user:password`, as basic authentication has it."""
    inner = _decoded(text.rstrip("="))
    if inner is None:
        return False
    user, colon, word = inner.partition(b":")
    return (
        bool(colon and word)
        and (user + word).isascii()
        and (user + word).decode("ascii").isprintable()
    )


def pem(text: str) -> bool:
    """Whether a block of a private key has a body: not only its first and last line, or dots
    between them."""
    lines = text.replace("\\r", "\n").replace("\\n", "\n").splitlines()
    body = "".join(line.strip() for line in lines if "-----" not in line and ":" not in line)
    return sum(c.isalnum() for c in body) >= 20 and "..." not in body and len(set(body)) >= 10


def elevens(text: str) -> bool:
    """Whether every group of its digits is a multiple of eleven, and they are not all the same."""
    groups = [int(group) for group in text.split("-")]
    return all(group % 11 == 0 and group < 720_896 for group in groups) and len(set(groups)) > 2


def key_bytes(text: str) -> bool:
    """Whether numbers are the bytes of a key: enough of them, all bytes, most of them different,
    none counted up to."""
    numbers = [int(one, 16 if one[1:2] in ("x", "X") else 10) for one in NUMBERS.findall(text)]
    if len(numbers) < 16 or max(numbers) > 255:
        return False
    steps = sum([two - one == 1 for one, two in pairwise(numbers)])
    return len(set(numbers)) * 4 > min(len(numbers), 64) * 3 and steps * 4 < len(numbers)


def base32_seed(text: str) -> bool:
    """Whether base32 is a seed: letters and digits, and not one letter again and again."""
    return (
        any(c in "234567" for c in text) and any(c.isalpha() for c in text) and len(set(text)) > 7
    )


def codes(text: str) -> bool:
    """Whether items are codes: of one length, each with a digit, and no year."""
    items = CODE_ITEMS.findall(text)
    lengths = {len(item) for item in items}
    return (
        len(items) > 2
        and len(lengths) == 1
        and max(lengths) > 5
        and all(any(c.isdigit() for c in i) for i in items)
    )


def seed_words(text: str) -> bool:
    """Whether words are a seed phrase: as many as one has, hardly any twice, and none that only
    sentences have."""
    words = SEED_WORDS.findall(text)
    return (
        len(words) in {12, 15, 18, 21, 24}
        and len(set(words)) + 3 > len(words)
        and SENTENCES.isdisjoint(words)
    )


def strong(text: str) -> bool:
    """Whether it is made by chance, or chosen as a good password is: letters, digits, and signs or
    both cases."""
    if (
        not written_password(text)
        or not any(c.isdigit() for c in text)
        or not any(c.isalpha() for c in text)
    ):
        return False
    return guessed(text) or mixed(text) or any(not c.isalnum() and c not in "-_./" for c in text)


def phrase(text: str) -> bool:
    """Whether it is made of words with hyphens between them, as names of branches and pages are."""
    return PHRASE.fullmatch(text) is not None


def _decoded(text: str) -> bytes | None:
    """What base64 of either alphabet says, without its padding; None where it is none."""
    try:
        return b64decode(
            text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except (Undecodable, UnicodeEncodeError):
        pass
    try:
        return b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), validate=True)
    except (Undecodable, UnicodeEncodeError):
        return None


VALIDATORS: Final[dict[str, Callable[[str], bool]]] = {
    "real": real,
    "random": random,
    "guessed": guessed,
    "password": password,
    "present": present,
    "mixed": mixed,
    "artifactory": artifactory,
    "written_password": written_password,
    "jwt": jwt,
    "wrapped_jwt": wrapped_jwt,
    "base64_text": base64_text,
    "user_and_password": user_and_password,
    "pem": pem,
    "elevens": elevens,
    "key_bytes": key_bytes,
    "base32_seed": base32_seed,
    "codes": codes,
    "seed_words": seed_words,
    "strong": strong,
}
"""The second looks that a rule may ask for, by name."""
