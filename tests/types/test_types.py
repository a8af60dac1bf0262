"""The public API has types: `mypy` reads `user_code.py` with the rest of the house, and Python
names what was meant."""

import asyncio
from typing import get_type_hints

import pytest

from stanchion import Shield
from stanchion.kernel.events import OF_STAGE
from stanchion.runtime.calling.report_methods import Fields
from stanchion.runtime.calling.reports import BadEvent, takes
from stanchion.runtime.options import ShieldOptions
from stanchion.testing import shield_for
from tests.types import user_code

BARE = {"name": "bare"}


def test_what_is_checked_also_runs() -> None:
    shield = shield_for(BARE)
    run = shield.run("a")
    for use in (user_code.calls, user_code.reports, user_code.children, user_code.streams):
        use(run)
    for later in (user_code.async_calls, user_code.async_reports):
        asyncio.run(later(run))
    user_code.shielded(shield)


def test_a_mistyped_keyword_is_answered_with_the_one_that_was_meant() -> None:
    shield = shield_for(BARE)
    said = user_code.mistakes(shield, shield.run("a"))
    meant = [
        "tokens",
        "call",
        "final",
        "deadline_s",
        "channel",
        "params",
        "agent",
        "risk",
        "every_s",
    ]
    meant += ["tenant", "comment", "tenant"]
    assert [one.rpartition("did you mean ")[2] for one in said] == [f"`{name}`?" for name in meant]
    assert (
        said[0] == "Run.check() got an unexpected keyword argument 'token': did you mean `tokens`?"
    )
    assert (
        said[-1]
        == "Shield.load() got an unexpected keyword argument 'tennant': did you mean `tenant`?"
    )


def test_a_mistyped_option_of_a_child_reserves_nothing() -> None:
    shield = shield_for({"name": "n", "guards": [{"use": "budget", "calls": 5}]})
    run = shield.run("a")
    for _ in range(3):
        with pytest.raises(TypeError, match="did you mean `tools`"):
            run.spawn("child", budget={"calls": 4}, tool=["bash"])  # type: ignore[call-arg]  # what is tested
    assert run.spawn("child", budget={"calls": 4}).check("bash", {}).proceeds


def test_an_async_method_answers_a_mistyped_keyword_too() -> None:
    run = shield_for(BARE).run("a")
    with pytest.raises(TypeError, match="did you mean `tokens`"):
        asyncio.run(run.acheck("bash", {}, token=1))  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="did you mean `task`"):
        asyncio.run(run.aspawn("child", taks="x"))  # type: ignore[call-arg]  # what is tested


def test_a_type_error_of_the_users_own_code_passes_through() -> None:
    """It is no mistyped keyword, whatever it says."""

    def model(messages: list[object]) -> str:
        raise TypeError("f() got an unexpected keyword argument 'x'")

    with pytest.raises(TypeError, match=r"^f\(\) got an unexpected keyword argument 'x'$"):
        shield_for(BARE).run("a").model(model, [])


def test_a_field_that_a_stage_does_not_have_is_answered_likewise() -> None:
    with pytest.raises(BadEvent, match="`prompt` has no field `txt`: did you mean `text`"):
        shield_for(BARE).run("a").judge("prompt", txt="hello")  # type: ignore[call-arg]  # what is tested


def test_every_field_of_every_stage_can_be_reported_by_name() -> None:
    assert set(Fields.__annotations__) == {name for stage in OF_STAGE for name in takes(stage)}


def test_load_takes_every_option_of_a_shield() -> None:
    """What `Shield` takes is in `ShieldOptions`, or a parameter of `load` of its own: its `notify`
    makes the `post`."""
    own = {"policy", "source", "env", "store", "journal", "clock", "post", "return"}
    assert set(ShieldOptions.__annotations__) == set(Shield.__init__.__annotations__) - own
    assert "tenant" in get_type_hints(
        ShieldOptions,
        localns={
            "Operator": object,
            "Resolver": object,
            "Trust": object,
            "Mode": str,
            "Path": object,
        },
    )
