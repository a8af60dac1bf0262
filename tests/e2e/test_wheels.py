"""Both wheels hold what they should, come out of their source distributions as well, and work
alone."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from stanchion import __version__
from stanchion_lab.eyes import KINDS
from tests.e2e.built import PLACES, ROOT, STEMS

NO_CODE = {
    "stanchion": {".bin", ".jsonl", ".lua", ".sql", ".txt", ".typed", ".yaml"},
    "stanchion_lab": {".bin", ".jsonl", ".toml", ".typed", ".yaml"},
}
"""What the packages hold besides Python."""


@pytest.mark.parametrize("name", PLACES)
def test_a_source_distribution_builds_the_same_wheel(
    name: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    build = [sys.executable, "-m", "hatchling", "build"]
    subprocess.run(
        [*build, "-t", "sdist", "-d", str(tmp_path)],
        cwd=PLACES[name],
        check=True,
        capture_output=True,
    )
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as inside:
        inside.extractall(tmp_path, filter="data")
    (unpacked,) = [one for one in tmp_path.iterdir() if one.is_dir()]
    subprocess.run(
        [*build, "-t", "wheel", "-d", str(tmp_path)], cwd=unpacked, check=True, capture_output=True
    )
    (again,) = tmp_path.glob("*.whl")
    first, second = [
        {one.filename: one.CRC for one in ZipFile(wheel).infolist()}
        for wheel in (wheels[name], again)
    ]
    assert second == first


@pytest.mark.parametrize("name", PLACES)
def test_a_wheel_says_that_it_has_types(name: str, wheels: dict[str, Path]) -> None:
    assert f"{name}/py.typed" in ZipFile(wheels[name]).namelist()


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is installed here, except Stanchion."""
    folder = tmp_path_factory.mktemp("others")
    for place in sys.path:
        if Path(place).name == "site-packages":
            for found in Path(place).iterdir():
                if "stanchion" not in found.name and not (folder / found.name).exists():
                    (folder / found.name).symlink_to(found)
    return folder


@pytest.fixture(scope="module")
def core(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first wheel alone is installed."""
    return installed(wheels, tmp_path_factory.mktemp("core"), "stanchion")


def installed(wheels: dict[str, Path], place: Path, *names: str) -> Path:
    """A folder with the files of some wheels, as an installation lays them out."""
    for name in names:
        ZipFile(wheels[name]).extractall(place)
    return place


def ran(places: list[Path], place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, where nothing else can be imported than what is in some places."""
    own = {
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "STANCHION_STATE_DIR": str(place / "state"),
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-S", "-P", "-m", "stanchion", *words]
    return subprocess.run(
        command, env={**os.environ, **own}, cwd=place, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", PLACES)
def test_a_wheel_has_the_package_and_nothing_that_only_a_checkout_needs(
    name: str, wheels: dict[str, Path]
) -> None:
    source = PLACES[name] / "src"
    inside = {one for one in ZipFile(wheels[name]).namelist() if ".dist-info/" not in one}
    wanted = {
        file.relative_to(source).as_posix()
        for file in (source / name).rglob("*")
        if (
            file.suffix in {".py", *NO_CODE[name]}
            and "__pycache__" not in file.parts
            and "shell/programs/" not in file.as_posix()
        )
        or (file.is_file() and "benchmark" in file.parts)
    }
    assert inside == wanted


def test_the_games_ship_with_all_their_files(wheels: dict[str, Path]) -> None:
    inside = set(ZipFile(wheels["stanchion"]).namelist())
    games = "stanchion/tutor/playing/benchmark"
    chain = {
        f"{games}/evidence-chain/{one}" for one in ("game.yaml", "weak.yaml", "world/system.log")
    }
    assert chain | {f"{games}/contradiction/world/SHA256SUMS"} <= inside


def test_the_rules_of_secrets_stay_in_the_checkout_and_their_index_ships(
    wheels: dict[str, Path],
) -> None:
    inside = ZipFile(wheels["stanchion"]).namelist()
    assert list((ROOT / "src/stanchion/guards/secrets/rules").glob("*.toml"))
    assert [one for one in inside if "secrets/rules" in one] == []
    assert "stanchion/guards/secrets/index.jsonl" in inside
    assert "stanchion/guards/shell/risks.jsonl" in inside
    assert "stanchion/readings/shell/programs.jsonl" in inside


def test_one_version_for_both(wheels: dict[str, Path]) -> None:
    about = {
        name: Parser().parsestr(
            ZipFile(wheel).read(f"{STEMS[name]}-{__version__}.dist-info/METADATA").decode()
        )
        for name, wheel in wheels.items()
    }
    assert {one["Version"] for one in about.values()} == {__version__}
    assert [about[name]["Name"] for name in PLACES] == ["stanchion-guard", "stanchion-lab"]
    assert f"stanchion-guard=={__version__}" in about["stanchion_lab"].get_all("Requires-Dist", [])
    assert f"stanchion-lab=={__version__}; extra == 'lab'" in about["stanchion"].get_all(
        "Requires-Dist", []
    )


def test_only_one_python_and_one_license_are_named() -> None:
    first, second = [
        tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]
        for place in PLACES.values()
    ]
    for key in ("requires-python", "license"):
        assert second[key] == first[key]
    assert "urls" not in first, "name addresses that exist, in both, and take this line out"
    systems = [
        [one for one in each["classifiers"] if "Operating System" in one]
        for each in (first, second)
    ]
    assert systems[0] == systems[1] == ["Operating System :: POSIX :: Linux"]
    assert (ROOT / "lab/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_without_the_lab_everything_else_works(core: Path, others: Path, tmp_path: Path) -> None:
    places = [core, others]
    helped = ran(places, tmp_path, "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert not re.search(r"^ +lab ", helped.stdout, re.MULTILINE)
    missing = ran(places, tmp_path, "lab", "measure", "loops")
    install = "install the extra `lab`, or from a checkout `pip install . ./lab`"
    said = f"stanchion: `stanchion lab` is not installed: {install}\n"
    assert (missing.returncode, missing.stdout, missing.stderr) == (2, "", said)
    text = "github_auth_auth_token: '302e3fbb4c09f2ea59717deb31cc5649e680cadb'"
    found = ran(
        places, tmp_path, "check", "--tool", "send", "--args", json.dumps({"text": text}), "--json"
    )
    assert "github-legacy-token" in found.stdout, found.stderr


def test_the_demo_plays_from_the_wheel(core: Path, others: Path, tmp_path: Path) -> None:
    places = [core, others]
    done = ran(places, tmp_path, "demo")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_lab_ships_its_own_rows(wheels: dict[str, Path]) -> None:
    inside = ZipFile(wheels["stanchion_lab"]).namelist()
    for kind in KINDS:
        assert {f"stanchion_lab/eyes/{kind}-{half}.jsonl" for half in "ab"} <= set(inside)
    assert "stanchion_lab/measuring/overruled.yaml" in inside


def test_with_the_lab_its_command_is_there(
    wheels: dict[str, Path], others: Path, tmp_path: Path
) -> None:
    places = [installed(wheels, tmp_path / "site", *PLACES), others]
    assert re.search(r"^ +lab ", ran(places, tmp_path, "--help").stdout, re.MULTILINE)
    asked = ran(places, tmp_path, "lab", "measure", "loops", "--corpora", str(tmp_path / "none"))
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith("stanchion: there is no folder `")


def test_a_lab_of_another_version_is_named(
    wheels: dict[str, Path], others: Path, tmp_path: Path
) -> None:
    site = installed(wheels, tmp_path / "site", *PLACES)
    about = site / f"stanchion_lab-{__version__}.dist-info" / "METADATA"
    about.write_text(
        about.read_text("utf-8").replace(f"\nVersion: {__version__}\n", "\nVersion: 9.9\n"),
        encoding="utf-8",
    )
    asked = ran([site, others], tmp_path, "lab", "--help")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith(
        f"stanchion: `stanchion-lab 9.9` does not match stanchion {__version__}: install the extra"
    )


def test_a_lab_that_cannot_be_loaded_is_named(
    wheels: dict[str, Path], others: Path, tmp_path: Path
) -> None:
    site = installed(wheels, tmp_path / "site", *PLACES)
    (site / "stanchion_lab" / "command.py").unlink()
    asked = ran([site, others], tmp_path, "lab", "--help")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith("stanchion: `stanchion lab` cannot be loaded: ")
