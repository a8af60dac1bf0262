"""Options with which a runner still runs what it is for, and fails where that fails.

They are listed: what is not known, an abbreviation too, may run nothing, something else, or forgive
everything. Behind an option stands what may be its value: `=` anything, `?` anything that is
attached, `~off` only `=false`, `~name` the name of a package, `~version` a version, `~no` a plugin
that is left out, `~path` a folder that is no scratch, `*` what follows in the same word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.guards.evidence import tables
from stanchion.guards.evidence.files import SCRATCH
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

_USUAL: Final = "-q -v -s --quiet --silent --verbose --color? --no-color --colors? --no-colors"
_PYTEST: Final = """
    -q -v -s -x -l -k= -m= -n= -r= -W= -p~no --verbose --quiet --verbosity= --exitfirst --showlocals
    --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --no-header --no-summary
    --full-trace --durations= --durations-min= --maxfail= --tb= --capture= --color= --cov?
    --cov-report? --cov-branch --cov-append --no-cov --no-cov-on-fail --cov-fail-under= --timeout=
    --timeout-method= --numprocesses= --dist= --maxprocesses= --reruns= --reruns-delay= --ignore=
    --ignore-glob= --deselect= --strict-markers --strict-config --strict --disable-warnings
    --disable-pytest-warnings --junitxml= --junit-xml= --html= --self-contained-html --json-report
    --json-report-file= --randomly-seed= --randomly-dont-reorganize --asyncio-mode= --import-mode=
    --cache-clear --pyargs --doctest-modules --runslow --run-slow --benchmark-skip
    --benchmark-disable --hypothesis-seed= --hypothesis-show-statistics --hypothesis-profile=
    --show-capture= --log-level= --log-cli-level= --ds= --create-db --reuse-db --no-migrations
    --nomigrations --forked --setup-show --basetemp= --keep-duplicates --code-highlight=
"""
_SCRIPT: Final = f"""
    {_USUAL} --watch~off --watchAll~off --watch-all~off --no-watch --ci --coverage? --no-coverage
    --runInBand -i --bail? --maxWorkers= --max-workers= --run --reporter= --reporters=
    --testPathPattern= --testPathPatterns= --testNamePattern= -t= --grep= -g= --forceExit
    --detectOpenHandles --no-cache --browsers= --browser= --headless --no-progress --single-run
    --retries= --timeout= --exit --recursive --fix --max-warnings= --spec= --project= --workers=
    --headed --logHeapUsage --expand --no-threads --pool= --forbid-only --forbid-pending
"""
_PACKAGES: Final = f"""
    {_SCRIPT} --prefix~path --workspace= -w= --workspaces -ws --loglevel= --filter= -r -F=
    --include-workspace-root -C~path --dir~path --cwd~path
"""
_MAKE: Final = """
    -j -k -s -B -w -r -R -j* -l* -O* -C~path --jobs? --silent --quiet --keep-going --always-make
    --no-print-directory --print-directory --output-sync? --directory~path --load-average? --trace
    --no-silent --no-builtin-rules
"""
_MAVEN: Final = """
    -q -B -e -X -U -o -T= -T* -P= -P* -pl= -am -amd -ntp -nsu -fae -ff --batch-mode --quiet --errors
    --debug --offline --update-snapshots --no-transfer-progress --no-snapshot-updates --fail-fast
    --fail-at-end --threads= --projects= --also-make --also-make-dependents --activate-profiles=
    -Dtest= -Dit.test= -Dgroups= -Dstyle.color= -Dspring.profiles.active= -Dsurefire.useFile=
    -Dcheckstyle.skip? -Djacoco.skip? -Drat.skip? -Dspotbugs.skip?
"""
_GRADLE: Final = """
    -i -d -q -s -S -w --info --debug --quiet --warn --stacktrace --full-stacktrace --no-daemon
    --daemon --parallel --no-parallel --offline --rerun-tasks --rerun --build-cache --no-build-cache
    --configuration-cache --no-configuration-cache --console= --tests= --fail-fast --continue
    --refresh-dependencies --max-workers= --scan --no-scan --warning-mode=
"""
_GO: Final = """
    -v -race -cover -count= -run= -skip= -short -timeout= -coverprofile= -covermode= -coverpkg=
    -tags= -p= -parallel= -failfast -json -cpu= -shuffle= -bench= -benchmem -benchtime= -mod=
    -trimpath -vet= -x -C~path
"""
_CARGO: Final = """
    -q -v -r -p= -F= -j= --quiet --verbose --release --package= --features= --jobs= --all
    --workspace --all-features --no-default-features --lib --bins --bin= --test= --tests --examples
    --example= --doc --all-targets --benches --exclude= --no-fail-fast --keep-going --locked
    --frozen --offline --target= --profile= --message-format= --color= --manifest-path~path
    --retries= --run-ignored= --test-threads= --success-output= --failure-output= --status-level=
    -E= -P= --no-capture --nocapture
"""
_BAZEL: Final = """
    -k -c= --test_output= --config= --keep_going --jobs= --test_filter= --cache_test_results=
    --nocache_test_results --test_tag_filters= --build_tests_only --verbose_failures --test_timeout=
    --flaky_test_attempts= --runs_per_test= --compilation_mode= --test_summary= --show_progress
    --noshow_progress --curses= --color=
"""
_PHP: Final = """
    -v --colors? --testdox --filter= --testsuite= --stop-on-failure --stop-on-error --verbose
    --no-coverage --group= --exclude-group= --coverage-text --processes= --parallel --compact --ci
    --no-progress --debug
"""

_LISTED: Final = {
    "pytest py.test": _PYTEST,
    "unittest": """
        -v -q -f -b -c -k= -s= -p= -t= --verbose --quiet --failfast --buffer --catch --locals
        --start-directory= --pattern= --top-level-directory=""",
    "nose2 nosetests trial stestr": f"{_USUAL} -x --with-coverage --nocapture --stop",
    "tox": """
        -e= -v -q -r -p= -m= -f= --parallel? --recreate --env= --result-json= --no-recreate-pkg""",
    "nox": """
        -s= -e= -k= -p= -t= -v -r -R -x --session= --sessions= --verbose
        --reuse-existing-virtualenvs --python= --stop-on-first-error --non-interactive
        --error-on-missing-interpreters""",
    "make gmake": _MAKE,
    "jest vitest mocha ava karma jasmine playwright cypress": _SCRIPT,
    "npm yarn pnpm bun turbo nx lerna": _PACKAGES,
    "npx pnpx bunx": "-y -q --yes --no --no-install --quiet",
    "deno": """
        -A --allow-all --allow-read? --allow-env? --allow-net? --allow-write? --allow-run?
        --parallel --fail-fast? --filter= --quiet --no-check""",
    "node": """
        --test --test-reporter= --experimental-test-coverage --test-concurrency= --test-timeout=
        --import~name --experimental-strip-types --experimental-vm-modules --no-warnings""",
    "sh bash dash zsh ksh": "-e -u -x -v -l",
    "ruby perl": "-I= -w",
    "php rscript lua julia tsx ts-node": "--vanilla",
    "go": _GO,
    "gotestsum": f"{_USUAL} --format= --junitfile= --jsonfile=",
    "cargo": _CARGO,
    "mvn mvnw": _MAVEN,
    "gradle gradlew": _GRADLE,
    "bazel bazelisk": _BAZEL,
    "prove": """
        -v -r -l -b -q -s -f -o -j= --verbose --recurse --lib --blib --jobs= --quiet --color
        --nocolor --timer --failures --shuffle --merge""",
    "ctest": """
        -V -VV -j= -j* -R= -E= -L= -LE= -C= --output-on-failure --parallel= --test-dir~path
        --build-config= --verbose --progress --timeout= --rerun-failed --stop-on-failure""",
    "rspec": """
        -f= -e= -t= -b -p -c --format= --color --no-color --fail-fast? --example= --tag= --order=
        --seed= --backtrace --profile?""",
    "phpunit pest paratest artisan": _PHP,
    "dotnet": """
        -c= -f= -l= -r= --no-restore --configuration= --framework= --verbosity= --logger=
        --filter= --nologo --collect= --results-directory=""",
    "mix": """
        --trace --cover --seed= --max-failures= --only= --exclude= --include= --color
        --warnings-as-errors""",
    "swift": """
        -c= -v --parallel --filter= --configuration= --verbose --enable-code-coverage
        --package-path~path""",
    "flutter dart": """
        -r= -j= --coverage --no-pub --reporter= --concurrency= --name= --tags= --plain-name=""",
    "behave": f"{_USUAL} -k --tags= --no-capture --stop --format= -f= --no-skipped",
    "bats": "-r -t -p -j= --tap --recursive --pretty --jobs= --print-output-on-failure",
    "hatch": f"{_PYTEST} -a -e= --all --cover --parallel --env=",
    "manage.py": (
        f"{_USUAL} -v= --verbosity= --parallel? --keepdb --failfast --noinput --no-input "
        f"--settings= --tag="
    ),
    "uv": """
        -q -v -m -p~version --quiet --verbose --with~name --extra= --group= --no-group=
        --only-group= --all-extras --all-groups --dev --no-dev --only-dev --frozen --locked
        --no-sync --isolated --active --offline --package= --no-progress --python~version
        --project~path --directory~path""",
    "uvx": "-q --quiet --with~name -p~version --python~version",
    "poetry": """
        -q -v -n -C~path --quiet --verbose --no-interaction --ansi --no-ansi --directory~path""",
    "pdm rye pipenv pipx bundle dotenv": "-q -v --quiet --verbose",
    "conda mamba micromamba": "-n= -v --name= --no-capture-output --live-stream",
    "coverage": """
        -m -p -a --source= --branch --parallel-mode --append --omit= --include= --data-file=
        --concurrency=""",
}
_WORDED: Final = listed("go mvn mvnw gradle gradlew ctest bazel bazelisk dotnet npm yarn pnpm bun")
"""Programs whose options have one dash and many letters: each word is one option."""
_BEHIND: Final = {
    "npm": "jest", "yarn": "jest", "pnpm": "jest", "bun": "jest", "tox": "pytest", "nox": "pytest",
    "gotestsum": "go", "hatch": "pytest", "cargo": "cargo --", "pytest": "pytest",
    "py.test": "pytest",
}  # fmt: skip
"""Whose options stand behind `--`."""
_OPERANDS: Final = {
    "tox": listed("run r run-parallel p 4"),
    "karma": listed("start run"),
    "stestr": frozenset({"run"}),
}
_NO_OPERANDS: Final = {
    "vitest": listed("list init bench"),
    "ava": listed("reset-cache debug"),
    "gotestsum": frozenset({"tool"}),
}
"""What the first word of some programs has to be, and must not be."""

_VALUES: Final = {
    "~name": regex(r"[A-Za-z0-9][\w.\[\],=<>!~-]*"),
    "~version": regex(r"(?:cpython|python)?@?[0-9]+(?:\.[0-9]+)*"),
    "~no": regex(r"no:[\w.-]+"),
    "~off": regex(r"false"),
}
_OPTION: Final = regex(r"(-[\w.-]+?)(=|\?|\*|~\w+|)")

Kinds = dict[str, set[str]]


def _kinds(listed: str) -> Kinds:
    found: Kinds = {}
    for word in listed.split():
        option = _OPTION.fullmatch(word)
        if option is None:
            raise ValueError(f"`{word}` is not an option")
        found.setdefault(option[1], set()).add(option[2])
    return found


_KNOWN: Final = {
    name: _kinds(listed) for programs, listed in _LISTED.items() for name in programs.split()
} | {
    "cargo --": _kinds(
        "-q --quiet --nocapture --no-capture --test-threads= --ignored --include-ignored --exact "
        "--show-output --skip= --color="
    )
}
_GENERAL: Final = _kinds(_USUAL)


def leaves_a_run(name: str, words: tuple[str, ...]) -> bool:
    """Whether a runner with these words runs what it is for. Of a project's own scripts nobody
    knows the options."""
    if name not in _KNOWN and (name in tables.OWN or tables.SCRIPTS.fullmatch(name) is not None):
        return True
    kinds = _KNOWN.get(name, _GENERAL)
    waiting = iter(words)
    if name in tables.OVERRIDDEN and any("=" in word for word in words if not word.startswith("-")):
        return False
    operands: list[str] = []
    for word in waiting:
        if word == "--":
            rest = tuple(waiting)
            behind = _BEHIND.get(name)
            if behind is None:
                return not any(each.startswith(("-", "@")) for each in rest)
            return leaves_a_run(behind, rest)
        if word.startswith("@") and name in ("pytest", "py.test"):
            return False
        if not word.startswith("-"):
            operands.append(word)
        elif not _is_known(word, waiting, kinds, name in _WORDED):
            return False
    first = operands[0] if operands else ""
    if first in _NO_OPERANDS.get(name, ()):
        return False
    return not first or name not in _OPERANDS or first in _OPERANDS[name]


def _is_known(word: str, waiting: Iterator[str], kinds: Kinds, worded: bool) -> bool:
    if word.startswith("--") or worded or word in kinds:
        return _is_long(word, waiting, kinds)
    for at, letter in enumerate(word[1:], 2):
        kind = kinds.get(f"-{letter}")
        if kind is None:
            return False
        if kind != {""}:
            value = word[at:]
            return _fits(kind, value if value else next(waiting, ""), bool(value))
    return len(word) > 1


def _is_long(word: str, waiting: Iterator[str], kinds: Kinds) -> bool:
    name, attached, value = word.partition("=")
    kind = kinds.get(name)
    if kind is None:
        return any("*" in kinds.get(word[:length], ()) for length in (2, 3))
    if attached:
        return _fits(kind, value, True)
    if not kind.isdisjoint(("", "?", "*")):
        return True
    return "~off" not in kind and _fits(kind, next(waiting, ""), False)


def _fits(kind: set[str], value: str, attached: bool) -> bool:
    """Whether an option may have this value."""
    if "=" in kind or (attached and not kind.isdisjoint(("?", "*"))):
        return bool(value)
    if "~path" in kind:
        return bool(value) and not value.startswith((*SCRATCH, "-")) and f"{value}/" not in SCRATCH
    return any(
        pattern.fullmatch(value) is not None for each, pattern in _VALUES.items() if each in kind
    )
