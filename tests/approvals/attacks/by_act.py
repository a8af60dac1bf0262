"""Attacks on everything else that only an operator may do: the agent would have a brake lifted, or
a rule bent."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.approvals.act import Answer, Purpose, Way
from stanchion.approvals.answerers import By, Signer
from stanchion.approvals.digest import Request
from stanchion.runtime.operating import acts
from tests.approvals.attacks.scene import Scene

REQUESTS: Final = {
    "resume": Request(purpose=Purpose.RESUME, said={"why": ""}),
    "resume-fleet": Request(purpose=Purpose.RESUME, tenant="*", subject="fleet", said={"why": ""}),
    "safe-mode-off": Request(purpose=Purpose.SAFE_MODE_OFF, said={"why": ""}),
    "reset": Request(purpose=Purpose.RESET, subject="pay", said={"why": ""}),
    "break-lock": Request(purpose=Purpose.BREAK_LOCK, subject="a.py", said={"why": ""}),
    "allow": Request(
        purpose=Purpose.ALLOW, subject="f" * 64, said={"once": False, "tool": "", "why": ""}
    ),
    "settle": Request(
        purpose=Purpose.SETTLE, subject="e" * 32, said={"happened": False, "result": None}
    ),
    "release": Request(
        purpose=Purpose.RELEASE, subject="r1.1f2e3d4c.1", said={"used": None, "why": ""}
    ),
    "top-up": Request(
        purpose=Purpose.TOP_UP, subject="spend/run:r1", said={"amount": {"tokens": 5}, "why": ""}
    ),
    "store": Request(
        purpose=Purpose.STORE, tenant="*", subject="store", said={"restored": False, "why": ""}
    ),
    "policy": Request(purpose=Purpose.POLICY, tenant="*", subject="a" * 64, said={}),
}
"""What only an operator may have done."""

COMMANDS: Final = {
    "resume": ("state", "resume", "--by", "ann"),
    "safe-mode-off": ("state", "safe-mode", "off", "--by", "ann"),
    "reset": ("tools", "reset", "pay", "--by", "ann"),
    "allow": ("secrets", "allow", "f" * 12, "--by", "ann", "--why", "fine"),
    "release": ("budget", "release", "r1.1f2e3d4c.1", "--by", "ann"),
    "top-up": ("budget", "top-up", "spend/run:r1", "tokens=5", "--by", "ann"),
    "store": ("state", "accept", "--by", "ann", "--why", "fine"),
}
"""The same at the command line, without a key and without a terminal."""


def answers(scene: Scene, request: Request) -> dict[str, By]:
    """Everything that an agent can say to be believed."""
    act = acts.wish(scene.shield, request).act(
        "ann", "human_operator", scene.shield.clock() + 60_000, True, ""
    )
    own = scene.mallory.key
    signed = Answer(
        act=act, way=Way.KEY, key=own.public.fingerprint, signature=own.sign(act.message).hex()
    )
    named = msgspec.structs.replace(signed, key=scene.ann.key.public.fingerprint)
    return {
        "a name": "ann",
        "an agent's name": "bot",
        "its own key as ann": Signer("ann", own),
        "its own key as itself": Signer("mallory", own),
        "an answer with its own key": signed,
        "an answer that names ann's key": named,
        "an answer from a terminal": Answer(act=act, way=Way.TERMINAL),
        "an answer from a program": Answer(act=act, way=Way.PROGRAM),
        "an answer without a signature": Answer(act=act, way=Way.KEY),
    }
