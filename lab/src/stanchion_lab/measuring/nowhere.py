"""Nowhere: an empty folder to measure in, so that no repository of whoever measures has a say in
what is decided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from tempfile import TemporaryDirectory


@contextmanager
def nowhere() -> Iterator[None]:
    """Work in an empty folder that is gone afterwards."""
    with TemporaryDirectory(prefix="stanchion-measure-") as folder, chdir(folder):
        yield
