"""`stanchion policy trust`: an operator sees what changed since the last word before giving
another."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.cli.main import main
from tests.cli.signing import Signing

POLICY = "name: p\nguards:\n  - {{use: step_limit, max_steps: {}}}\n"


def test_what_changed_since_the_last_trust_is_shown_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = tmp_path / "p.yaml", str(tmp_path / "state.db")
    ann, bob = Signing(tmp_path).enrolled(store), Signing(tmp_path, "bob")

    def trusted(steps: int, who: Signing = ann) -> tuple[int, list[str]]:
        file.write_text(POLICY.format(steps))
        status = main(["policy", "trust", str(file), "--store", store, *who.words()])
        return status, capsys.readouterr().out.splitlines()[1:]

    status, lines = trusted(10)
    assert (status, lines[0]) == (
        0,
        "no policy of this name was trusted before: there is nothing to compare it with",
    )
    hashed = lines[-1].rpartition(" ")[2]
    wider = [
        f"compared with what was trusted last, hash {hashed}:",
        "loosens  guard `step-limit`: max_steps 10 → 99",
        "changed  guard step-limit",
    ]
    status, lines = trusted(99, bob)
    assert (status, lines) == (2, wider)  # nobody knows his key
    status, lines = trusted(99)
    assert (status, lines[:-1]) == (0, wider)
    status, lines = trusted(5)
    assert status == 0
    assert lines[1:-1] == [
        "nothing loosens: whatever the old policy refuses, the new one refuses",
        "changed  guard step-limit",
    ]  # fmt: skip
