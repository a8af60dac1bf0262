"""Documents that are kept are those that were read, and nobody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stanchion.policy.composed import read_text
from stanchion.policy.load import load_policy, pack_text, packs
from stanchion.policy.sealed import DOCUMENTS, MOST_FILES, SEALED, DocumentCache

TEXT = """\
# a policy
name: one
version: 1.10
tools: &tools
  "007": {risk: high, timeout_s: 2.5, annotations: [once, poll]}
guards:
  - use: tool_denylist
    tools: [rm, "sudo*"]
  - use: step_limit
    max_steps: 3
    enabled: true
    id: ~
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder that is there."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def files(state: Path) -> list[Path]:
    return sorted((state / SEALED / DOCUMENTS).iterdir())


@pytest.mark.parametrize("text", [TEXT, *[str(pack_text(name)) for name in packs()]])
def test_what_is_found_is_what_was_read(text: str, state: Path) -> None:
    read = read_text(text, "policy.yaml")
    DocumentCache(state).put(text, read)
    assert DocumentCache(state).get(text, "policy.yaml") == read
    assert DocumentCache(state).get(text, "elsewhere.yaml") == read_text(text, "elsewhere.yaml")


def test_another_text_is_not_found(state: Path) -> None:
    DocumentCache(state).put(TEXT, read_text(TEXT, "p.yaml"))
    assert DocumentCache(state).get(TEXT + "\n", "p.yaml") is None


def test_what_has_faults_is_not_kept(state: Path) -> None:
    text = "name: one\nname: two\n"
    DocumentCache(state).put(text, read_text(text, "p.yaml"))
    assert not (state / SEALED / DOCUMENTS).exists()


def test_no_state_folder_is_made(tmp_path: Path) -> None:
    for state in (None, tmp_path / "nowhere"):
        DocumentCache(state).put(TEXT, read_text(TEXT, "p.yaml"))
        assert DocumentCache(state).get(TEXT, "p.yaml") is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_changed_is_not_believed(state: Path) -> None:
    DocumentCache(state).put(TEXT, read_text(TEXT, "p.yaml"))
    (kept,) = files(state)
    body = kept.read_bytes()
    for at in range(0, len(body), 7):
        kept.write_bytes(body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :])
        assert DocumentCache(state).get(TEXT, "p.yaml") is None
    kept.write_bytes(body)
    assert DocumentCache(state).get(TEXT, "p.yaml") is not None


def test_one_document_does_not_pass_for_another(state: Path) -> None:
    mild = TEXT.replace("[rm, ", "[ls, ")
    for text in (TEXT, mild):
        DocumentCache(state).put(text, read_text(text, "p.yaml"))
    first, second = files(state)
    first.write_bytes(second.read_bytes())
    assert [DocumentCache(state).get(text, "p.yaml") is None for text in (TEXT, mild)].count(
        True
    ) == 1
    found = [DocumentCache(state).get(text, "p.yaml") for text in (TEXT, mild)]
    assert found[found.index(None) - 1] == read_text((TEXT, mild)[found.index(None) - 1], "p.yaml")


@pytest.mark.skipif(os.name != "posix", reason="who may write is said otherwise there")
def test_where_others_may_write_nothing_is_believed(state: Path) -> None:
    DocumentCache(state).put(TEXT, read_text(TEXT, "p.yaml"))
    (state / SEALED / DOCUMENTS).chmod(0o777)
    assert DocumentCache(state).get(TEXT, "p.yaml") is None


def test_a_key_of_somebody_else_opens_nothing(state: Path) -> None:
    DocumentCache(state).put(TEXT, read_text(TEXT, "p.yaml"))
    (state / SEALED / "key").write_bytes(bytes(32))
    assert DocumentCache(state).get(TEXT, "p.yaml") is None


def test_only_so_many_are_kept(state: Path) -> None:
    for number in range(MOST_FILES + 3):
        text = f"name: p{number}\n"
        DocumentCache(state).put(text, read_text(text, "p.yaml"))
    assert len(files(state)) == MOST_FILES


def test_a_policy_is_the_same_read_or_kept(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(TEXT.replace("    id: ~\n", ""), encoding="utf-8")
    plain = load_policy(file)
    for _ in range(2):
        kept = load_policy(file, None, DocumentCache(state))
        assert (kept.hash, kept.files) == (plain.hash, plain.files)
        assert [seat.place for seat in kept.seats] == [seat.place for seat in plain.seats]
    file.write_text("name: other\n", encoding="utf-8")
    assert load_policy(file, None, DocumentCache(state)).file.name == "other"
