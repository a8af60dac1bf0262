"""What a failure says about itself: its kinds and its status, whatever library raised it, and whose
fault it is."""

from __future__ import annotations

import subprocess
from http import HTTPStatus
from typing import Any

import pytest

from stanchion.kernel.events import Failure
from stanchion.policy.load import load_policy
from stanchion.runtime.deciding.faults import described, kinds, status_of
from stanchion.runtime.run import Run
from stanchion.testing import ScriptedTool, shield_for

POLICY = load_policy({"name": "plain"})


class Carrier(Exception):
    """An error with whatever attributes a library gives its own."""

    def __init__(self, text: str = "", **attributes: Any) -> None:
        super().__init__(text)
        self.__dict__.update(attributes)


class Response:
    def __init__(self, status_code: Any) -> None:
        self.status_code = status_code


class Hostile(Exception):
    """An error whose every part raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __getattribute__(self, name: str) -> Any:
        if name in ("status_code", "response", "status", "code", "stderr"):
            raise RuntimeError("no attribute")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Carrier(status_code=503), 503),
        (Carrier(response=Response(404)), 404),
        (Carrier(status=429), 429),
        (Carrier(code=HTTPStatus.BAD_GATEWAY), 502),
        (Carrier(code="404"), 404),
        (Carrier(response={"ResponseMetadata": {"HTTPStatusCode": 400}}), 400),
        (Carrier(response={"ResponseMetadata": None}), None),
        (Carrier(status_code=None, response=Response(None), code=True), None),
        (Carrier(code=17), None),
        (Carrier(code="invalid_request_error"), None),
        (SystemExit(200), None),
        (subprocess.CalledProcessError(404, "curl"), None),
        (Hostile(), None),
        (Exception(), None),
    ],
)
def test_the_status_is_found_where_libraries_keep_it(
    error: BaseException, status: int | None
) -> None:
    assert status_of(error) == status


def test_kinds_are_those_of_the_class() -> None:
    class Ours(ConnectionResetError): ...

    assert kinds(Ours()) == ("Ours", ("ConnectionResetError", "ConnectionError", "OSError"))
    assert kinds(Exception()) == ("Exception", ())


def chained(outer: BaseException, cause: BaseException) -> BaseException:
    outer.__cause__ = cause
    return outer


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ConnectionResetError("x"), "system"),
        (Carrier("x", status_code=500), "system"),
        (Carrier("x", status_code=422), "user"),
        (Carrier("Account closed"), "business"),
        (Carrier("boom"), "unknown"),
        (Hostile(), "unknown"),
        (chained(Carrier("boom"), TimeoutError()), "system"),
        (chained(Carrier("boom"), chained(Carrier("boom"), Carrier("x", status_code=404))), "user"),
        (chained(Carrier("invalid"), TimeoutError()), "user"),
        (ExceptionGroup("several", [Carrier("boom"), TimeoutError()]), "system"),
        (subprocess.CalledProcessError(1, "curl", stderr=b"curl: (7) Failed to connect"), "system"),
        (subprocess.CalledProcessError(127, "x", stderr="x: command not found"), "user"),
        (subprocess.TimeoutExpired("x", 1), "system"),
    ],
)
def test_whose_fault_an_error_is(error: BaseException, fault: str) -> None:
    assert described(POLICY, error)["fault"] == fault


def test_errors_that_stand_behind_each_other_in_a_circle_end() -> None:
    one, two = Carrier("boom"), Carrier("boom")
    one.__cause__, two.__cause__ = two, one
    assert described(POLICY, one)["fault"] == "unknown"


class Seen:
    """Remembers the failures it is shown."""

    id = "seen"
    stages = ("error",)

    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def judge(self, event: Failure) -> None:
        self.failures.append(event)


def watched() -> tuple[Run, list[Failure]]:
    seen = Seen()
    return shield_for({"name": "plain"}, guards=[seen]).run("a"), seen.failures


def test_a_tool_that_raises_and_a_host_that_reports_say_the_same() -> None:
    run, failures = watched()
    error = Carrier("no", status_code=503)
    with pytest.raises(Carrier):
        run.call(ScriptedTool(error, name="pay"))
    run.error("pay", error)
    run.error("pay", "Carrier", text="no", status=503)
    said = [(one.error, one.text, one.status, one.fault) for one in failures]
    assert said == [("Carrier", "no", 503, "system")] * 3


def test_what_a_host_knows_besides_counts() -> None:
    run, failures = watched()
    run.error("pay", Carrier("not found"))
    run.error("pay", Carrier("not found"), status=503)
    run.error("pay", Carrier("not found"), fault="business")
    run.error("pay", "Ours", bases=["TimeoutError"])
    assert [one.fault for one in failures] == ["user", "system", "business", "system"]
    assert failures[-1].bases == ("TimeoutError",)
    with pytest.raises(
        ValueError, match="fault is `mine`: give one of system, user, business, unknown"
    ):
        run.error("pay", "Ours", fault="mine")
