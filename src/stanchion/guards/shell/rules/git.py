"""Git: pushed history that would be rewritten, and work that is in no commit yet."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

MAIN: Final = frozenset({"main", "master", "production", "prod", "release", "trunk"})


def _forced_ref(command: Command, _roots: Roots) -> bool:
    return any(word.startswith("+") for word in command.operands[2:])


def _listed_ref(command: Command, _roots: Roots) -> bool:
    """Whether another program lists what is pushed, which may be deletions."""
    return "xargs" in command.via and any(
        isinstance(word, Open) and word[:2] == "$(" for word in command.operands[2:]
    )


def _deleted_ref(command: Command, _roots: Roots) -> bool:
    return any(word.startswith(":") and len(word) > 1 for word in command.operands[2:])


def _to_main(command: Command, _roots: Roots) -> bool:
    targets = [word.rpartition(":")[2].removeprefix("refs/heads/") for word in command.operands[2:]]
    return bool(MAIN.intersection(targets)) and command.operands[0] == "push"


def _checks_out_files(command: Command, _roots: Roots) -> bool:
    operands = command.operands
    if operands[:1] != ("checkout",) or command.flags & {
        "-b",
        "-B",
        "--orphan",
        "-t",
        "--track",
        "-p",
        "--patch",
    }:
        return False
    return (
        "--" in command.argv
        or "." in operands[1:]
        or len(operands) > 2
        or any("/" in w and "." in w.rpartition("/")[2] for w in operands[1:])
    )


def _restores_files(command: Command, _roots: Roots) -> bool:
    flags = command.flags
    return command.operands[:1] == ("restore",) and (
        not flags & {"--staged", "-S"} or bool(flags & {"--worktree", "-W"})
    )


def _off_main(command: Command, _roots: Roots) -> bool:
    onto = command.operands[1]
    return (
        onto not in MAIN
        and onto not in ("develop", "dev")
        and not onto.startswith(("origin/", "upstream/"))
    )


def _stashes(command: Command, _roots: Roots) -> bool:
    operands = command.operands
    return operands == ("stash",) or operands[:2] in (("stash", "push"), ("stash", "save"))


WORK: Final = "throws away changes that are in no commit"
PUSHED: Final = "overwrites what others have pushed"
BRANCH: Final = "overwrites or deletes a branch others have"
FAMILY: Final = Family(
    "git",
    "others",
    (
        Rule("git", PUSHED, words="push", flags="--mirror|--prune"),
        Rule("git", PUSHED, words="push", flags="-f|--force", known="pushed", otherwise="unknown"),
        Rule(
            "git",
            PUSHED,
            words="push",
            flags="--force-with-lease",
            known="pushed",
            otherwise="recoverable",
        ),
        Rule(
            "git",
            BRANCH,
            words="push",
            flags="-d|--delete",
            known="pushed",
            otherwise="recoverable",
        ),
        Rule("git", BRANCH, words="push", check=_listed_ref, loss="unknown"),
        Rule("git", BRANCH, words="push", check=_forced_ref, known="pushed", otherwise="unknown"),
        Rule(
            "git", BRANCH, words="push", check=_deleted_ref, known="pushed", otherwise="recoverable"
        ),
        Rule(
            "git",
            "pushes straight to the main branch",
            words="push",
            lacks="-u|--set-upstream",
            check=_to_main,
            loss="visible",
            strict=True,
        ),
        Rule("git", "rewrites history", words="filter-branch"),
        Rule("git", "rewrites history", words="filter-repo", flags="-f|--force"),
        Rule("git", "rewrites history", words="filter-repo", strict=True),
        Rule(
            "git", "makes commits unreachable for good", words="reflog expire|delete", loss="good"
        ),
        Rule(
            "git",
            "makes commits unreachable for good",
            words="gc",
            check=lambda c, _: (
                any(f == "--prune" and v in ("now", "all") for f, v in c.sorted.values)
                or ("--aggressive" in c.flags and "--prune" in c.flags)
            ),
            loss="good",
        ),
        Rule("git", "deletes a reference", words="update-ref", flags="-d", loss="recoverable"),
        Rule("bfg bfg.jar", "rewrites history", loss="unknown"),
        Rule(
            "git",
            WORK,
            words="reset",
            flags="--hard|--merge",
            loss="work",
            known="changed",
            otherwise="recoverable",
        ),
        Rule(
            "git",
            "deletes files that are in no commit",
            words="clean",
            flags="-f|--force|-x|-X",
            lacks="-n|--dry-run",
            loss="work",
            known="untracked",
            by_path=True,
        ),
        Rule(
            "git",
            WORK,
            words="checkout|switch",
            flags="-f|--force|--discard-changes",
            loss="work",
            known="changed",
        ),
        Rule("git", WORK, check=_checks_out_files, loss="work", known="changed", by_path=True),
        Rule("git", WORK, check=_restores_files, loss="work", known="changed", by_path=True),
        Rule(
            "git",
            WORK,
            words="read-tree",
            flags="--reset",
            loss="work",
            known="changed",
            otherwise="recoverable",
        ),
        Rule("git", WORK, words="checkout-index", flags="-f|--force", loss="work", known="changed"),
        Rule("git", "deletes stashed changes", words="stash drop|clear", loss="work"),
        Rule(
            "git",
            "deletes a branch whether it is merged or not",
            words="branch",
            flags="-D",
            loss="recoverable",
        ),
        Rule(
            "git",
            "deletes a branch whether it is merged or not",
            words="branch",
            flags="-d|--delete -f|--force",
            loss="recoverable",
        ),
        Rule(
            "git",
            "moves a branch away from its commits",
            words="branch",
            flags="-f|--force",
            lacks="-d|--delete",
            loss="recoverable",
        ),
        Rule(
            "git",
            "moves a branch away from its commits",
            words="switch",
            flags="-C|--force-create",
            loss="recoverable",
        ),
        Rule(
            "git",
            "deletes a working tree with its changes",
            words="worktree remove",
            flags="-f|--force",
            loss="work",
            known="tree",
        ),
        Rule(
            "git",
            "deletes a submodule's changes",
            words="submodule deinit",
            flags="-f|--force",
            loss="work",
            known="tree",
        ),
        Rule("git", "deletes a tag", words="tag", flags="-d|--delete", loss="recoverable"),
        Rule("git", "takes changes out of sight", check=_stashes, loss="recoverable"),
        Rule(
            "git", "rewrites the last commit", words="commit", flags="--amend", loss="recoverable"
        ),
        Rule(
            "git",
            "rewrites commits",
            words="rebase",
            flags="--onto|-i|--interactive|--root",
            loss="recoverable",
        ),
        Rule("git", "rewrites commits", words="rebase *", check=_off_main, loss="recoverable"),
        Rule(
            "git",
            "goes round the checks of the repository",
            words="commit|push|merge|rebase",
            flags="--no-verify",
            loss="visible",
        ),
        Rule(
            "git",
            "goes round the checks of the repository",
            words="commit",
            flags="-n",
            loss="visible",
        ),
        Rule(
            "gh glab",
            "merges or closes what others review",
            words="pr|mr|issue merge|close",
            loss="visible",
        ),
    ),
)

HITS: Final = (
    "git ls-remote --heads origin | awk '{print \":\"$2}' | xargs -n 25 git push origin",
    "git push --force",
    "git push -f origin topic",
    "git push origin +topic",
    "git push origin :topic",
    "git push origin --delete topic",
    "git reset --hard origin/topic",
    "git -C app reset --hard",
    "git clean -fdx",
    "git checkout -- src",
    "git checkout .",
    "git restore app.py",
    "git stash clear",
    "git branch -D topic",
    "git stash",
    "git filter-branch --all",
    "git reflog expire --expire=now --all",
    "git commit --amend --no-edit",
    "git switch -f topic",
    "sudo git push --force",
    "g=git; $g push --mirror",
    "git push --force --tags",
    "git push origin +a b",
    "git read-tree --reset -u HEAD~3",
    "git checkout-index -fa",
    "git worktree remove --force ../wt",
    "git switch -C topic HEAD~2",
    "gh pr merge 7",
    "git commit -m x --no-verify",
)
MISSES: Final = (
    "git reset --soft HEAD~2",
    "echo topic | xargs git push origin",
    "git status",
    "git push",
    "git push origin topic",
    "git push origin main",
    "git push origin HEAD:main",
    "git reset HEAD~1",
    "git rebase main",
    "git stash pop",
    "git stash list",
    "git checkout topic",
    "git checkout -b topic",
    "git restore --staged app.py",
    "git clean -n",
    "git branch -d topic",
    "git rebase origin/topic",
    "git commit -m 'push --force'",
    "git log --grep 'reset --hard'",
    "git help reset",
    "gh pr list",
    "git pull --rebase",
    "git switch topic",
    "git diff HEAD -- app.py",
    "git tag v1",
)
