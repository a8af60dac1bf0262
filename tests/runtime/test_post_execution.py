"""After an action and before its result counts: refused results are thrown away and undone,
warnings are read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Action, Refused
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.testing import shield_for
from tests.audit.written import of_kind, whole

CONTENT = "the content of row seven"
FORM = {"type": "object", "required": ["id"]}
UNDONE: list[str] = []


def take_back(name: str) -> None:
    """An undo that a policy names."""
    UNDONE.append(name)


async def take_back_later(name: str) -> None:
    """An undo that waits."""
    await asyncio.sleep(0)
    UNDONE.append(name)


def broken(name: str) -> None:
    """An undo that fails."""
    raise OSError(name)


@pytest.fixture(autouse=True)
def nothing_undone() -> None:
    UNDONE.clear()


def policy(mismatch: str = "block", undo: str = "take_back") -> dict[str, Any]:
    """Results of `add_row` are JSON with an id, or else."""
    return {
        "name": "post-execution",
        "tools": {"add_row": {"undo": f"{__name__}:{undo}", "effect": "read"}},
        "guards": [{"use": "output", "results": {"add_row": FORM}, "mismatch": mismatch}],
    }


def add_row(name: str) -> str:
    """A tool whose result is not what was asked for."""
    return CONTENT


async def add_row_later(name: str) -> str:
    """The same, async."""
    await asyncio.sleep(0)
    return CONTENT


def assert_discarded(refused: Refused, run: Any) -> None:
    decision = refused.decision
    assert (decision.action, decision.code) == (Action.BLOCK, "output.format")
    assert "is not JSON" in str(refused)
    assert CONTENT not in str(refused)
    assert CONTENT.encode() not in msgspec.json.encode(decision)
    assert CONTENT not in run.partial


def test_a_blocked_result_is_discarded_and_undone_once() -> None:
    shield = shield_for(policy())
    tool = shield.tool(add_row)
    with shield.run("a") as run:
        with pytest.raises(Refused) as refused:
            run.call(tool, name="seven")
        assert_discarded(refused.value, run)
        assert UNDONE == ["seven"]
        assert run.rollback() == ()
    assert UNDONE == ["seven"]


def test_a_blocked_result_is_discarded_and_undone_once_in_async_code() -> None:
    shield = shield_for(policy(undo="take_back_later"))
    tool = shield.tool(name="add_row")(add_row_later)

    async def work() -> None:
        async with shield.run("a") as run:
            with pytest.raises(Refused) as refused:
                await run.acall(tool, name="seven")
            assert_discarded(refused.value, run)
            assert UNDONE == ["seven"]
            assert await run.arollback() == ()

    asyncio.run(work())
    assert UNDONE == ["seven"]


def test_a_tool_s_own_undo_comes_before_the_policy_s() -> None:
    shield = shield_for(policy())
    own: list[str] = []
    tool = shield.tool(name="add_row", undo=own.append)(add_row)
    with shield.run("a") as run, pytest.raises(Refused):
        run.call(tool, "seven")
    assert (own, UNDONE) == (["seven"], [])


def test_a_result_that_a_host_reports_is_undone_once() -> None:
    shield = shield_for(policy())
    args = {"name": "seven"}
    with shield.run("a") as run:
        call = run.check("add_row", args).id
        decision = run.result("add_row", args, CONTENT, call=call)
        assert (decision.action, decision.proceeds) == (Action.BLOCK, False)
        assert CONTENT not in decision.message + decision.advice
        assert UNDONE == ["seven"]
        assert run.result("add_row", args, CONTENT, call=call).action == Action.BLOCK
        assert run.rollback() == ()
    assert UNDONE == ["seven"]


def test_a_result_that_an_async_host_reports_without_a_check_is_undone() -> None:
    shield = shield_for(policy(undo="take_back_later"))

    async def work() -> None:
        async with shield.run("a") as run:
            assert (await run.aresult("add_row", {"name": "seven"}, CONTENT)).action == Action.BLOCK

    asyncio.run(work())
    assert UNDONE == ["seven"]


def test_what_a_host_has_done_is_rolled_back_with_the_rest() -> None:
    shield = shield_for(policy())
    with shield.run("a") as run:
        for name in ("six", "seven"):
            run.check("add_row", {"name": name})
            assert run.result("add_row", {"name": name}, '{"id": 7}').proceeds
        assert UNDONE == []
        assert [done.tool for done in run.rollback()] == ["add_row", "add_row"]
    assert UNDONE == ["seven", "six"]


@pytest.mark.parametrize("mismatch", ["warn", "retry", "escalate"])
def test_only_from_block_on_is_anything_undone(mismatch: str) -> None:
    shield = shield_for(policy(mismatch))
    tool = shield.tool(add_row)
    with shield.run("a") as run:
        if mismatch == "warn":
            run.call(tool, name="seven")
        else:
            with pytest.raises(Refused):
                run.call(tool, name="seven")
        run.result("add_row", {"name": "eight"}, CONTENT)
    assert UNDONE == []


def test_an_undo_that_fails_is_told_and_the_refusal_stands() -> None:
    shield = shield_for(policy(undo="broken"))
    with shield.run("a") as run:
        assert run.result("add_row", {"name": "seven"}, CONTENT).action == Action.BLOCK
        assert run.notices() == ("the action could not be undone: `OSError`",)


def test_a_warned_result_counts_and_the_agent_reads_why() -> None:
    shield = shield_for(policy("warn"))
    tool = shield.tool(add_row)
    with shield.run("a") as run:
        assert run.call(tool, name="seven") == CONTENT
        (notice,) = run.notices()
        assert notice.startswith("the result of `add_row` is not JSON")
        assert run.notices() == ()
        decision = run.result("add_row", {"name": "seven"}, CONTENT)
        assert (decision.action, decision.proceeds, decision.patched(CONTENT)) == (
            Action.WARN,
            True,
            CONTENT,
        )
        assert len(run.notices()) == 1


def test_a_warned_result_is_annotated_in_async_code_and_for_the_model() -> None:
    shield = shield_for(policy("warn"))
    tool = shield.tool(name="add_row")(add_row_later)
    seen: list[Any] = []

    def model(messages: list[Any]) -> str:
        seen.extend(messages)
        return "done"

    async def work() -> None:
        async with shield.run("a") as run:
            assert await run.acall(tool, name="seven") == CONTENT
            await run.amodel(model, [{"role": "user", "content": "go on"}])

    asyncio.run(work())
    assert [message["role"] for message in seen] == ["user", "system"]
    assert "is not JSON" in seen[1]["content"]


def test_the_record_says_what_was_refused_and_that_it_was_undone(tmp_path: Path) -> None:
    shield = shield_for(policy(), journal=Trail(tmp_path / "trail", TrailOptions()))
    with shield.run("a", id="r1") as run:
        run.result("add_row", {"name": "seven"}, CONTENT)
    shield.close()
    (records,) = whole(tmp_path / "trail").values()
    facts = [(one["what"], one["about"]) for one in of_kind(records, "fact")]
    assert ("undo.done", "tool:add_row") in facts
