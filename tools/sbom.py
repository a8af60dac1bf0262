"""Write the parts list of a wheel as CycloneDX: `python -m tools.sbom WHEEL` prints it, `--out
FILE` writes it.

The wheel is installed with what it needs into a folder of its own, by the versions that
`--constraint` names. The list is of what was really installed: names, versions, licences as the
packages tell them, and hashes of the files that pip took. The same files give the same bytes, where
`SOURCE_DATE_EPOCH` says when it was.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
LONG = 64
"""A licence that is longer than this is its text, not its name."""


def installed(
    wheel: Path, constraint: Path | None, folder: Path
) -> tuple[dict[str, Message], dict[str, str]]:
    """What is installed with a wheel: the metadata of each package, and the hash of the file that
    it came from."""
    report = folder / "report.json"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "--no-input",
    ]
    bound = [] if constraint is None else ["--constraint", str(constraint)]
    subprocess.run(
        [*pip, *bound, "--target", str(folder / "site"), "--report", str(report), str(wheel)],
        check=True,
    )
    hashes = {}
    for one in json.loads(report.read_text("utf-8"))["install"]:
        taken = one["download_info"].get("archive_info", {}).get("hashes", {})
        hashes[normal(one["metadata"]["name"])] = taken.get("sha256", "")
    found = [
        Parser().parsestr(file.read_text("utf-8"))
        for file in folder.glob("site/*.dist-info/METADATA")
    ]
    return {normal(one["Name"]): one for one in found}, hashes


def normal(name: str) -> str:
    """A package's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licences(about: Message) -> list[dict[str, Any]]:
    """The licence that a package tells of itself: as an expression, by name, or by its
    classifiers."""
    if about["License-Expression"]:
        return [{"expression": about["License-Expression"]}]
    named = (about["License"] or "").strip()
    if named and len(named) <= LONG and "\n" not in named:
        return [{"license": {"name": named}}]
    kinds = [one for one in about.get_all("Classifier", []) if one.startswith("License :: ")]
    return [{"license": {"name": one.rpartition(" :: ")[2]}} for one in kinds]


def needed(about: Message, known: Mapping[str, Message]) -> list[str]:
    """The packages that a package asks for, without its extras, as far as they were installed."""
    asked = [one for one in about.get_all("Requires-Dist", []) if "extra ==" not in one]
    names = {normal(re.split(r"[\s;<>=!~\[(]", one, maxsplit=1)[0]) for one in asked}
    return sorted(names & known.keys())


def parts_list(
    name: str, found: Mapping[str, Message], hashes: Mapping[str, str], at: datetime
) -> dict[str, Any]:
    """The list of a package and everything that was installed with it."""
    refs = {one: f"pkg:pypi/{one}@{about['Version']}" for one, about in found.items()}
    parts = {
        one: _part(one, about, refs[one], hashes.get(one, ""))
        for one, about in sorted(found.items())
    }
    content = json.dumps(parts, sort_keys=True)
    return {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": parts[name]},
        "components": [part for one, part in parts.items() if one != name],
        "dependencies": [
            {"ref": refs[one], "dependsOn": [refs[each] for each in needed(about, found)]}
            for one, about in sorted(found.items())
        ],
    }


def _part(name: str, about: Message, ref: str, sha256: str) -> dict[str, Any]:
    part: dict[str, Any] = {
        "type": "library",
        "bom-ref": ref,
        "name": name,
        "version": about["Version"],
        "purl": ref,
    }
    if about["Summary"]:
        part["description"] = about["Summary"]
    told = licences(about)
    if told:
        part["licenses"] = told
    if sha256:
        part["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return part


def main(argv: Sequence[str] | None = None) -> int:
    """Write the list; packages that tell no licence are named, and the exit status is then 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.sbom", description="Write the parts list of a wheel."
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--constraint", type=Path, help="a file of versions to install by")
    parser.add_argument("--out", type=Path, help="write to this file instead of printing")
    asked = parser.parse_args(argv)
    if not asked.wheel.is_file():
        parser.error(f"there is no wheel `{asked.wheel}`: run `make wheel` first")
    with tempfile.TemporaryDirectory() as folder:
        found, hashes = installed(asked.wheel, asked.constraint, Path(folder))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    at = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    made = parts_list(normal(asked.wheel.name.partition("-")[0]), found, hashes, at)
    text = json.dumps(made, indent=2) + "\n"
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, encoding="utf-8")
    untold = [
        one["name"]
        for one in (made["metadata"]["component"], *made["components"])
        if "licenses" not in one
    ]
    for name in untold:
        print(f"`{name}` tells no licence: look at its source before you ship it", file=sys.stderr)
    return 1 if untold else 0


if __name__ == "__main__":
    sys.exit(main())
