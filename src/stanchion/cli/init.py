"""`stanchion init`: ask four questions, and write the policy that follows from the answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from stanchion.cli.command import ONE_LINE, Args, BadInput, DeclaredCommand, option
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, note, tell
from stanchion.policy.first import QUESTIONS, ROOT, FirstQuestion, first_policy, pack_for
from stanchion.policy.starter import starter

FILE: Final = "policy.yaml"


def _listed(question: FirstQuestion) -> list[str]:
    """A question's answers, as the help lists them."""
    said = [f"{one} ({meaning})" for one, meaning in question.answers.items()]
    return [f"  --{question.option:<11}{said[0]}", *[f"{'':15}{one}" for one in said[1:]]]


def run(args: Args) -> int:
    """Write the policy."""
    answers = {} if args.all else _answers(args)
    text = starter() if args.all else first_policy(answers, args.file)
    tried = ROOT if args.all else pack_for(answers)[2]
    if args.file == "-":
        sys.stdout.write(text)
        return 0
    file = Path(args.file)
    try:
        with file.open("w" if args.force else "x", encoding="utf-8", newline="\n") as sink:
            sink.write(text)
    except FileExistsError:
        raise BadInput(
            f"`{args.file}` already exists: use another file, or overwrite it with `--force`"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder `{file.parent}`; create it first, or use another file"
        raise BadInput(
            f"`{args.file}` cannot be written: {reason[:1].lower()}{reason[1:]}"
        ) from None
    if args.json:
        put_json({"file": args.file})
        return 0
    bold = Terminal.of_stdout()
    tell(f"{args.file} is written. Read it, change it, then:")
    for command, what in (
        (f"stanchion policy lint {args.file}", "find mistakes"),
        (f"stanchion check --policy {args.file} --tool {tried}", "try it"),
        (f"stanchion policy show {args.file}", "see what takes effect"),
    ):
        sys.stdout.write(f"  {bold.paint(command, 'bold')}  # {what}\n")
    return 0


def _answers(args: Args) -> dict[str, str]:
    """What the options say; of the rest a person is asked, where one is there."""
    return {
        question.option: getattr(args, question.option) or _answer(question)
        for question in QUESTIONS
    }


def _answer(question: FirstQuestion) -> str:
    """What a person says, by the answer or its number; the first answer where there is nobody."""
    answers = list(question.answers)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return answers[0]
    note(question.text)
    for number, (answer, meaning) in enumerate(question.answers.items(), 1):
        note(f"  {number}  {answer:<10} {meaning}")
    while True:
        sys.stderr.write(f"[{answers[0]}] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        said = line.strip().lower()
        if not line or not said:
            return answers[0]
        if said.isdecimal() and 0 < int(said) <= len(answers):
            return answers[int(said) - 1]
        found = [answer for answer in answers if answer.startswith(said)]
        if len(found) == 1:
            return found[0]
        note(f"write one of {', '.join(answers)}, or its number")


INIT_COMMAND: Final = DeclaredCommand(
    usage="""\
stanchion init [FILE] [--job JOB] [--workspace WHERE] [--strangers yes|no]
                      [--asks WHO] [--all] [--force] [--json]""",
    description="""\
Ask what the agent does, where its commands run, whether it reads what strangers wrote and
who answers when it has to ask, and write a short policy with the reason for each entry. What
an option says is not asked; where nobody can be asked, the first answer is taken. With --all
it writes every guard instead, with agents, tasks, environments and rules of your own.

answers:
"""
    + "\n".join([line for question in QUESTIONS for line in _listed(question)]),
    epilog="""\
examples:
  stanchion init
  stanchion init --job support --workspace nowhere --strangers yes --asks person
  stanchion init --all policies/team.yaml
  stanchion init - | less

exit status:
  0  the file is written
  2  the file already exists, or cannot be written""",
    options=(
        option(
            "file FILE",
            f"the file to write (default: {FILE}); `-` prints it",
            nargs="?",
            default=FILE,
        ),
        *[
            option(
                f"--{question.option} {question.option.upper()}",
                question.text[:1].lower() + question.text[1:],
                choices=tuple(question.answers),
            )
            for question in QUESTIONS
        ],
        option("--all", "write every guard, with comments"),
        option("--force", "overwrite an existing file"),
        ONE_LINE,
    ),
    work=run,
)
