"""Measuring the PII guard: rows are held against their spans, and what needs a model is told
apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stanchion_lab.measuring.pii import FILE, HONEST, measure


def row(name: str, kind: str, label: str, text: str, spans: Any, entity: str | None = None) -> str:
    """A line of the corpus."""
    given = {
        "id": name,
        "kind": kind,
        "label": label,
        "payload": text,
        "source": "s",
        "spans": spans,
    }
    return json.dumps({**given, "entity": entity} if entity else given)


def test_hits_misses_and_false_alarms_are_told(tmp_path: Path) -> None:
    single, synth = "presidio_recognizer", "presidio_synth"
    lines = [
        row("a", single, "pii", "078-05-1123", [[0, 11]], "us_ssn"),
        row("b", single, "pii", "121042882", [[0, 9]], "aba_routing"),
        row("c", single, "not_pii", "121042883", [], "aba_routing"),
        row("d", single, "not_pii", "078-05-1123", [], "us_ssn"),
        row("e", single, "pii", "my name is Dan", [[11, 14]], "spacy"),
        row("f", single, "pii", "3123 4567 8909", [0, 14], "in_aadhaar"),
        row(
            "g",
            synth,
            "pii",
            "Ann: 4111111111111111",
            [[5, 21, "CREDIT_CARD", "x"], [0, 3, "PERSON", "Ann"]],
        ),
        row("h", synth, "pii", "call 12", [[5, 7, "PHONE_NUMBER", "12"]]),
        row("i", synth, "not_pii", "ssn 078-05-1123", []),
    ]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / HONEST).write_text(row("j", "trace", "benign", "078-05-1123", []), encoding="utf-8")
    figures = measure(tmp_path).figures
    counts = {
        figure.name: (figure.hits, figure.of)
        for figure in figures
        if not figure.name.startswith(" ")
    }
    assert counts == {
        "single values, under their name: found": (3, 3),
        "single values, bare: found": (2, 3),
        "single values, bare, with `bare: true`: found": (3, 3),
        "single values, under their name: false alarms": (1, 2),
        "single values, bare: false alarms": (1, 2),
        "single values, bare, with `bare: true`: false alarms": (1, 2),
        "synthetic texts: found": (1, 2),
        "synthetic texts with a false alarm, all entities": (1, 3),
        "synthetic texts with a false alarm, usual ones": (1, 3),
        "needs a model, synthetic texts: hidden all the same": (0, 1),
        "needs a model, single values": (0, 1),
        "honest traces with something found, usual ones": (1, 1),
    }
    misses = {figure.name: figure.misses for figure in figures}
    assert misses["single values, bare: found"] == ("b (aba_routing): '121042882'",)
    assert misses["synthetic texts: found"] == ("h (PHONE_NUMBER): '12'",)
    assert misses["honest traces with something found, usual ones"] == ("j: us-ssn",)
