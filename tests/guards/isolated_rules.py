"""Guards that are named in policies as isolated: some judge, some do what only a process of its own survives."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from typing import Any

from stanchion import Action, Finding
from tests.guards.house_rules import Rules, Waiting, crashes, graded, hide_password, no_force, nonsense

CATASTROPHE = re.compile(r"(a+)+$")
rules = Rules()
waiting = Waiting()


def policy(call: str, deadline_ms: int = 60_000, isolated: bool = True, **guard: Any) -> dict[str, Any]:
    """A policy with one guard, whose code may have a process of its own."""
    code = f"tests.guards.isolated_rules:{call}"
    entry = {"use": "python", "id": "g", "call": code, "deadline_ms": deadline_ms, "isolated": isolated, **guard}
    return {"name": "apart", "tools": {"door": {"risk": "high"}}, "guards": [entry]}


def process_of(run: Any) -> int:
    """The process in which the guard `tells` judges."""
    return int(run.check("t", {}).message.split()[0])


def stuck(event: Any) -> str | None:
    """Look for what takes longer than the world will last, where the arguments hold it; no other thread can work."""
    CATASTROPHE.match(event.args.get("text", ""))
    return "short, and refused" if event.args.get("refuse") else None


def misfits(event: Any) -> Any:
    """A finding that holds what no finding may."""
    return Finding(Action.WARN, "house.misfit", args=(event.args, object()))  # type: ignore[arg-type]


def tells(event: Any) -> str:
    """Tell of the process: its number, its parent's, and its environment."""
    print("printed")
    return f"{os.getpid()} {os.getppid()} {sorted(os.environ)}"


JUDGES: dict[str, Any] = {
    "no_force": no_force,
    "graded": graded,
    "hide_password": hide_password,
    "crashes": crashes,
    "nonsense": nonsense,
    "rules": rules.judge,
    "waiting": waiting.judge,
}


def judges(event: Any, stop: threading.Event) -> Any:
    """Judge with the guard that the tool is named for; its answer may have to be awaited."""
    return "stopped" if stop.is_set() else JUDGES[event.tool](event)


def asserts(event: Any) -> str | None:
    """Answer by an assertion, which an interpreter that optimizes leaves out."""
    assert event.args.get("path"), "no path"
    return "checked" if __debug__ else "not checked"


def dies(event: Any) -> str | None:
    """End the process in the way the arguments say."""
    match event.args.get("how"):
        case "exit":
            os._exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise SystemExit
        case "large":
            return "x" * (17 << 20)
        case "garbage":
            _channel().sendall(b"\x00\x00\x00\x03{{{")
        case "odd":
            _channel().sendall(b'\x00\x00\x00\x07["huh"]')
        case "announced":
            _channel().sendall(b"\xff\xff\xff\xff")
    return None


def _channel() -> socket.socket:
    """The channel to the host, found as code that means harm would find it."""
    for number in range(3, 64):
        try:
            return socket.socket(fileno=os.dup(number))
        except OSError:
            continue
    raise AssertionError("there is no channel")
