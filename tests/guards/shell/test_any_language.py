"""What is dangerous is so in every language that code may be in, and everyday code is not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.packs import new_run

CODE: Final = yaml.safe_load(Path(__file__).with_name("any_language.yaml").read_text("utf-8"))


@pytest.mark.parametrize("language", CODE["dangerous"])
def test_dangerous_code_is_asked_about(language: str) -> None:
    run = new_run()
    calls = [{"language": language, "code": code} for code in CODE["dangerous"][language]]
    assert [call["code"] for call in calls if run.check("run_code", call).proceeds] == []


@pytest.mark.parametrize("language", CODE["honest"])
def test_everyday_code_goes_ahead(language: str) -> None:
    run = new_run()
    calls = [{"language": language, "code": code} for code in CODE["honest"][language]]
    assert [call["code"] for call in calls if not run.check("run_code", call).proceeds] == []
