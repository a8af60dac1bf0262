"""A call is judged by what its name and its arguments say, in whatever words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.packs import new_run

CALLS: Final = yaml.safe_load(Path(__file__).with_name("any_call.yaml").read_text("utf-8"))


def _name(call: Any) -> str:
    return str(call[0]) if isinstance(call, list) else ""


@pytest.mark.parametrize("call", CALLS["dangerous"], ids=_name)
def test_a_dangerous_call_is_asked_about(call: tuple[str, dict[str, Any]]) -> None:
    assert not new_run().check(*call).proceeds


@pytest.mark.parametrize("call", CALLS["honest"], ids=_name)
def test_an_everyday_call_goes_ahead(call: tuple[str, dict[str, Any]]) -> None:
    assert new_run().check(*call).proceeds
