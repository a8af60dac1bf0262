"""Exceptions of the dialects on their way between processes: each arrives as it was raised."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from typing import Any, Final

import pytest

from stanchion import dialects
from stanchion.audit.errors import TrailError
from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica import Decision, PartialBufferOverflow
from stanchion.kernel.shown import StanchionError
from stanchion.policy.conditions.limits import ConditionError
from stanchion.policy.errors import Fault, PolicyError
from stanchion.runtime.deciding.run_memory import PartialOverflow
from stanchion.stores.protocol import StoreError

GIVEN: Final[dict[str, Any]] = {
    "message": "there is no more room",
    "kept": ("a", {"b": 1}),
    "decision": Decision.HALT,
    "reason": "the brake is on",
    "request_id": "r",
}
"""A value for each argument that an exception of a dialect takes; a new argument needs one, too."""


def raised() -> list[type[BaseException]]:
    """The exceptions that the dialects define."""
    modules = [
        importlib.import_module(one.name)
        for one in pkgutil.walk_packages(dialects.__path__, "stanchion.dialects.")
    ]
    found = {
        value for module in modules for value in vars(module).values() if isinstance(value, type)
    }
    own = [
        kind
        for kind in found
        if issubclass(kind, BaseException) and kind.__module__.startswith("stanchion.dialects")
    ]
    return sorted(own, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("whole", [True, False], ids=["all", "required"])
@pytest.mark.parametrize("kind", raised(), ids=lambda kind: kind.__name__)
def test_an_exception_arrives_as_it_was_raised(kind: type[BaseException], whole: bool) -> None:
    plain = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    taken = [
        one
        for one in list(inspect.signature(kind.__init__).parameters.values())[1:]
        if one.kind not in plain
    ]
    error = kind(
        **{one.name: GIVEN[one.name] for one in taken if whole or one.default is one.empty}
    )
    for came in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - its own bytes
        assert type(came) is kind
        assert (str(came), came.args, vars(came)) == (str(error), error.args, vars(error))


@pytest.mark.parametrize(
    "error",
    [
        PartialOverflow("full", ("a",)),
        ConditionError("no", 1, 2),
        TrailError("gone"),
        StoreError("locked"),
        PolicyError([Fault("p.yaml", "wrong")]),
        DialectError("x" * 5_000),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_the_house_arrive_as_they_were_raised(error: StanchionError) -> None:
    came = pickle.loads(pickle.dumps(error))  # noqa: S301 - its own bytes
    assert (type(came), str(came), came.args, vars(came)) == (
        type(error),
        str(error),
        error.args,
        vars(error),
    )


def test_every_exception_of_the_dialects_is_looked_at() -> None:
    assert PartialBufferOverflow in raised()
    assert len(raised()) >= 4
