"""A call whose texts have no sign of a protected path is one about which the guard has nothing to
say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from stanchion.guards._own import OwnPlaces
from stanchion.guards._protected import Use
from stanchion.guards.files import Files
from stanchion.guards.files.protected import shown_by
from stanchion.guards.files.protected.classes import SITES
from stanchion.guards.files.protected.seat import AREAS, HOMES, TEMPORARY
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.lineup import GateSet
from stanchion.readings import read

OWN = OwnPlaces(
    ("/work/shop/kept/agents.db",), ("/work/shop/rules/p.yaml",), "/work/shop", "/home/ann"
)
TOOLS: dict[Use, str] = {"read": "read_file", "write": "write_file", "delete": "delete_file"}
SHOWN = [shown[1:] for kind in ("hit", "told", "miss") for shown in shown_by(kind)]
NAMES = sorted(
    {part for path, _ in SHOWN for part in path.replace("\\", "/").split("/")}
    | {part for start in (*AREAS, *HOMES, *TEMPORARY, *SITES) for part in start}
    | {"src", "main.py", "..", ".", "kept", "agents.db", "rules", "p.yaml", "a b", "x ", "lo‐gin"}
)
STARTS = [
    "",
    "/",
    "~/",
    "./",
    "../",
    "C:/",
    "c:",
    "$HOME/",
    "%APPDATA%\\",
    "file:///",
    "//",
    "\x1f",
]
PATHS = st.tuples(
    st.sampled_from(STARTS), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
).map(lambda drawn: drawn[0] + "/".join(drawn[1]))


def judged(guard: Files, tool: str, args: dict[str, Any]) -> Finding | None:
    """What a guard says of a call, as far as it is asked about it."""
    reading = read(ToolCall(id="e", at=0, run=RunInfo("r"), tool=tool, args=args))
    if guard.gate is not None and not reading.heard(GateSet({0: guard.gate})):
        return None
    return guard.judge(reading)


def guards(*, paths_only: bool, root: tuple[str, ...]) -> tuple[Files, Files]:
    """A guard, and the same without a search for signs: it has a list, which names nothing."""
    made = Files(root=root, paths_only=paths_only)
    listed = Files(root=root, paths_only=paths_only, deny=("no-such-name-anywhere",))
    policy = ("rules/p.yaml", "/work/shop/rules/p.yaml")
    return tuple([one.within(lambda _task: None, policy).told(OWN) for one in (made, listed)])  # type: ignore[return-value]  # two are made of two


QUICK = [guards(paths_only=only, root=root) for only in (True, False) for root in ((), (".",))]


@pytest.mark.parametrize(("path", "use"), SHOWN)
def test_what_rules_show_is_judged_alike_with_signs_and_without(path: str, use: Use) -> None:
    for quick, slow in QUICK:
        args = {"path": path}
        assert judged(quick, TOOLS[use], args) == judged(slow, TOOLS[use], args)


@given(PATHS, st.sampled_from(sorted(TOOLS.values())), st.sampled_from(["", ".", "sub", "/srv"]))
@example("id\x1f_rsa", "read_file", "")
@example("kept", "delete_file", "")
@example("..2fetc2fshadow", "read_file", "")
def test_a_path_without_a_sign_is_nothing_to_the_guard(path: str, tool: str, base: str) -> None:
    args = {"path": path, "cwd": base} if base else {"path": path}
    for quick, slow in QUICK:
        assert judged(quick, tool, args) == judged(slow, tool, args)


def test_what_makes_a_tool_delete_is_seen() -> None:
    quick, _ = guards(paths_only=True, root=())
    args = {"source": "build", "destination": "kept"}
    assert judged(quick, "sync_folders", args) is None
    assert judged(quick, "sync_folders", {**args, "delete": True}) is not None


def test_an_ordinary_path_is_let_pass_without_being_read() -> None:
    quick, slow = guards(paths_only=True, root=())
    plain, odd = {"path": "src/oslo/amber_falcon.py"}, {"path": "src/.env"}
    assert judged(quick, "read_file", plain) is None
    assert "_kept" not in quick.__dict__
    assert judged(quick, "read_file", odd) is not None
    assert slow.gate is None
    assert judged(slow, "read_file", plain) is None
