"""Reasons are true, and what is said first is what a person would say first."""

from __future__ import annotations

import pytest

from stanchion.guards._own import OwnPlaces
from stanchion.guards._protected import Use
from stanchion.guards.files import Files
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read

OWN = OwnPlaces(
    ("/home/ann/.local/state/stanchion", "/var/lib/agents/state.db"), (), "/work/shop", "/home/ann"
)
FILES = Files(root=()).told(OWN)
TOOLS: dict[Use, str] = {"read": "read_file", "write": "write_file", "delete": "delete_file"}
OURS = "a record, a key or the state of Stanchion"


@pytest.mark.parametrize(
    ("use", "path", "reason"),
    [
        ("delete", "~", "all that somebody keeps"),
        ("delete", "/home/ann", "all that somebody keeps"),
        ("delete", "/home", "all that somebody keeps"),
        ("delete", "/", "the whole system"),
        ("delete", "/var", "a folder of the system"),
        ("delete", "/var/lib", "a folder of the system"),
        ("delete", "/usr", "a folder of the system"),
        ("delete", "/etc/x.ini", "part of the system"),
        ("write", "/etc/x.ini", "part of the system"),
        ("delete", "/etc/shadow", "the system's passwords"),
        ("read", "/etc/shadow", "the system's passwords"),
        ("delete", "~/.local/state/stanchion", OURS),
        ("write", "/var/lib/agents/state.db", OURS),
        ("delete", "/var/lib/agents", f"{OURS} is in it"),
        ("delete", "~/*", "all that somebody keeps"),
        ("delete", "/etc", "part of the system"),
        ("delete", "~/.ssh", "keys for other hosts"),
    ],
)
def test_the_reason_is_what_a_person_would_say(use: Use, path: str, reason: str) -> None:
    call = ToolCall(id="e", at=0, run=RunInfo("r"), tool=TOOLS[use], args={"path": path})
    found = FILES.judge(read(call))
    assert found is not None
    assert found.action == Action.BLOCK
    assert found.args[2] == reason
