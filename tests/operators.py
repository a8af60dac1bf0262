"""Operators whom tests share: they answer with `by=ANN`, shields know them by
`operators=[KNOWN]`."""

from __future__ import annotations

from stanchion.testing.operators import operator

ANN, KNOWN = operator("ann")
BOB, KNOWN_BOB = operator("bob")
