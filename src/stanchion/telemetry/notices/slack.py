"""A channel of a chat as a destination: the notice as blocks, with two buttons and a link where a
person is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.telemetry.notices.config import bad_url
from stanchion.telemetry.notices.message import DeliveryOutcome, NoticeMessage
from stanchion.telemetry.notices.webhook import post_json

YES: Final = "stanchion_yes"
NO: Final = "stanchion_no"
MOST_TEXT: Final = 2_900
"""How many characters a block has at most."""
CONFIRM: Final = {
    "title": {"type": "plain_text", "text": "Let it go ahead, once?"},
    "text": {"type": "plain_text", "text": "You have read what would be done, and want it."},
    "confirm": {"type": "plain_text", "text": "Yes, this once"},
    "deny": {"type": "plain_text", "text": "Back"},
}


class SlackPost:
    """Posts notices to the incoming webhook of a channel; its address is read each time."""

    def __init__(self, url: Callable[[], str], deadline_s: float) -> None:
        self._url, self._deadline_s = url, deadline_s

    def send(self, message: NoticeMessage) -> DeliveryOutcome:
        """Try once."""
        try:
            url = self._url().strip()
        except OSError as error:
            return DeliveryOutcome(False, f"its address cannot be read: {error}")
        if why := bad_url(url):
            return DeliveryOutcome(False, f"its address cannot be used: {why}")
        blocks = msgspec.json.encode(in_blocks(msgspec.json.decode(message.body)["data"]))
        return post_json(url, blocks, {}, self._deadline_s)


def in_blocks(data: dict[str, Any]) -> dict[str, Any]:
    """A notice as a chat shows it. Nothing of it is read as markup: an agent may have written it.
    There is a yes only where all that would go ahead is shown."""
    text, link, shown = data["text"], data.get("link", ""), data.get("shown", "")
    blocks: list[dict[str, Any]] = [{"type": "section", "text": _plain(text)}]
    if shown:
        piece = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]}
        blocks.append({"type": "rich_text", "elements": [piece]})
    if link:
        token = link.rpartition("/")[2]
        no = _button("No", NO, style="danger", value=token)
        yes = _button("Yes, this once", YES, value=token, confirm=CONFIRM)
        page = _button("All of it", "stanchion_page", url=link)
        buttons = [no, yes, page] if shown else [no, page]
        blocks.append({"type": "actions", "elements": buttons})
    alone = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": alone, "blocks": blocks}


def _plain(text: str) -> dict[str, Any]:
    cut = text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"
    return {"type": "plain_text", "text": cut, "emoji": False}


def _button(words: str, action: str, **more: Any) -> dict[str, Any]:
    text = {"type": "plain_text", "text": words}
    return {"type": "button", "text": text, "action_id": action, **more}
