"""Variables that GuardianLayer reads and this does not are named, where they would have changed
anything."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from stanchion.dialects.guardian import AdviceStyle, GuardianLayer


@pytest.mark.parametrize(
    ("environ", "given", "line"),
    [
        (
            {"GUARDIAN_MAX_REPEATS": "5"},
            {},
            "`GUARDIAN_MAX_REPEATS` is not read here: give `max_repeats=` to `GuardianLayer`",
        ),
        (
            {"GUARDIAN_DB_PATH": "postgres://u:secret@h/d", "GUARDIAN_BASE_COOLDOWN": "soon"},
            {},
            "`GUARDIAN_DB_PATH`, `GUARDIAN_BASE_COOLDOWN` are not read here: give `db_path=`, "
            "`base_cooldown=` to `GuardianLayer`",
        ),
        (
            {"GUARDIAN_LOG_LEVEL": "DEBUG"},
            {},
            "`GUARDIAN_LOG_LEVEL` is not read here, and nothing does what it did",
        ),
        (
            {"GUARDIAN_ADVICE_STYLE": "expert", "GUARDIAN_DEBUG": "1", "GUARDIAN_CACHE_SIZE": "9"},
            {"advice_style": AdviceStyle.FRIENDLY},
            "`GUARDIAN_ADVICE_STYLE` is not read here: give `advice_style=` to `GuardianLayer`; "
            "`GUARDIAN_CACHE_SIZE`, `GUARDIAN_DEBUG` are not read here, and nothing does what they "
            "did",
        ),
        ({"GUARDIAN_MAX_REPEATS": "2", "GUARDIAN_BASE_COOLDOWN": "60"}, {}, ""),
        (
            {"GUARDIAN_MAX_REPEATS": "5", "GUARDIAN_ADVICE_STYLE": "EXPERT"},
            {"max_repeats": 5, "advice_style": "expert"},
            "",
        ),
        ({"GUARDIAN_MEMORY_DB": "true", "GUARDIAN_MAX_HISTORY": ""}, {}, ""),
        ({"GUARDIAN_OF_THE_GALAXY": "rocket"}, {}, ""),
    ],
)
def test_what_would_be_lost_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], given: dict[str, Any], line: str
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        GuardianLayer(**given).close()
    assert [str(one.message) for one in heard] == ([line] if line else [])
    assert all(one.filename == __file__ for one in heard)
