"""The gate: which guards have nothing to say about an event, known before they are asked."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.regex import finding


def silent(reading: Any) -> frozenset[GuardGate]:
    """The gates of the policy's guards of which nothing is in an event. Guards read characters that
    are not ASCII in ways of their own: with any of these no gate is silent."""
    found: list[GuardGate] = []
    texts = reading.joined
    for gate in reading.reader.gates if texts.text.isascii() else ():
        expressions, works, shortest = gate
        if len(texts.raw) >= shortest:
            for expression in expressions:
                if finding(expression)(texts.raw) is not None:
                    break
            else:
                for work in works:
                    if reading.of(work) is not None:
                        break
                else:
                    found.append(gate)
        else:
            found.append(gate)
    return frozenset(found)
