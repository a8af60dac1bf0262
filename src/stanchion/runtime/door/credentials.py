"""Credentials at the edge: secrets that the door alone holds and puts into requests to one place,
and placeholders that stand for them inside."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NoReturn
from urllib.parse import quote

import msgspec

from stanchion.hosts.http.outgoing import OutgoingRequest, parsed
from stanchion.kernel.regex import regex
from stanchion.policy.sections import CredentialEntry
from stanchion.runtime.door.heads import Headers, HeadFault
from stanchion.runtime.door.listeners import DoorError
from stanchion.runtime.door.wires import DoorWire

SHORTEST: Final = 8
"""A shorter secret could not be told from other bytes."""
LONGEST: Final = 8_192
COMMAND_S: Final = 60.0
PR_SET_DUMPABLE: Final = 4
NOT_IN_ANSWERS: Final = frozenset({"accept-encoding", "if-range", "range"})
"""Headers that the door answers for itself: what comes back has to be read whole and unpacked."""
LEADING: Final = frozenset(
    {
        "x-original-url", "x-original-uri", "x-rewrite-url", "request-range",
        "x-http-method", "x-http-method-override", "x-method-override",
    }
)  # fmt: skip
"""Headers by which some services take a request for another one than was judged."""
_LEADS_OUT: Final = regex(r"(?i)%(?:2e|2f|5c|25)|\\|(?:^|/)\.\.")
"""What a service may read as the way out of a folder."""
_BESIDE: Final = regex(r"[^0-9a-z]+")
_BASIC: Final = regex(rb"(?i)basic\s+([A-Za-z0-9+/]+=*)")
_VISIBLE: Final = regex(rb"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class Secret:
    """A secret that shows itself nowhere: not in texts, copies or pickles."""

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "<Secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not copied")

    def read(self) -> bytes:
        """The secret itself, for the one who sends it."""
        return self._value


class DoorCredential:
    """A secret with the place that gets it, and the placeholder that stands for it inside."""

    def __init__(self, name: str, entry: CredentialEntry, secret: Secret) -> None:
        self.name, self.entry, self.base = name, entry, entry.url.rstrip("/")
        self.mark = token_hex(16)
        self.placeholder = f"stanchion-{name}-{self.mark}"
        self._secret = secret
        default = "key" if entry.form == "query" else "Authorization"
        self._named = entry.named if entry.named else default

    def __repr__(self) -> str:
        return f"<credential {self.name} for {self.base}>"

    def forms(self) -> tuple[bytes, ...]:
        """Every way in which the secret may stand in an answer, the longest first: as it is,
        escaped, and in base64, also as a part of something else."""
        plain = self._secret.read()
        said = plain.decode()
        found = {plain, json.dumps(said)[1:-1].encode(), escape(said).encode()}
        packed = {b64encode(plain), b64encode(f"{self.entry.user}:".encode() + plain)}
        packed |= {one.rstrip(b"=") for one in packed} | set(_within_base64(plain))
        packed |= {one.translate(_FOR_URLS) for one in packed}
        found |= packed | {quote(one, safe="").encode() for one in (plain, *packed)}
        return tuple(sorted(found, key=len, reverse=True))

    def escaped(self) -> bytes:
        """A pattern of the secret with any of its characters escaped, as in URLs, JSON and HTML."""
        return b"".join(map(_any_escape, self._secret.read()))

    def url(self, target: str) -> str:
        """The URL that a path of the local door stands for; `HeadFault` where it is not below the
        place that gets the secret."""
        url = f"{self.base}{target}"
        found = parsed(url)
        root = f"{parsed(self.base).href.rstrip('/')}"
        at_root = root.count("/") == 2
        crooked = not at_root and _LEADS_OUT.search(target.partition("?")[0]) is not None
        if crooked or found is None or not found.href.startswith((f"{root}/", f"{root}?")):
            raise HeadFault(f"its target leads out of `{self.base}`")
        return url

    def without(self, headers: Headers) -> Headers:
        """The headers of a request without what the door itself puts in or answers for."""
        own = {"host", *NOT_IN_ANSWERS, *LEADING}
        own |= set() if self._in_url else {self._named.lower()}
        return tuple([one for one in headers if one[0].lower().replace("_", "-") not in own])

    def without_parameter(self, target: str) -> str:
        """A target without the parameter that the door itself puts in."""
        path, question, query = target.partition("?")
        kept = [one for one in query.split("&") if one.partition("=")[0] != self._named]
        return f"{path}?{'&'.join(kept)}" if question and (kept or not self._in_url) else path

    def put_into(self, request: OutgoingRequest, wire: DoorWire) -> OutgoingRequest:
        """The request with the secret, on its way out by a connection whose other end has shown to
        be the place that gets it; `HeadFault` where it has not."""
        if wire.proven != parsed(self.base).hostname or not request.url.startswith(self.base):
            raise HeadFault(f"nobody has shown to be `{self.base}`")
        plain = self._secret.read()
        headers = (*request.headers, ("Accept-Encoding", "identity"))
        if self._in_url:
            join = "&" if "?" in request.url else "?"
            url = f"{request.url}{join}{self._named}={quote(plain, safe='')}"
            return msgspec.structs.replace(request, url=url, headers=headers)
        said = plain.decode()
        if self.entry.form == "bearer":
            said = f"Bearer {said}"
        elif self.entry.form == "basic":
            said = f"Basic {b64encode(f'{self.entry.user}:{said}'.encode()).decode()}"
        return msgspec.structs.replace(request, headers=(*headers, (self._named, said)))

    @property
    def _in_url(self) -> bool:
        return self.entry.form == "query"

    def environment(self, local: str) -> Iterator[tuple[str, str]]:
        """What programs inside are told, where the local door is at a URL."""
        token = self.entry.token if self.entry.token else self.entry.env
        if token:
            yield token, self.placeholder
        if self.entry.base_url:
            yield self.entry.base_url, local
        if "pip" in self.entry.clients:
            at_root = self.base.count("/") == 2
            yield "PIP_INDEX_URL", f"{local}/simple" if at_root else local
        if "npm" in self.entry.clients:
            yield "npm_config_registry", f"{local}/"
            yield "npm_config_replace_registry_host", "always"


def loaded(entries: Mapping[str, CredentialEntry]) -> tuple[DoorCredential, ...]:
    """The secrets of a policy, read once; `DoorError` where one is not to be had. From then on this
    process leaves no image of its memory behind, and no variable that held one."""
    if not entries:
        return ()
    keep_unseen()
    return tuple([DoorCredential(name, one, _read(name, one)) for name, one in entries.items()])


def keep_unseen() -> None:
    """Let nobody read the memory of this process, also when it dies."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise DoorError("the memory of this process cannot be kept from others: no secret is read")


def _read(name: str, entry: CredentialEntry) -> Secret:
    try:
        raw = _variable(entry.env) if entry.env else _of(entry)
    except (OSError, subprocess.SubprocessError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it failed"
        raise DoorError(f"the secret of credential `{name}` cannot be read: {why}") from None
    value = raw.strip()
    if entry.env and not value:
        raise DoorError(f"the variable `{entry.env}` of credential `{name}` is not set: set it")
    if not SHORTEST <= len(value) <= LONGEST or _VISIBLE.fullmatch(value) is None:
        said = f"the secret of credential `{name}` is no line of {SHORTEST} to {LONGEST} characters"
        raise DoorError(f"{said}: see where it comes from")
    return Secret(value)


def _of(entry: CredentialEntry) -> bytes:
    if entry.file:
        return Path(entry.file).expanduser().read_bytes()
    done = subprocess.run(
        entry.command,
        cwd="/",  # the current folder has been written inside, and some programs load what is in it
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=COMMAND_S,
    )
    done.check_returncode()
    return done.stdout


def _variable(name: str) -> bytes:
    """A variable of this process, which has it no more: neither for programs that it starts, nor
    where the kernel shows what it was started with."""
    here = ctypes.CDLL(None)
    here.getenv.restype = ctypes.c_void_p
    found = here.getenv(os.fsencode(name))
    value = os.fsencode(os.environ.get(name, ""))
    if found and value:
        ctypes.memset(found, 0, len(value))
    os.environ.pop(name, None)
    return value


_FOR_URLS: Final = bytes.maketrans(b"+/", b"-_")
_ESCAPES: Final = regex(rb"[%\\&]")
LONGEST_ESCAPE: Final = 6


def _any_escape(number: int) -> bytes:
    """A pattern of one character, as it is or escaped; at most `LONGEST_ESCAPE` bytes of it. Each
    of its ways begins with a letter of its own, so that `re` finds soon where none begins."""
    plain = re.escape(bytes([number]))
    two = "".join(
        [f"[{one}{one.upper()}]" if one > "9" else one for one in f"{number:02x}"]
    ).encode()
    begun = (b"\\\\u00", b"\\\\x", b"%")
    ways = [plain, b"\\\\" + plain, *[one + two for one in begun]]
    ways += [b"&#[xX]" + two + b";", b"&#%d;" % number]
    return b"(?:" + b"|".join(ways) + b")"


def _within_base64(plain: bytes) -> Iterator[bytes]:
    """What stands in base64 of anything that has these bytes in it, wherever they begin: the
    characters that do not depend on what is beside them."""
    for before in range(3):
        whole = b64encode(bytes(before) + plain)
        yield whole[-(-8 * before // 6) : 8 * (before + len(plain)) // 6]


class CredentialWatch:
    """Looks for placeholders where they do not belong, and for secrets in what comes back."""

    def __init__(self, credentials: tuple[DoorCredential, ...]) -> None:
        self._credentials = credentials
        self._forms = {form: one.name for one in credentials for form in one.forms()}
        found = sorted(self._forms, key=len, reverse=True)
        self._any = re.compile(b"|".join(map(re.escape, found))) if found else None
        self._escaped = [re.compile(one.escaped()) for one in credentials]
        plain = max([len(one.forms()[-1]) for one in credentials], default=0)
        self.longest = max(LONGEST_ESCAPE * plain, *map(len, found), 1)

    def strayed(self, *said: bytes) -> str:
        """The name of the credential whose placeholder, or secret, stands in what is said."""
        if self._any is None:
            return ""
        for one in (*said, *_unpacked(said)):
            found = self._any.search(one)
            if found is not None:
                return self._forms[found[0]]
            bare = _BESIDE.sub("", one.decode("latin-1").lower())
            for credential in self._credentials:
                if credential.mark in bare:
                    return credential.name
        return ""

    def hidden(self, data: bytes) -> bytes:
        """The same bytes, as many of them, without any secret."""
        found = data if self._any is None else self._any.sub(_stars, data)
        for escaped in self._escaped if _ESCAPES.search(found) is not None else ():
            found = escaped.sub(_stars, found)
        return found

    def finds(self, data: bytes) -> bool:
        """Whether a secret stands in the bytes."""
        return self.hidden(data) != data


def _unpacked(said: tuple[bytes, ...]) -> Iterator[bytes]:
    """Logins as they are before they are packed."""
    for login in [login for one in said for login in _BASIC.findall(one)]:
        with suppress(ValueError):
            yield b64decode(login)


def _stars(found: re.Match[bytes]) -> bytes:
    return b"*" * len(found[0])


def for_git(credentials: list[tuple[DoorCredential, str]]) -> dict[str, str]:
    """What git is told: the local URL in the place of each of these."""
    chosen = [(one, local) for one, local in credentials if "git" in one.entry.clients]
    found: dict[str, Any] = {"GIT_CONFIG_COUNT": str(len(chosen))} if chosen else {}
    for number, (one, local) in enumerate(chosen):
        found[f"GIT_CONFIG_KEY_{number}"] = f"url.{local}/.insteadOf"
        found[f"GIT_CONFIG_VALUE_{number}"] = f"{one.base}/"
    return found
