"""The project of a folder: the nearest marker, by real paths, in no folder that holds more than one
project."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from stanchion.runtime.standing.places import (
    MARKERS,
    NAME_LENGTH,
    OWNER,
    claim,
    owner_of,
    project_of,
    state_name,
)

NAMES = st.text("ab-. ", min_size=1, max_size=4).filter(lambda name: name.strip(".") != "")
PATHS = st.lists(NAMES, min_size=1, max_size=5)
FORMS: dict[str, Callable[[Path], None]] = {
    "file": Path.touch,
    "folder": Path.mkdir,
    "dangling link": lambda at: at.symlink_to("nowhere"),
}


@given(
    PATHS,
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(MARKERS), st.sampled_from(list(FORMS)))),
    st.data(),
)
def test_the_nearest_marker_is_the_root_by_every_way(
    parts: list[str], marks: list[tuple[int, str, str]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as made:
        home = Path(os.path.realpath(made)) / "home"
        chain = [home.joinpath(*parts[:count]) for count in range(len(parts) + 1)]
        chain[-1].mkdir(parents=True)
        marked = set()
        for depth, marker, form in marks:
            if depth < len(chain) and not os.path.lexists(chain[depth] / marker):
                FORMS[form](chain[depth] / marker)
                marked.add(depth)
        under = [depth for depth in marked if depth > 0]
        root = chain[max(under)] if under else chain[-1]
        assert project_of(chain[-1], home) == root
        assert project_of(root, home) == root
        link = Path(made) / "link"
        at = data.draw(st.integers(0, len(parts)))
        link.symlink_to(chain[at])
        assert project_of(link.joinpath(*parts[at:]), home) == root
        assert project_of(chain[-1] / ".." / chain[-1].name, home) == root
        (Path(made) / "me").symlink_to(home)
        assert project_of(chain[-1], Path(made) / "me") == root


def test_a_marker_in_the_home_folder_or_above_it_makes_no_project(tmp_path: Path) -> None:
    home = tmp_path / "users" / "ann"
    (home / "notes").mkdir(parents=True)
    for each in (home, home.parent):
        (each / ".git").mkdir()
    assert project_of(home / "notes", home) == home / "notes"
    assert project_of(home, home) == home
    assert project_of(home.parent, home) == home.parent


def test_a_marker_in_a_folder_of_everybody_makes_no_project(tmp_path: Path) -> None:
    wide = tmp_path / "tmp"
    (wide / "work").mkdir(parents=True)
    (wide / ".git").mkdir()
    assert project_of(wide / "work", tmp_path / "home") == wide
    wide.chmod(0o1777)
    assert project_of(wide / "work", tmp_path / "home") == wide / "work"


def test_a_file_system_root_is_no_project() -> None:
    assert project_of(Path("/"), Path("/root")) == Path("/")


@given(st.text(max_size=80), st.text(max_size=80))
def test_names_are_plain_and_tell_paths_apart(one: str, two: str) -> None:
    roots = [Path("/work") / name.replace("/", "_").replace("\0", "_") for name in (one, two)]
    try:
        names = [state_name(root) for root in roots]
    except UnicodeEncodeError:
        return
    for name in names:
        assert name.isascii()
        assert not name.startswith((".", "-"))
        assert not set(name) & set("/\\: \n")
        assert len(name) <= NAME_LENGTH + 9
    assert (names[0] == names[1]) == (roots[0] == roots[1])


def test_a_folder_says_whose_it_is_once(tmp_path: Path) -> None:
    folder, root = tmp_path / "state" / "projects" / "one-1", tmp_path / "one"
    assert owner_of(folder) is None
    claim(folder, root)
    first = (folder / OWNER).stat()
    claim(folder, root)
    assert (folder / OWNER).stat().st_ino == first.st_ino
    assert json.loads((folder / OWNER).read_bytes()) == {"root": str(root)}
    assert [each.stat().st_mode & 0o777 for each in (folder, folder.parent, folder / OWNER)] == [
        0o700,
        0o700,
        0o600,
    ]
    with pytest.raises(
        OSError, match=r"holds the state of `.*one` and not of `.*two`: move that folder away"
    ):
        claim(folder, tmp_path / "two")


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"root": 1}'])
def test_a_file_that_says_nothing_is_written_anew(broken: bytes, tmp_path: Path) -> None:
    (tmp_path / OWNER).write_bytes(broken)
    claim(tmp_path, Path("/work/one"))
    assert owner_of(tmp_path) == "/work/one"


def test_a_root_with_any_bytes_has_a_state(tmp_path: Path) -> None:
    root = Path(os.fsdecode(b"/work/\xff\xfe"))
    claim(tmp_path, root)
    claim(tmp_path, root)
    assert owner_of(tmp_path) == "/work/\\xff\\xfe"
