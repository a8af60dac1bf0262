"""A witness by a timestamp service (RFC 3161): a token says that a line was there at a time that
nobody here sets."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit.verifying.report import CannotVerify
from stanchion.audit.verifying.witness import Witness, WitnessLine
from stanchion.audit.witnessing.files import FilePlace
from stanchion.audit.witnessing.place import (
    BadPlace,
    Unreachable,
    WitnessEntry,
    WrittenLine,
    hash_of,
    shown,
)

TIMEOUT_S: Final = 30.0
LONGEST: Final = 1 << 20
KINDS: Final = {
    "Content-Type": "application/timestamp-query",
    "Accept": "application/timestamp-reply",
}
_GRANTED: Final = 0

NEEDS: Final = "a timestamp service needs a package: install the extra `timestamp`"


class LineToken(msgspec.Struct, frozen=True):
    """What stands behind a line: the service's whole answer, and the hash of the line it is for."""

    token: str
    of: str


class StampedPlace:
    """Keeps lines and their tokens in a file; the time of a line is what the service says."""

    def __init__(self, url: str, kept: Path, certificates: Path | None) -> None:
        self._library = _library()
        self._url = url
        self._certificates = None if certificates is None else _certificates(certificates)
        self.name = f"tsa+{shown(url)}#{kept}"
        self._file = FilePlace(kept, self.name, self._stamped)

    def append(self, entry: WitnessEntry) -> WrittenLine:
        """Have a line stamped, and keep it with its token."""
        return self._file.append(entry)

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite what is kept: a token cannot be made, but it can be taken
        away."""
        why = self._file.why_copy(uid)
        return (
            f"{why}; tokens can be removed there, but nobody can make one for a time in the past"
            if why
            else ""
        )

    def witness(self, uid: int | None) -> Witness:
        """All lines whose tokens are good, each with the time that its token says."""
        if self._certificates is None:
            raise CannotVerify(
                f"the tokens of `{self.name}` need the service's certificate: give `--tsa-cert "
                f"FILE`"
            )
        found = self._file.witness(uid)
        tokens = _tokens(self._file.read())
        lines, broken = [], list(found.broken)
        for line in found.lines:
            stamped = self._checked(tokens.get(line.hash), line)
            lines.append(stamped.line)
            broken += [(line.number, stamped.why)] if stamped.why else []
        return found._replace(
            name=self.name, lines=tuple(lines), broken=tuple(broken), copy=self.why_copy(uid)
        )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _stamped(self, line: bytes) -> bytes:
        """The token for a line, as it stands behind it."""
        request = self._library.TimestampRequestBuilder().data(line)
        request = request.hash_algorithm(self._library.HashAlgorithm.SHA256).build()
        answer = self._asked(request.as_bytes())
        response = self._decoded(answer)
        if response is None or response.status != _GRANTED:
            raise Unreachable(
                f"`{self.name}` gave no token: its answer is not that of a timestamp service"
            )
        info = response.tst_info
        if info.nonce != request.nonce or info.message_imprint.message != bytes.fromhex(
            hash_of(line)
        ):
            raise Unreachable(
                f"`{self.name}` gave a token for something else: ask the operator of the service"
            )
        why = "" if self._certificates is None else self._mistrusted(response, hash_of(line))
        if why:
            raise Unreachable(f"`{self.name}` gave a token that cannot be trusted: {why}")
        token = LineToken(base64.b64encode(answer).decode(), hash_of(line))
        return msgspec.json.encode(token) + b"\n"

    def _asked(self, query: bytes) -> bytes:
        request = urllib.request.Request(self._url, query, KINDS)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                data: bytes = answer.read(LONGEST)
                return data
        except (OSError, ValueError) as error:
            said = error.reason if isinstance(error, urllib.error.URLError) else error
            raise Unreachable(f"`{self.name}` cannot be asked: {said}") from None

    def _decoded(self, answer: bytes) -> Any:
        try:
            return self._library.decode_timestamp_response(answer)
        except ValueError:
            return None

    def _checked(self, token: LineToken | None, line: WitnessLine) -> _Stamped:
        if token is None:
            return _Stamped(line, "has no token from the timestamp service")
        try:
            response = self._decoded(base64.b64decode(token.token, validate=True))
        except binascii.Error:
            response = None
        why = "it cannot be read" if response is None else self._mistrusted(response, line.hash)
        if why:
            return _Stamped(line, f"has a token that cannot be trusted: {why}")
        return _Stamped(line._replace(at=round(response.tst_info.gen_time.timestamp() * 1000)))

    def _mistrusted(self, response: Any, digest: str) -> str:
        """Why a token is not one of the service for this line; empty where it is."""
        assert self._certificates is not None
        verifier = self._library.VerifierBuilder(roots=list(self._certificates)).build()
        try:
            verifier.verify(response, bytes.fromhex(digest))
        except (self._library.VerificationError, ValueError) as error:
            # What the library says of a certificate is a whole stack of errors; the last words
            # tell.
            said = re.search(r"verify error: ([^\"]+)", str(error))
            return (
                str(error).rstrip(".").lower() if said is None else f"{said[1]} (see `--tsa-cert`)"
            )
        return ""


class _Stamped(NamedTuple):
    line: WitnessLine
    why: str = ""


def _library() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise BadPlace(NEEDS) from None
    return rfc3161_client


def _certificates(path: Path) -> list[Any]:
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise BadPlace(f"cannot read the certificate `{path}`: {error.strerror}") from None
    except ValueError:
        raise BadPlace(
            f"`{path}` holds no certificate: give a PEM file with the certificate of the service "
            f"or of its issuer"
        ) from None
    return list(found)


def _tokens(raw: bytes) -> dict[str, LineToken]:
    found = {}
    for line in raw.split(b"\n"):
        if line.startswith(b'{"token":'):
            try:
                token = typed.decode(line, LineToken)
            except msgspec.MsgspecError:
                continue
            found[token.of] = token
    return found
