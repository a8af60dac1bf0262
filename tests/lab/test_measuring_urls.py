"""Measuring the egress guard: rows are held against their labels, and what is read otherwise is no
agreement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stanchion_lab.measuring.urls import FILE, measure


def row(name: str, label: str, url: str, source: str = "List@1 a/one.txt", **rest: Any) -> str:
    """A line of the corpus."""
    return json.dumps(
        {"id": name, "kind": "url", "label": label, "payload": url, "source": source, **rest}
    )


def test_hits_and_misses_are_told(tmp_path: Path) -> None:
    lines = [
        row("a", "internal", "http://127.1/"),
        row("b", "internal", "https://example.com/", "Other two.txt"),
        row("c", "public", "https://example.com/"),
        row("d", "public", "https://localhost/"),
        row("e", "confusing", "http://foo@:/"),
        row("f", "whatwg_host", "https://example.com/", host="example.com"),
        row("g", "whatwg_host", "https://example.com/", host="example.org"),
        row("h", "whatwg_host", "http:example.com"),
        row("i", "whatwg_host", "https://example.net./"),
        row("j", "whatwg_fail", "https://exa mple.com"),
        row("k", "whatwg_fail", "https://example.com/"),
    ]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    figures = measure(tmp_path).figures
    counts = {
        figure.name: (figure.hits, figure.of)
        for figure in figures
        if not figure.name.startswith(" ")
    }
    assert counts == {
        "requests: internal refused": (1, 2),
        "requests: public refused": (1, 2),
        "requests: others refused": (1, 1),
        "written: internal refused": (1, 2),
        "written: public refused": (1, 2),
        "written: others refused": (1, 1),
        "standard: host agreed or refused": (3, 4),
        "standard: failure refused": (1, 2),
        "standard: host agreed, and nobody reads another": (2, 4),
    }
    assert [family.name for family in figures[0].families] == ["List one.txt", "Other two.txt"]
    assert figures[0].misses == ("b (internal): goes ahead: 'https://example.com/'",)
    named = {figure.name: figure.misses for figure in figures}
    assert named["requests: public refused"] == (
        "d (public): egress.internal: 'https://localhost/'",
    )
    assert named["standard: host agreed or refused"] == (
        "g (whatwg_host): goes ahead: 'https://example.com/'",
    )
