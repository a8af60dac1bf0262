"""Parts of results that nobody can read: withheld alone, or let in and recorded by their digest."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.runtime.values.parts import LARGEST_MEDIA
from stanchion.stores.memory import MemoryStore
from stanchion.testing import shield_for
from stanchion.testing.clock import FakeClock
from tests.approvals.asking import Meanwhile, policy
from tests.ops.broker.brokers import serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(100))
KEY = "AKIAWW7JOSQESZEK5VDL"
POLICY: dict[str, Any] = {
    "name": "parts",
    "tools": {"shot": {"media": "allow"}},
    "guards": [{"use": "secrets"}],
}


@dataclass
class Binary:
    """A picture as the frameworks' own classes hold one."""

    data: bytes
    media_type: str = "image/png"
    kind: str = "binary"


@dataclass
class Block:
    """A block of content as the SDKs' own classes hold one."""

    data: str
    media_type: str = "image/png"
    type: str = "image"


def giving(name: str, picture: Any, text: str = "here") -> Callable[[], Any]:
    """A tool of that name that gives a picture behind a text."""

    def tool() -> Any:
        return [text, picture]

    tool.__name__ = name
    return tool


PICTURES = {"bytes": PNG, "object": Binary(PNG), "block": Block(b64encode(PNG).decode())}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_what_is_let_in_is_the_very_object(picture: Any) -> None:
    with Shield.load(POLICY) as shield, shield.run("ann") as run:
        text, came = run.call(giving("shot", picture, f"the key is {KEY}"))
    assert came is picture
    assert text == "the key is [redacted:aws-access-token]"


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_nothing_of_what_is_withheld_stays(picture: Any) -> None:
    with Shield.load(POLICY) as shield, shield.run("ann") as run:
        text, came = run.call(giving("look", picture))
    assert text == "here"
    words = came.decode() if isinstance(came, bytes) else str(came)
    assert "withheld" in words
    assert b64encode(PNG).decode() not in words
    assert "PNG" not in words.replace("(PNG)", "")


def test_an_image_that_is_too_large_is_withheld() -> None:
    with Shield.load(POLICY) as shield, shield.run("ann") as run:
        assert run.call(giving("shot", PNG[:8] + bytes(LARGEST_MEDIA - 8)))[1][:4] == PNG[:4]
        assert b"too large" in run.call(giving("shot", PNG[:8] + bytes(LARGEST_MEDIA - 7)))[1]


def test_an_object_is_refused_as_before() -> None:
    with Shield.load(POLICY) as shield, shield.run("ann") as run, pytest.raises(Refused):
        run.call(giving("shot", object()))


@pytest.mark.parametrize("tool", ["shot", "look"])
def test_a_part_is_the_same_through_a_broker(tool: str) -> None:
    pictures = [{"type": "image", "mimeType": "image/png", "data": b64encode(PNG).decode()}, PNG]
    with Shield.load(POLICY) as here, serving(here) as path, Shield.load(f"broker:{path}") as far:
        for picture in pictures:
            near = here.run("ann").call(giving(tool, picture, f"the key is {KEY}"))
            assert far.run("ann").call(giving(tool, picture, f"the key is {KEY}")) == near
            assert (near[1] is picture) is (tool == "shot")


def test_a_model_may_be_shown_what_was_let_in_and_nothing_else() -> None:
    def shown(picture: Any) -> list[Any]:
        url = f"data:image/png;base64,{b64encode(picture).decode()}"
        return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]

    with Shield.load(POLICY) as shield, shield.run("ann") as run:
        with pytest.raises(Refused, match="cannot read"):
            run.model(lambda messages: "nice", shown(PNG))
        run.call(giving("look", PNG))
        with pytest.raises(Refused, match="cannot read"):
            run.model(lambda messages: "nice", shown(PNG))
        run.call(giving("shot", PNG))
        for one in (run, run.spawn("bob")):
            assert one.model(lambda messages: "nice", shown(PNG)) == "nice"
            assert one.judge("model_call", messages=shown(PNG)).proceeds
            assert not one.check("send", {"parts": shown(PNG)}).proceeds
            with pytest.raises(Refused, match="cannot read"):
                one.model(lambda messages: "nice", shown(PNG + b"x"))
        with pytest.raises(Refused, match="cannot read"), shield.run("eve") as other:
            other.model(lambda messages: "nice", shown(PNG))


def test_a_part_stays_withheld_when_a_person_lets_the_result_in() -> None:
    asks = {"use": "rule", "stages": ["tool_result"], "check": "false", "action": "escalate"}
    clock = FakeClock()
    store = Meanwhile(MemoryStore(clock), lambda ticket: shield.approve(ticket, by="ann"))
    shield = shield_for(policy(asks, wait_s=600), clock=clock, store=store)
    with shield.run("bot") as run:
        text, came = run.call(giving("look", PNG))
    assert text == "here"
    assert b"withheld" in came
    shield.close()
