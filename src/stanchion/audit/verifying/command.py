"""Verifying from the command line, without the rest of Stanchion."""

from __future__ import annotations

import argparse
import sys

from .report import CannotVerify, as_json, as_text
from .verify import verify

EPILOG = (
    "exit status: 0 if the trail is whole, 1 if it is not, 2 if it cannot be read or the "
    "arguments are wrong"
)


def main(arguments: list[str] | None = None) -> int:
    """Verify the trail that the arguments name, print what was found, and give the exit status."""
    summary = "Verify a trail: find what was changed, and say what was done to it."
    parser = argparse.ArgumentParser(prog="verify", description=summary, epilog=EPILOG)
    parser.add_argument("folder", metavar="FOLDER", help="the folder of the trail, or a copy of it")
    parser.add_argument("--key", metavar="FILE", help="the key that the trail is sealed with")
    parser.add_argument(
        "--witness",
        metavar="FILE",
        action="append",
        help="heads of the trail that were kept elsewhere",
    )
    parser.add_argument("--json", action="store_true", help="answer with one line of JSON")
    args = parser.parse_args(arguments)
    try:
        report = verify(args.folder, args.key, args.witness)
    except CannotVerify as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((as_json(report) if args.json else as_text(report)) + "\n")
    return 0 if report.whole else 1
