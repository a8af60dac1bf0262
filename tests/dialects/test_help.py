"""Python's own help can be asked about every dialect."""

from __future__ import annotations

import pkgutil
import pydoc
from importlib import import_module

import pytest

from stanchion import dialects


@pytest.mark.parametrize("name", [one.name for one in pkgutil.iter_modules(dialects.__path__) if one.ispkg])
def test_help_knows_every_name_of_a_dialect(name: str) -> None:
    module = import_module(f"stanchion.dialects.{name}")
    text = pydoc.plain(pydoc.render_doc(module))
    assert [one for one in module.__all__ if one not in text] == []
