"""Files are named for the one thing they hold, and stay short enough to read."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EMPTY_NAMES = {
    "base",
    "common",
    "helper",
    "helpers",
    "manager",
    "managers",
    "misc",
    "util",
    "utils",
}
LONGEST = 500
"""Lines of a source file: about what a reader keeps in mind together."""


def faults(root: Path) -> list[str]:
    """Say which Python files have an empty name, and which of the source are too long."""
    found = []
    for folder in ("src", "lab/src", "model", "tools", "tests"):
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if EMPTY_NAMES & {part.strip("_") for part in Path(path).with_suffix("").parts}:
                found.append(f"`{path}` is named for nothing; name it for the one thing it holds")
            count = len(file.read_text(encoding="utf-8").splitlines())
            if folder in ("src", "lab/src") and count > LONGEST:
                found.append(
                    f"`{path}` has {count} lines, more than {LONGEST}; split it by concept"
                )
    return found


def test_names_and_lengths() -> None:
    found = faults(ROOT)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "lines", "says"),
    [
        ("src/stanchion/kernel/utils.py", 1, "is named for nothing"),
        ("src/stanchion/kernel/_base.py", 1, "is named for nothing"),
        ("tests/helpers/clock.py", 1, "is named for nothing"),
        ("src/stanchion/kernel/engine.py", 501, "has 501 lines"),
    ],
)
def test_a_fault_is_named(path: str, lines: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n" * lines, encoding="utf-8")
    (found,) = faults(tmp_path)
    assert path in found
    assert says in found


def test_a_source_file_of_500_lines_and_a_longer_test_pass(tmp_path: Path) -> None:
    for path, lines in {"src/database.py": 500, "tests/test_long.py": 900}.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text("x = 1\n" * lines, encoding="utf-8")
    assert faults(tmp_path) == []
