"""Steps: what a call would do to code: change it, test it, lint it, hand it on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from stanchion.guards.evidence import tables
from stanchion.guards.evidence.commands import Catalogue, surely_runs, unwrapped
from stanchion.guards.evidence.files import Public, changed_by, from_home, is_code
from stanchion.guards.evidence.options import leaves_a_run
from stanchion.guards.evidence.outcome import changes_what_runs, shell_texts, tells_of_tests
from stanchion.guards.evidence.targets import ShellStep, ran_by
from stanchion.kernel.names import Names
from stanchion.readings import Reading
from stanchion.readings.act import act_of
from stanchion.readings.act_words import ASKS
from stanchion.readings.names import letters
from stanchion.readings.shortened import shorten
from stanchion.readings.word_lists import Strings, listed

SHOWN: Final = 80
KEPT_READERS: Final = 16
KEPT_NAMES: Final = 512
KEPT_TEXTS: Final = 32
"""How much is kept of what was read before: enough for calls that are under way until their
outcomes come."""

RUNS: Final = listed("run runs execute exec start invoke trigger")
TESTS: Final = listed("test tests pytest unittest unittests jest vitest testsuite")
LINTS: Final = listed("lint linter linters typecheck ruff mypy eslint flake pylint tsc")
COMMITS: Final = (
    {"commit"}, {"git", "push"}, {"push", "files"}, {"create", "pull", "request"},
    {"open", "pull", "request"}, {"merge", "pull", "request"}, {"create", "merge", "request"},
    {"accept", "merge", "request"}, {"create", "pr"}, {"open", "pr"}, {"merge", "pr"}, {"deploy"},
    {"publish"}, {"release"}, {"finish"}, {"submit"}, {"attempt", "completion"},
    {"complete", "task"},
)  # fmt: skip
"""Words that are together in the name of a tool that hands work on."""
MERGES: Final = (
    {"merge", "pull", "request"}, {"accept", "merge", "request"}, {"merge", "pr"}, {"merge", "mr"},
    {"git", "merge"}, {"merge", "branch"},
)  # fmt: skip
"""The same for a tool that merges."""


What = Literal["change", "test", "lint", "commit", "say", "merge", "api", "doc"]


class WorkStep(NamedTuple):
    """One thing that a call does, and of what.

    `chain` numbers the `&&` list that it is in, 0 where it is in none; `last`: the call ends well
    only where it does; `alone`: nothing else in it fails; `heard`: what it prints is all that is
    printed. `texts` is what it says to others.
    """

    what: What
    name: str
    chain: int = 0
    last: bool = True
    alone: bool = True
    heard: bool = True
    by_shell: bool = False
    texts: Strings = ()


TEST_COMMANDS: Final = Catalogue(tables.TESTS, tables.SCRIPTS)
LINT_COMMANDS: Final = Catalogue(tables.LINTS)
COMMIT_COMMANDS: Final = Catalogue(tables.COMMITS)
CHANGE_COMMANDS: Final = Catalogue(tables.CHANGES)
TEST_PROGRAMS: Final = frozenset([pattern.split()[0] for pattern in tables.TESTS])
NOISELESS: Final = tables.QUIET | tables.STARTING


class KnownSteps(NamedTuple):
    """What a policy says of commands, tools and files; `None` where it says nothing and what is
    known counts. `home` is the project's folder where it is among those for scratch."""

    tests: Catalogue = TEST_COMMANDS
    lints: Catalogue = LINT_COMMANDS
    commits: Catalogue = COMMIT_COMMANDS
    test_tools: Names | None = None
    lint_tools: Names | None = None
    commit_tools: Names | None = None
    code: Names | None = None
    merging: bool = False
    merges: Catalogue | None = None
    public: Public | None = None
    home: str = ""

    def merged_by(self, argv: Strings, own: bool) -> bool:
        """Whether a command merges: by what the policy names, or because it is one that does
        (`own`)."""
        return self.merging and (own if self.merges is None else self.merges.has(argv))

    def checked_by(self, argv: Strings) -> Literal["test", "lint"] | None:
        """What a command checks, where it is sure to do so."""
        runs = surely_runs(argv)
        if runs is None:
            return None
        if self.lints.has(runs):
            targeted = runs[0] in tables.TARGETED
            return None if targeted and not leaves_a_run(runs[0], runs[1:]) else "lint"
        return "test" if self.tests.has(runs) and _keeps_running(runs) else None


def _keeps_running(argv: Strings) -> bool:
    """Whether its options leave a test run one; what a policy names and nobody knows may have
    any."""
    return argv[0] not in TEST_PROGRAMS or leaves_a_run(argv[0], argv[1:])


class NamedTool(NamedTuple):
    """What a tool does by its name and traits alone."""

    changes: bool
    checks: Literal["test", "lint"] | None
    hands: Literal["commit", "say"] | None
    merges: bool


class CallTexts(NamedTuple):
    """The shell texts of a call; without `plainly` something beside a text says how it runs."""

    given: Strings
    plainly: bool


class StepReader:
    """Reads what calls do to code, by what a policy says. What a name or a text does is worked out
    once: the guards of a policy read each call, and each reads it again when its outcome comes."""

    def __init__(self, known: KnownSteps) -> None:
        self._known = known
        self._named = lru_cache(KEPT_NAMES)(partial(_named, known))
        self._shell = lru_cache(KEPT_TEXTS)(
            lambda text, plainly: tuple(_in_shell(text, known, plainly))
        )

    def __call__(self, reading: Reading[Any]) -> list[WorkStep]:
        """What a call does, in order: by its tool, and by the shell texts in its arguments. A tool
        that is given a text to run tests what the text tests, whatever its name says; only one that
        the policy names is believed."""
        event, texts = reading.event, reading.of(texts_of)
        does = list(self._by_tool(event.tool, event.traits, event.args, bool(texts.given)))
        for text in texts.given:
            does += self._shell(text, texts.plainly)
        return does

    def _by_tool(
        self, tool: str, traits: Strings, args: Mapping[str, Any], runs_text: bool
    ) -> Iterator[WorkStep]:
        named, known = self._named(tool, traits, runs_text), self._known
        path = changed_by(tool, traits, args, known.code, known.home) if named.changes else ""
        if path:
            yield WorkStep("change", _short(path))
        if named.checks is not None:
            yield WorkStep(named.checks, tool)
        if named.hands is not None:
            texts = tuple([value for value in args.values() if isinstance(value, str)])
            yield WorkStep(named.hands, tool, texts=texts)
        if named.merges:
            yield WorkStep("merge", tool)
        if known.public is not None and named.changes:
            for path, api in known.public.changes(tool, traits, args):
                yield WorkStep("api" if api else "doc", _short(path))


@lru_cache(KEPT_READERS)
def steps_by(known: KnownSteps) -> StepReader:
    """What reads calls by what a policy says: the same for all guards of which it says the same."""
    return StepReader(known)


def texts_of(reading: Reading[Any]) -> CallTexts:
    """The shell texts in the arguments of a call."""
    args = reading.event.args
    texts = shell_texts(args)
    return CallTexts(tuple(texts), len(texts) == 1 and not changes_what_runs(args))


def _named(known: KnownSteps, tool: str, traits: Strings, runs_text: bool) -> NamedTool:
    act = act_of(tool, traits)
    checks: Literal["test", "lint"] | None = None
    if _checks(tool, known.test_tools, TESTS, RUNS, runs_text):
        checks = "test"
    elif _checks(tool, known.lint_tools, LINTS, RUNS | {"check"}, runs_text):
        checks = "lint"
    if known.commit_tools is not None:
        commits = tool in known.commit_tools
    else:
        commits = not act.asks and any(group <= act.words for group in COMMITS)
    merges = known.merging and not act.asks and any(group <= act.words for group in MERGES)
    return NamedTool(
        act.changes, checks, "commit" if commits else "say" if act.says else None, merges
    )


def _checks(
    tool: str, given: Names | None, words: frozenset[str], runs: frozenset[str], runs_text: bool
) -> bool:
    if given is not None:
        return tool in given
    said = letters(tool)
    if runs_text or said.isdisjoint(words) or not said.isdisjoint(ASKS - runs):
        return False
    return len(said) == 1 or not said.isdisjoint(runs)


def _in_shell(text: str, known: KnownSteps, plainly: bool) -> Iterator[WorkStep]:
    """What the commands of a text do; without `plainly` something beside the text says how they
    run."""
    ran = [_at_home(one, known.home) for one in ran_by(text) if one.argv]
    alone = len([one for one in ran if NOISELESS.isdisjoint(unwrapped(one.argv)[:1])]) == 1
    for one in ran:
        chain = one.chain if plainly else 0
        name = _short(" ".join(one.argv[:3]))
        argv = unwrapped(one.argv)
        changed = next((path for path in one.changes if is_code(path, known.code)), "")
        if changed or CHANGE_COMMANDS.has(argv):
            yield WorkStep("change", _short(changed) if changed else name, chain, by_shell=True)
        what = known.checked_by(one.argv)
        if what is not None:
            last = one.last and plainly
            heard = last and one.heard and not _echoes(text, ran)
            yield WorkStep(what, name, chain, last, last and alone, heard, by_shell=True)
        if known.public is not None:
            yield from _relied_on(one, known.public, chain)
        if known.merged_by(argv, one.merges):
            yield WorkStep("merge", name, chain, by_shell=True)
        if known.commits.has(argv):
            said = tuple([word for word in one.argv if " " in word])
            yield WorkStep("commit", name, chain, by_shell=True, texts=said)


def _at_home(ran: ShellStep, home: str) -> ShellStep:
    """A command as it is written from the project's folder."""
    words, paths = (
        tuple([from_home(each, home) for each in some]) for some in (ran.argv, ran.changes)
    )
    return ran._replace(argv=words, changes=paths) if home else ran


def _relied_on(ran: ShellStep, public: Public, chain: int) -> Iterator[WorkStep]:
    """What a command changes of what others rely on."""
    for path in ran.changes:
        if public.is_doc(path) or public.is_api(path):
            told: What = "doc" if public.is_doc(path) else "api"
            yield WorkStep(told, _short(path), chain, by_shell=True)


def _echoes(text: str, ran: list[ShellStep]) -> bool:
    """Whether a text itself has words that would be read as tests that went well."""
    return tells_of_tests("\n".join([text, *[" ".join(one.argv) for one in ran]]))


def _short(text: str) -> str:
    return shorten(text, SHOWN)
