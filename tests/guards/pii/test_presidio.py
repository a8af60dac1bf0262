"""Presidio: the real library, without a model and without a network."""

from __future__ import annotations

import builtins
import socket
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from stanchion.guards.presidio import EntityQuestion, Presidio
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ModelReply, RunInfo, ToolCall
from stanchion.kernel.patches import apply
from stanchion.readings import read
from stanchion.runtime.answers.presidio import analyzer, found

# To import it takes two seconds, which whoever only collects tests need not wait for.
pytestmark = pytest.mark.skipif(
    find_spec("presidio_analyzer") is None, reason="needs the extra `presidio`"
)

ARGS = {
    "note": (
        "My SSN is 078-05-1123, mail info@presidio.site, call (415) 555-0132, see https://x.org"
    ),
    "ssn": "078-05-1123",
    "people": ["Ann", {"driverLicense": "H12234567"}],
}


@pytest.fixture(autouse=True, scope="module")
def offline() -> Iterator[None]:
    """No name is looked up and nothing is fetched, neither while the library loads nor while it
    reads."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("the network was asked")

        patch.setattr(socket, "getaddrinfo", refuse)
        patch.setattr(socket.socket, "connect", refuse)
        yield


def event(args: dict[str, Any]) -> ToolCall:
    """A call."""
    return ToolCall(id="e", at=0, run=RunInfo("run"), tool="t", args=args)


def test_it_finds_by_pattern_by_words_and_by_the_names_of_fields() -> None:
    guard = Presidio()
    lookup = guard.ask(read(event(ARGS)))
    assert lookup is not None
    finding = guard.judge(read(event(ARGS)), found(lookup.payload))
    assert finding is not None
    assert apply(ARGS, finding.patches) == {
        "note": "My SSN is [redacted:us-ssn], mail [redacted:email-address], call "
        "[redacted:phone-number], "
        "see https://x.org",
        "ssn": "[redacted:us-ssn]",
        "people": ["Ann", {"driverLicense": "[redacted:us-driver-license]"}],
    }


def test_many_threads_share_one_engine() -> None:
    guard = Presidio(entities=("EMAIL_ADDRESS",))
    answers: list[list[tuple[int, int, int, str, float]]] = []

    def ask(number: int) -> None:
        lookup = guard.ask(read(event({"text": f"{'x' * number} ann@example.org"})))
        assert lookup is not None
        answers.append(found(lookup.payload))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [[(0, n + 1, n + 16, "EMAIL_ADDRESS", 1.0)] for n in range(8)]
    assert analyzer("en") is analyzer("en")


def test_the_score_and_the_entities_choose() -> None:
    text = ("call (415) 555-0132 or ann@example.org on 5/21/2021",)
    every = found(EntityQuestion(text, ((),), "en", None, 0.4))
    assert [entity for _, _, _, entity, _ in every] == ["PHONE_NUMBER", "EMAIL_ADDRESS"]
    assert [one[3] for one in found(EntityQuestion(text, ((),), "en", None, 0.9))] == [
        "EMAIL_ADDRESS"
    ]
    assert [one[3] for one in found(EntityQuestion(text, ((),), "en", ("DATE_TIME",), 0.4))] == [
        "DATE_TIME"
    ]
    assert found(EntityQuestion(text, ((),), "en", ("NOBODY",), 0.0)) == []


def test_an_answer_from_a_record_needs_no_library() -> None:
    guard = Presidio(action="warn", at={"model_reply": "redact"})
    reply = ModelReply(id="e", at=0, run=RunInfo("run"), text="ask ann@example.org")
    finding = guard.judge(read(reply), [[0, 4, 19, "EMAIL_ADDRESS", 1.0], [0, 8, 19, "URL", 0.5]])
    assert finding is not None
    assert finding.code == "presidio.redacted"
    assert apply(reply.text, finding.patches) == "ask [redacted:email-address]"


@pytest.mark.parametrize(
    "answer", [None, [[0, 4]], [[0, 4, 99, "X", 1.0]], [[7, 0, 1, "X", 1.0]], [[0, 4, 4, "X", 1]]]
)
def test_an_answer_of_another_shape_is_a_failure(answer: Any) -> None:
    reply = ModelReply(id="e", at=0, run=RunInfo("run"), text="ask ann@example.org")
    with pytest.raises((ValueError, IndexError)):
        Presidio().judge(read(reply), answer)


def test_a_late_answer_is_told_without_patches() -> None:
    late = Presidio(action="block").judge(
        read(EntityQuestion(("x",), ((),), "en", None, 0.4)), [[0, 0, 1, "US_SSN", 0.9]]
    )
    assert late is not None
    assert (late.action, late.patches) == (Action.BLOCK, ())


def test_without_the_library_a_policy_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "presidio_analyzer":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ValueError, match=r"install the extra `presidio`"):
        Presidio()
