"""A call whose texts have no sign of a place is one about which the guard has nothing to say."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, strategies as st

from stanchion.guards.egress import EgressGuard
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.readings import read

OPTIONS: dict[str, Any] = {"internal_hosts": ("*",), "credentials": True}
QUICK = EgressGuard(**OPTIONS)
SLOW = EgressGuard(**OPTIONS, denied_hosts=("no.such.host.example",))
"""The same without a search for signs: a list names a host that no call names."""
PIECES = [
    "169.254.169.254", "0xA9FEA9FE", "2852039166", "metadata", "instance-data", "metadata.goog",
    "169-254-169-254.nip.io", "[fd00:ec2::254]", "http://", "gopher://", "curl ", "nc ", "ssh ",
    "--unix-socket ", "/var/run/docker.sock", "a@b", ":x@", "src/main.py", " 80", "ls -la ", "..",
    "\n", "％", "example", "https://example.com/",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
KEYS = ["command", "path", "text", "host", "url", "target_url", "uri", "q"]


def judged(guard: EgressGuard, args: dict[str, Any]) -> Finding | None:
    tool = "bash" if "command" in args else "open_page"
    return guard.judge(read(ToolCall(id="e", at=0, run=RunInfo("r"), tool=tool, args=args)))


@given(st.sampled_from(KEYS), TEXTS, st.sampled_from(["plain", "list", "nested"]))
@example("host", "2852039166", "plain")
@example("command", "nc metadata 80", "plain")
def test_a_call_without_a_sign_is_nothing_to_the_guard(key: str, text: str, form: str) -> None:
    value = {"plain": text, "list": [text], "nested": {"host": text}}[form]
    assert judged(QUICK, {key: value}) == judged(SLOW, {key: value})
