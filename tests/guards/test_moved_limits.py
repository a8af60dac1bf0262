"""A policy moves the limits by which a command, a query or a stream is refused unread, and no other
policy in the process notices."""

from typing import Any, Final

import pytest

from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from stanchion.runtime.errors import Refused
from stanchion.runtime.shield import Shield

LONG: Final = "echo " + "a" * 70_000
MANY: Final = "true\n" * 600
NESTED: Final = "echo " + "$(echo " * 8 + "a" + ")" * 8
QUERY: Final = "SELECT " + ", ".join([f"column_{at}" for at in range(1_200)])
WORDS: Final = "SELECT " + ", ".join(["a"] * 2_500)
BRACKETS: Final = "SELECT " + "(1 + " * 40 + "1" + " + 1)" * 40
KEYS: Final = "".join([f"token_{at} = 'q7RkP2mXv9Lt{at:05}WzB4'\n" for at in range(320)])


def _policy(limits: dict[str, int], *uses: str) -> dict[str, Any]:
    return {"name": "p", "guards": [{"use": use} for use in uses], "limits": limits}


def _shield(*uses: str, **limits: int) -> Shield:
    return Shield.load(_policy(limits, *uses), store="memory:", journal="memory:")


def _code(shield: Shield, tool: str, text: str) -> str:
    name = "command" if tool == "bash" else "sql"
    return shield.run(agent="a").check(tool, {name: text}).code


@pytest.mark.parametrize(
    ("tool", "text", "limit", "most"),
    [
        ("bash", LONG, "command_chars", 100_000),
        ("bash", MANY, "command_steps", 40_000),
        ("bash", "echo " + "$(echo " * 25 + "a" + ")" * 25, "command_depth", 60),
        ("query", QUERY, "query_chars", 20_000),
        ("query", WORDS, "query_steps", 60_000),
        ("query", BRACKETS, "query_depth", 64),
    ],
)
def test_a_higher_limit_reads_what_is_unclear_otherwise(
    tool: str, text: str, limit: str, most: int
) -> None:
    guard = "shell" if tool == "bash" else "sql"
    usual, moved = _shield(guard), _shield(guard, **{limit: most})
    unclear = f"{guard}.unclear"
    assert [_code(one, tool, text) for one in (usual, moved, usual)] == [unclear, "", unclear]


@pytest.mark.parametrize(
    ("tool", "text", "limit", "most"),
    [
        ("bash", "echo one two", "command_chars", 10),
        ("bash", "for a in {1..40}; do echo $a; done", "command_steps", 50),
        ("bash", NESTED, "command_depth", 4),
        ("query", "SELECT a FROM b", "query_chars", 10),
        ("query", "SELECT a, b, c FROM d", "query_steps", 30),
        ("query", "SELECT (((1)))", "query_depth", 2),
    ],
)
def test_a_lower_limit_refuses_unread_what_is_read_otherwise(
    tool: str, text: str, limit: str, most: int
) -> None:
    guard = "shell" if tool == "bash" else "sql"
    usual, moved = _shield(guard), _shield(guard, **{limit: most})
    unclear = f"{guard}.unclear"
    assert [_code(one, tool, text) for one in (usual, moved, usual)] == ["", unclear, ""]


@pytest.mark.parametrize(
    ("guard", "command", "code"),
    [
        ("shell", "rm -rf /", "shell.destructive"),
        ("files", "cat ~/.ssh/id_rsa", "files.protected"),
        ("files", "sed -i s/a/b/ ~/.bashrc", "files.protected"),
        ("sql", "psql -c 'DROP TABLE t'", "sql.destructive"),
    ],
)
def test_all_who_read_a_command_read_as_much_of_it(guard: str, command: str, code: str) -> None:
    """Otherwise a command would be clear to one guard and unread by the next."""
    assert _code(_shield(guard, command_chars=100_000), "bash", f"{LONG}; {command}") == code


def test_a_stream_has_the_density_of_its_policy() -> None:
    streamed = "".join(_shield("secrets", matches_a_kb=200).run(agent="a").stream([KEYS, "end"]))
    assert "q7RkP2mXv9Lt" not in streamed
    assert streamed.endswith("end")
    with pytest.raises(Refused, match="look closely at more than"):
        list(_shield("secrets").run(agent="a").stream([KEYS, "end"]))
    with pytest.raises(Refused, match="look closely at more than 256"):
        list(_shield("secrets", matches_a_kb=0).run(agent="a").stream([KEYS[:10_500], "end"]))


@pytest.mark.parametrize("name", ReadLimits.__struct_fields__[2:])
def test_a_moved_limit_is_another_policy_and_may_be_a_looser_one(name: str) -> None:
    usual = load_policy(_policy({}, "shell"))
    moved = load_policy(_policy({name: getattr(LIMITS, name) + 1}, "shell"))
    assert moved.hash != usual.hash
    (found,) = loosenings(usual, moved)
    assert found.how.startswith(f"limits.{name} ")


@pytest.mark.parametrize("name", ["command_depth", "query_depth"])
def test_nothing_is_read_deeper_than_a_stack_is(name: str) -> None:
    with pytest.raises(PolicyError, match="64"):
        load_policy(_policy({name: 65}, "shell"))
