"""Tables of commands: those that test, lint, change code or hand it on, and those that only start
others."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import Strings, in_order, listed

_TASKS: Final = (
    "npm run", "npm run-script", "yarn run", "yarn workspace *", "pnpm run", "bun run",
    "deno task", "make", "gmake", "just", "task", "rake", "poe", "invoke", "inv", "gradle",
    "gradlew", "sbt", "turbo", "turbo run", "nx run", "lerna run", "mise run",
)  # fmt: skip
_TARGETS: Final = in_order(
    "test* *:test* *-test *_test *-tests *_tests unittest* check *:check check:test*"
)
"""Programs that run tasks of a project, and what tasks are called that test."""
TESTS: Final = (
    *[f"{program} {target}" for program in _TASKS for target in _TARGETS],
    "pytest", "py.test", "unittest", "nose2", "nosetests", "trial", "tox", "nox", "jest", "vitest",
    "mocha", "ava", "karma", "jasmine", "ctest", "rspec", "phpunit", "pest", "paratest", "bats",
    "gotestsum", "prove", "behave", "stestr", "npm test", "npm t", "yarn test*", "pnpm test*",
    "nx test*", "bun test*", "deno test",
    "node --test", "go test", "cargo test", "cargo t", "cargo nextest run", "mvn test",
    "mvn verify", "mvn install", "mvnw test", "mvnw verify", "mvnw install", "gradle build",
    "gradlew build", "dotnet test", "make check*", "gmake check*", "rake spec*", "rails test*",
    "mix test", "swift test", "bazel test", "bazelisk test", "lein test", "stack test",
    "cabal test", "zig test", "zig build test", "flutter test", "dart test", "playwright test",
    "cypress run", "manage.py test", "setup.py test", "meson test", "ninja test", "hatch test",
    "pdm test", "composer test", "artisan test", "xcodebuild test",
)  # fmt: skip
"""Commands that run tests: a program, and words that stand behind it."""

LINTS: Final = (
    "flake8", "pylint", "mypy", "dmypy", "pyright", "basedpyright", "pyflakes", "pycodestyle",
    "pydocstyle", "bandit", "eslint", "tsc", "standard", "xo", "oxlint", "stylelint", "staticcheck",
    "golangci-lint", "rubocop", "standardrb", "shellcheck", "hadolint", "yamllint", "ktlint",
    "detekt", "checkstyle", "swiftlint", "phpcs", "phpstan", "psalm", "cppcheck", "clang-tidy",
    "ansible-lint", "tflint", "actionlint", "pre-commit", "ruff check", "ruff format --check",
    "black --check", "isort --check*", "pyre check", "biome check", "biome lint", "biome ci",
    "prettier --check", "prettier -c", "go vet", "cargo clippy", "cargo fmt --check",
    "dart analyze", "flutter analyze", "deno lint", "mix credo",
    "dotnet format --verify-no-changes", "npm run lint*", "npm run-script lint*", "yarn lint*",
    "yarn run lint*", "pnpm lint*", "pnpm run lint*", "bun run lint*", "make lint*",
    "make typecheck*", "gmake lint*", "just lint*", "task lint*", "rake lint*", "rake rubocop",
    "poe lint*", "invoke lint*", "inv lint*", "hatch fmt --check", "nox lint*", "tox lint*",
    "gradle lint*", "gradlew lint*", "composer lint", "turbo lint*", "turbo run lint*", "nx lint",
)  # fmt: skip
"""Commands that lint."""

COMMITS: Final = (
    "git commit", "git push", "gh pr create", "gh pr merge", "gh release create", "glab mr create",
    "glab mr merge", "hub pull-request", "npm publish", "yarn publish", "yarn npm publish",
    "pnpm publish", "bun publish", "cargo publish", "twine upload", "uv publish", "poetry publish",
    "hatch publish", "flit publish", "gem push", "mvn deploy", "mvnw deploy", "gradle publish*",
    "gradlew publish*", "dotnet publish", "dotnet nuget push", "docker push", "podman push",
    "kubectl apply", "kubectl rollout", "helm install", "helm upgrade", "terraform apply",
    "tofu apply", "pulumi up", "cdk deploy", "sls deploy", "serverless deploy", "sam deploy",
    "fly deploy", "flyctl deploy", "vercel deploy", "netlify deploy", "firebase deploy",
    "wrangler deploy", "gcloud app deploy", "gcloud run deploy", "eb deploy", "cap deploy",
    "make deploy*", "make release*", "make publish*", "just deploy*", "task deploy*",
    "rake deploy*", "rake release*",
)  # fmt: skip
"""Commands that hand work on."""

CHANGES: Final = (
    "patch", "apply_patch", "git apply", "git am", "git cherry-pick", "git revert", "git stash pop",
    "git stash apply",
)  # fmt: skip
"""Commands that change code without naming a file."""

ANYWHERE: Final = frozenset(
    {
        "make", "gmake", "gradle", "gradlew", "mvn", "mvnw", "rake", "just", "task", "sbt", "lein",
        "nox", "tox", "ninja", "nx", "composer", "poe", "invoke", "inv",
    }
)  # fmt: skip
"""Programs that take several targets: the word may be any of them."""

_RUN: Final = ("run",)
_EXEC: Final = ("exec", "dlx")
RUNNERS: Final[dict[str, Strings]] = {
    "uv": _RUN, "poetry": _RUN, "pipenv": _RUN, "pdm": _RUN, "rye": _RUN, "hatch": _RUN,
    "conda": _RUN, "mamba": _RUN, "micromamba": _RUN, "pipx": _RUN, "coverage": _RUN,
    "dotenv": _RUN, "bundle": _EXEC, "npm": _EXEC, "pnpm": _EXEC, "yarn": _EXEC,
    "npx": (), "bunx": (), "pnpx": (), "uvx": (),
}  # fmt: skip
"""Programs that start others: behind these words, or at once."""
INTERPRETERS: Final = listed(
    "node deno bun tsx ts-node ruby perl php rscript lua julia sh bash dash zsh ksh"
)
"""Programs that run a script."""
PYTHONS: Final = in_order("python python? python?.* pypy* py")
VALUED: Final = frozenset(
    {
        "-C", "-c", "-W", "-X", "-n", "-p", "-w", "-f", "--prefix", "--cwd", "--dir", "--directory",
        "--filter", "--workspace", "--project", "--with", "--extra", "--group", "--python",
        "--package", "--env-file", "--rcfile", "--only-group", "--name", "--file", "--makefile",
    }
)  # fmt: skip
"""Options whose value is a word of its own."""

ASKING: Final = listed("-h --help --version --dry-run")
"""Options with which a command only tells something."""
INERT: Final = listed(
    "help version collect-only co list list-tests listtests listing list-sessions listenvs "
    "listenvs-all dry-run dryrun no-run norun fixtures fixtures-per-test funcargs markers "
    "setup-plan setup-only show-config print-config showconfig show-only show-files "
    "show-settings env-info clearcache init notest exit-zero issues-exit-code fail-under "
    "fail-level passwithnotests pass-with-no-tests if-present ignore-errors just-print recon "
    "question touch eval script-shell toolexec exec skiptests suppress-all"
)
"""Long options, in small letters and without dashes and values, with which a command does nothing
of what it is for, or ends as if it had gone well."""
INERT_WORDS: Final = in_order(
    "-h -DskipTests* -DskipITs* -Dmaven.test.skip* -Dmaven.test.failure.ignore* "
    "-DfailIfNoTests=false"
)  # fmt: skip
"""The same as whole words."""
_VERSION: Final = dict.fromkeys(
    (
        "npm", "yarn", "pnpm", "bun", "mvn", "mvnw", "gradle", "gradlew", "rspec", "jest", "vitest",
        "eslint", "tsc", "rubocop", "bundle", "ava", "composer", "dotnet",
    ),
    ("-v",),
)  # fmt: skip
INERT_OF: Final[dict[str, Strings]] = {
    **_VERSION,
    **dict.fromkeys(("pytest", "py.test", "ruff", "mypy", "cargo", "mocha", "pylint"), ("-V",)),
    "go": ("-c", "-n", "-V"),
    "ctest": ("-N",),
    "tox": ("-l", "-a", "-n"),
    "nox": ("-l",),
    "trial": ("-n",),
    "dotnet": ("-t", "-v"),
    "prove": ("-D",),
    "gradle": ("-v", "-m", "-x", "-V"),
    "gradlew": ("-v", "-m", "-x", "-V"),
    "swift": ("-l",),
}
"""Short options of single programs with which the same is so."""
CLUSTERED: Final = dict.fromkeys(("make", "gmake"), frozenset("niqtE"))
"""The same for programs that take several letters in one word."""
OVERRIDDEN: Final = listed("make gmake just task")
"""Programs whose words may set a variable by which something else is run."""

TARGETED: Final = listed("make gmake just task tox nox")
"""Programs whose linters are targets like their tests."""

OWN: Final = listed("gradlew mvnw manage.py setup.py artisan")
"""Programs that stand among the files of a project; others are installed."""
SCRIPTS: Final = regex(
    r"run[-_]?tests?.*|tests?(?:[-_.].*)?\.\w+|.+[-_.](?:tests?|spec)\.\w+|.+\.t"
)
"""How scripts of a project are called that test, in small letters."""
USUAL: Final = {
    "pytest": listed("py pyi pyx ipynb"),
    "npm test": listed("js mjs cjs jsx ts mts cts tsx vue svelte"),
    "go test ./...": listed("go"),
    "cargo test": listed("rs"),
    "gradle test": listed("java kt kts groovy scala"),
    "dotnet test": listed("cs fs vb"),
    "rspec": listed("rb rake"),
    "make test": frozenset[str](),
}
"""What an agent is told to run, by how the name of what it has changed ends; the last one for
everything else."""
INSTALLED: Final = in_order(
    "/.venv/bin/ /venv/bin/ /.venv/Scripts/ /venv/Scripts/ /node_modules/.bin/"
)
"""How the folders of environments end that programs are installed in."""
SYSTEM: Final = listed("/bin/ /usr/bin/ /usr/local/bin/ /opt/homebrew/bin/")
PROJECT: Final = listed("bin/ vendor/bin/")
"""The same for folders of the system, and for those of a project itself, seen from where it
stands."""

PYTHON_OPTIONS: Final = listed("-B -b -bb -d -E -I -P -q -s -S -u -v")
PYTHON_VALUED: Final = listed("-W -X")
PYTHON_MODES: Final = listed("dev utf8 utf8=1 faulthandler importtime tracemalloc")
"""Options with which Python still runs the module that is named behind them."""
STOPPING: Final = listed("-c --call -h -V -e --eval")
"""Options with which a program does not start the command behind them."""

STARTING: Final = frozenset(
    {
        "time", "env", "timeout", "gtimeout", "nice", "ionice", "nohup", "sudo", "doas", "command",
        "stdbuf", "xvfb-run", "caffeinate", "chronic", "sh", "bash", "dash", "zsh", "ksh",
    }
)  # fmt: skip
"""Programs that only start others."""

QUIET: Final = listed("cd pushd popd export source . set unset true echo printf pwd ls")
"""Programs beside which a check is still the only thing that can fail."""
