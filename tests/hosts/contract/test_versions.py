"""A framework of an unknown version is refused in one line where its adapter has no canary."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from stanchion.hosts import UnknownVersion, tried


def test_a_version_that_was_tried_is_said() -> None:
    assert tried("msgspec", "0.1", "99").found == version("msgspec")


@pytest.mark.parametrize(
    ("at_least", "below"), [("99", "100"), ("0.0.1", "0.2"), ("0.1", version("msgspec"))]
)
def test_any_other_is_refused_in_one_line(at_least: str, below: str) -> None:
    with pytest.raises(
        UnknownVersion,
        match=rf"^`msgspec` {version('msgspec')} was not tried .* install `msgspec>=",
    ):
        tried("msgspec", at_least, below)


def test_one_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        UnknownVersion,
        match=r"^`no-such-framework` is not installed: install `no-such-framework>=1,<2`",
    ):
        tried("no-such-framework", "1", "2")


@pytest.mark.parametrize(
    ("found", "known"),
    [("1.4", True), ("1.4.0", True), ("1.10.2", True), ("1.4.7rc1", True), ("1.3.9", False), ("2.0", False),  # noqa: E501
     ("2.0.0rc1", False), ("main", False), ("", False)],
)  # fmt: skip
def test_versions_are_compared_by_their_numbers(
    found: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: found)
    if known:
        assert tried("framework", "1.4", "2").found == found
        return
    with pytest.raises(UnknownVersion):
        tried("framework", "1.4", "2")


def test_an_import_that_fails_says_which_version_was_found() -> None:
    unfit = pytest.raises(UnknownVersion, match=r"^`msgspec` .* does not fit this adapter \(cannot")
    with unfit, tried("msgspec", "0.1", "99"):
        raise ImportError("cannot import name `seam`")


def test_an_error_of_another_kind_is_its_own() -> None:
    with pytest.raises(ValueError, match=r"^wrong$"), tried("msgspec", "0.1", "99"):
        raise ValueError("wrong")
