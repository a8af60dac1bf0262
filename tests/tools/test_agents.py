"""The measured table of coding agents: the page has what the tool measures, and no cell that nobody
knows of."""

from pathlib import Path

import pytest

from tools.agents import page
from tools.agents.__main__ import unlike_known
from tools.agents.cells import BREAKS, COLUMNS, SWITCHES
from tools.agents.open_session import CHANGES
from tools.agents.rivals import rivals_in


def measured() -> page.Columns:
    return page.read_table(page.PAGE.read_text().partition(page.BEGIN)[2].partition(page.END)[0])


def test_the_page_holds_what_is_known_of_each_way_to_install() -> None:
    found = {(host.split()[0], way): cells for (host, way), cells in measured().items()}
    for agent, way in COLUMNS:
        rows = {*BREAKS, *SWITCHES[agent], *(CHANGES if agent == "claude" else ())}
        assert rows <= found[agent, way].keys()
        assert [*unlike_known(agent, way, found[agent, way])] == []


@pytest.mark.parametrize(
    ("agent", "way", "row", "came"),
    [
        ("claude", "HTTP", "a dangerous call", "runs"),
        ("claude", "HTTP", "an honest call", "stopped"),
        ("claude", "HTTP", "it crashes", "no call: "),
        ("claude", "managed", "`--bare`", "runs"),
        ("claude", "command", "its settings are broken while a session is open", "runs"),
        ("codex", "user", "it is late", "stopped"),
        ("codex", "user", "the daemon is killed in the middle", "runs 1 of 20 times"),
    ],
)
def test_a_cell_that_is_not_as_known_is_named(agent: str, way: str, row: str, came: str) -> None:
    assert [*unlike_known(agent, way, {row: came})] == [f"{agent}, {way}: {row}: {came}"]


def test_a_part_that_is_measured_anew_leaves_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text(f"words\n{page.BEGIN}{page.END}more\n")
    page.write_page({("claude 2", "HTTP"): {"a": "runs", "b": "runs 1 of 2 times"}}, is_part=False)
    page.write_page({("claude 2", "nah 1"): {"b": "stopped"}}, is_part=True)
    page.write_page({("claude 2", "HTTP"): {"a": "stopped"}}, is_part=True)
    text = page.PAGE.read_text()
    assert text.startswith("words\n")
    assert text.endswith("more\n")
    assert "| a | stopped | – |\n| b | **runs 1 of 2 times** | stopped |\n" in text


def test_another_guard_has_the_version_that_is_installed(tmp_path: Path) -> None:
    packages = tmp_path / "hol-guard" / "lib" / "python3.11" / "site-packages"
    for name in ("hol_guard-3.57.0", "other-1.0"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    assert [*rivals_in(tmp_path)] == [
        ("claude", "hol-guard", "3.57.0"),
        ("codex", "hol-guard", "3.57.0"),
    ]
