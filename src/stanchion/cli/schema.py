"""`stanchion schema`: write the JSON Schema of policy files, for editors."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from stanchion.cli.options import option
from stanchion.cli.terminal import tell
from stanchion.cli.trouble import BadInput, in_words
from stanchion.policy.json_schema import policy_schema

USAGE: Final = "stanchion schema [--out FILE] [--json]"

DESCRIPTION: Final = """\
Print the JSON Schema (2020-12) of policy files, made for this version. With it
an editor completes keys, explains them, and marks mistakes as you write."""

EPILOG: Final = """\
examples:
  stanchion schema --out policy.schema.json
  stanchion schema | jq '."$defs".StepLimitEntry'

For editors with the YAML language server, put this line on top of a policy:
  # yaml-language-server: $schema=policy.schema.json

exit status:
  0  the schema is written
  2  the file cannot be written"""


OPTIONS: Final = (
    option("--out FILE", "write it to this file instead of printing it"),
    option("--json", "in one line"),
)


def run(args: argparse.Namespace) -> int:
    """Write the schema."""
    text = json.dumps(policy_schema(), indent=None if args.json else 2) + "\n"
    if args.out is None:
        sys.stdout.write(text)
        return 0
    try:
        Path(args.out).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"`{args.out}` cannot be written: {in_words(error)}; use another file"
        ) from None
    tell(f"{args.out} is written. Put this line on top of a policy beside it:")
    tell(f"  # yaml-language-server: $schema={Path(args.out).name}")
    return 0
