"""What a chat sends when somebody presses a button: who it is, by the chat's own signature."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qs

import msgspec

from stanchion import typed
from stanchion.approvals.errors import AnswerRefused
from stanchion.telemetry.notices.slack import NO, YES

WITHIN_S: Final = 300
"""How far the moment at which it was signed may be from now."""
MOST_SEEN: Final = 10_000
"""How many signatures are remembered: no chat sends so many buttons in that time."""


class ChatUser(msgspec.Struct, frozen=True):
    """A user, by the chat's own id."""

    id: str


class ChatAction(msgspec.Struct, frozen=True):
    """A button, and what it carries."""

    action_id: str
    value: str = ""


class ChatPayload(msgspec.Struct, frozen=True):
    """What is sent when buttons are pressed, as far as it matters here."""

    type: str
    user: ChatUser
    actions: tuple[ChatAction, ...]


class Pressed(NamedTuple):
    """A button that somebody has pressed."""

    user: str
    token: str
    yes: bool


class ChatDoor:
    """Takes what a chat sends, once each, and only where it has signed it just now."""

    def __init__(self, secret: Callable[[], str], now_s: Callable[[], float]) -> None:
        self._secret, self._now_s = secret, now_s
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}

    def opened(self, headers: Mapping[str, str], body: bytes) -> Pressed | None:
        """The button that was pressed; `None` for what asks for no answer. `AnswerRefused` where
        the chat has not signed it, or it comes late or again."""
        at, signature = (
            headers.get("x-slack-request-timestamp", ""),
            headers.get("x-slack-signature", ""),
        )
        signed = b"v0:" + at.encode("latin-1") + b":" + body
        wanted = "v0=" + hmac.digest(self._secret().strip().encode(), signed, "sha256").hex()
        if not hmac.compare_digest(wanted.encode(), signature.encode("latin-1")):
            raise AnswerRefused("the chat has not signed this: see `answers.chat.secret_file`")
        now = self._now_s()
        if not at.isdecimal() or abs(now - int(at[:15])) > WITHIN_S:
            raise AnswerRefused(
                "this was signed more than five minutes ago: press the button again"
            )
        self._remember(signature, now)
        return _pressed(body)

    def _remember(self, signature: str, now: float) -> None:
        with self._lock:
            if signature in self._seen:
                raise AnswerRefused("this was sent before: it counts once")
            old = [each for each, at in self._seen.items() if now - at > 2 * WITHIN_S]
            for each in old:
                del self._seen[each]
            if len(self._seen) >= MOST_SEEN:
                raise AnswerRefused("too much comes at once: press the button again in a while")
            self._seen[signature] = now


def _pressed(body: bytes) -> Pressed | None:
    try:
        (said,) = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=8)["payload"]
        payload = typed.decode(said.encode(), ChatPayload)
    except (ValueError, KeyError, msgspec.MsgspecError):
        raise AnswerRefused("this is no pressed button of a chat") from None
    for one in payload.actions:
        if one.action_id in (YES, NO):
            return Pressed(payload.user.id, one.value, one.action_id == YES)
    return None
