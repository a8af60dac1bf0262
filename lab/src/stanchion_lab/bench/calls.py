"""Counting calls: a measure of work that neither the machine nor its load disturbs."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Final

INLINED: Final = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})
"""Calls in Python 3.11 only: later ones run comprehensions where they stand."""


class Calls:
    """Notes each function of Python that this thread calls meanwhile, resumed generators included:

    with Calls() as calls: run.check(…)
    """

    def __init__(self) -> None:
        self.codes: list[CodeType] = []

    def __enter__(self) -> Calls:
        self._before = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _note(self, frame: FrameType, event: str, _arg: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name not in INLINED and code.co_filename != __file__:
            self.codes.append(code)

    def below(self, *folders: str) -> list[CodeType]:
        """Those that stand in files below some folders."""
        return [code for code in self.codes if code.co_filename.startswith(folders)]
