"""Measuring the secrets guard: rows are held against their labels, kinds count alike, and no value
is told."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

from stanchion_lab.measuring.secrets import FILE, measure

TOKEN = "ghp_" + "q7W2e9R4t1Y8u3I6" * 2 + "o5P0"


def row(name: str, label: str, rule: str, text: str, source: str = "first@1 rules") -> str:
    """A line of the corpus."""
    payload = b64encode(text.encode()).decode()
    return json.dumps(
        {
            "id": name,
            "kind": source.partition("@")[0],
            "label": label,
            "rule": rule,
            "payload_b64": payload,
            "source": source,
        }
    )


def test_hits_and_misses_are_told_without_their_values(tmp_path: Path) -> None:
    lines = [
        row("a", "secret", "github-pat", f"token: {TOKEN}"),
        row("b", "secret", "github-pat", "token: none at all", "second@2 tests"),
        row("c", "secret", "aws_key", "AKIAQ7W2E3R4T5Y6U7I2"),
        row("d", "not_secret", "github-pat", "ghp_xxxx"),
        row("e", "not_secret", "other", f"an old {TOKEN}"),
        row("f", "rule_negative", "gitlab-pat", TOKEN),
        row("g", "rule_negative", "aws_key", "AKIAQ7W2E3R4T5Y6U7I2"),
        row("h", "policy_hit", "no-homedir", TOKEN),
    ]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    honest = {
        "id": "t",
        "kind": "trace",
        "label": "benign",
        "source": "third",
        "payload": {"steps": ["ls", TOKEN]},
    }
    (tmp_path / "benign_traces.jsonl").write_text(json.dumps(honest), encoding="utf-8")
    report = measure(tmp_path)
    counts = {figure.name.strip(): (figure.hits, figure.of) for figure in report.figures}
    assert counts == {
        "credentials: found": (2, 3),
        "kinds: all rows found": (1, 2),
        "no credentials: false alarms": (2, 4),
        "honest work, benign_traces.jsonl: found": (1, 1),
    }
    assert [(one.name, one.hits, one.of) for one in report.figures[0].families] == [
        ("first", 2, 2),
        ("second", 0, 1),
    ]
    misses = {figure.name: figure.misses for figure in report.figures if figure.misses}
    assert misses["credentials: found"] == ("b (github-pat, second)",)
    assert misses["kinds: all rows found"] == ("github-pat: 50% of its rows",)
    assert misses["no credentials: false alarms"] == (
        "e (other, first): github-pat",
        "g (aws_key, first): aws-access-token",
    )
    assert report.notes[0].startswith("mean over 2 kinds: 75.0%")
    assert TOKEN not in repr(report)
