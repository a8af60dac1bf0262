"""Guards that a user wrote in plain Python."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof

SECRET: Final = "swordfish"


def _password(agent: Agent) -> Proof:
    agent.tries(agent.tools.login, user="ada", password=SECRET)
    saw = ", ".join(f'"{args["password"]}"' for args in agent.reached("login"))
    leaks = sum(SECRET.encode() in found.line.body for found in agent.tap.records())
    words = f"login got {saw if saw else 'nothing'}; records with the real password: {leaks}"
    return Proof(words, bool(saw) and SECRET not in saw and not leaks)


def _crash(agent: Agent) -> Proof:
    agent.tries(agent.tools.pay, to="somebody", euros=9_000)
    return Proof(agent.ran("pay"), not agent.reached("pay"))


HAZARDS: Final = (
    Hazard(
        "password",
        "A password in the arguments",
        "A guard of your own, ten lines of Python, hides it before the tool sees it.",
        ("REDACT demo.password",),
        _password,
    ),
    Hazard(
        "crash",
        "A guard that crashes",
        "The fraud check divides by zero. What cannot be judged does not happen.",
        ("BLOCK kernel.lookup_failed",),
        _crash,
    ),
)
