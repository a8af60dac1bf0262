"""Words by which arguments hold commands, the roles they give them, and tools that run commands."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.names import KEPT, numbered_words, own_name, plain, words
from stanchion.readings.word_lists import Strings, by_first, listed

SHELLS: Final = listed(
    "bash sh zsh ksh csh tcsh shell terminal powershell pwsh cmd exec subprocess stdin tmux"
)
"""Words in the name of a tool that runs what it is given."""
PARTS: Final = ("bash", "shell", "terminal")
"""What says the same within a word."""
WHOLE: Final = listed("run execute command commands")
"""Names that say the same where a tool is called by nothing else."""
STARTS: Final = listed("run rerun execute exec start spawn launch invoke eval evaluate")
STARTED: Final = listed(
    "command commands cmds script scripts process program code ssh docker container kubectl pod "
    "console remote"
)
"""Words that say it together: one of each."""
ELSE: Final = listed("sql query queries db database statement workflow summary")
"""Words in the name of a tool that executes something else."""
ASKING: Final = listed(
    "get list show search find explain describe lookup docs documentation help history format lint"
)
"""Words in the name of a tool that runs none of the code it is given."""

LANGUAGES: Final[dict[str, Strings]] = {
    name: (program, option)
    for program, (option, *names) in by_first(
        """
    python3 -c python py ipython jupyter pypy django flask pyspark blender houdini maya odoo
    node -e javascript js node nodejs typescript ts tsx bun
    ruby -e ruby rb rails irb pry crystal
    perl -e perl julia matlab octave
    Rscript -e r rscript rstudio
    php -r php tinker laravel wordpress psysh
    lua -e lua
    vim -c vim nvim
    emacs --eval emacs elisp lisp clojure clj scheme racket
    cscript -e vba vbscript vbs wscript cscript
    mongosh --eval mongo mongosh
    deno eval deno
    yaegi -e go golang
    jbang -c java jshell
    kotlin -e kotlin kts
    dotnet-script eval csharp cs csx c# dotnet unity
    rust-script -e rust rs
    scala -e scala
    swift -e swift
    dart -e dart
    groovy -e groovy jenkins gradle
    ghc -e haskell ghci ocaml nim tcl
    elixir -e elixir iex erlang
    osascript -e osascript applescript
    """
    ).items()
    for name in names
}
"""How code of a language would be run on a command line."""
UNKNOWN: Final = ("kotlin", "-e")
"""How code is read of a language that nobody says or guesses: for the calls in it."""
CALLS: Final = regex(
    r"\w[!?]?\(|\b\w+\.\w+[!?] |"
    r"(?m:^[ \t]*(?:import|using|require|use) [\w.'\"{]+;?$)|\A(?:%%|![a-z]|#!/)"
)
"""What is in every text that plainly is code."""
CONFIGURED: Final = regex(
    r"(?m)^[ \t-]*(?:run|shell|bash|command|cmd|script|exec\w*|entrypoint|\w+\.(?:shell|command)|"
    r"\w*command)[ \t]*[:=]\s*(?:[|>]-?\s*)?([^\s|>][^\n]*)|"
    r"^(?:RUN|CMD|ENTRYPOINT)[ \t]+(\S[^\n]*)|^\t@?([^\s@][^\n]*)|"
    r"^(?:[\d*/,-]+[ \t]+){5}(\S[^\n]*)|^@(?:reboot|daily|hourly)[ \t]+(\S[^\n]*)|"
    r"\b(?:command|shell)[ \t]*=[ \t]*(\"[^\n]*\")"
)
"""Lines of a text by which something is told to run a command: a step of a job, of an image, of a
play or of a Makefile, an entry of a table of times."""
GUESSED: Final = (
    (regex(r"\w <- |\blibrary\(\w+\)"), "r"),
    (regex(r"(?m)^[ \t]*local \w+(?:, ?\w+)* ?=|\bredis\.p?call\(|\b\w+ in i?pairs\("), "lua"),
    (regex(r"\|> \w|(?m:^[ \t]*defmodule |\b[A-Z]\w*\.[A-Z]\w*\.\w+[!?]?\()"), "elixir"),
    (regex(r"(?m)^[ \t]*package \w+\s*$[\s\S]*\bfunc "), "go"),
    (regex(r"\bfn main\(|(?m:^[ \t]*use \w+(?:::[\w{}, *]+)+;)"), "rust"),
    (regex(r"(?m)^[ \t]*using [\w.]+;|\bConsole\.Write|^#r \""), "csharp"),
    (regex(r"(?m)^[ \t]*import [\w.*]+;|\bpublic (?:static|class)\b|\bSystem\.out\."), "java"),
    (regex(r"\bfun main\(|(?m:^[ \t]*(?:val|var) \w+ = .*[^;]$)|(?m:^@file:)"), "kotlin"),
    (
        regex(
            r"\b(?:const|let|var) [\w{\[][^\n]*=|\brequire\(|=>|(?m:^[ \t]*import .* from ['\"])"
        ),
        "node",
    ),
    (regex(r"<\?php|(?m:^[ \t]*\$\w+ = [^\n]*;\s*$)"), "php"),
    (regex(r"(?m)^[ \t]*require ['\"]|\bdo \|\w+"), "ruby"),
)
"""What tells the language of code that nobody says, in the order in which it is asked."""
PAGES: Final = listed("browser page puppeteer playwright chrome selenium webdriver")
"""Words in the name of a tool whose scripts are run by a browser."""
PAGE: Final = ("node", "--eval")
"""How what a browser runs is read."""
ANY: Final = ("*",)
"""Stands for a language that nobody says."""
SPEAKING: Final = listed("code snippet repl interpreter sandbox")
"""Words in the name of a tool that runs code of a language it does not say."""
CALLED: Final = listed(
    "kubectl oc helm docker podman nerdctl aws gcloud gsutil terraform tofu terragrunt pulumi git "
    "gh glab heroku flyctl vercel netlify doctl hcloud nomad rclone argocd istioctl wrangler "
    "firebase supabase eksctl etcdctl velero az mongosh deno doppler infisical sops oci svn hg p4 "
    "rsync restic borg lxc incus nsenter curl wget systemctl crontab consul tar unzip npm pip "
    "cargo ansible artisan wp rake drush prisma alembic flyway liquibase cdk serverless sam "
    "crossplane"
)
"""Programs that tools are named after, which give them their arguments."""
CALLED_TOO: Final = {
    "azure": "az", "kubernetes": "kubectl", "k8s": "kubectl", "argo": "argocd",
    "mercurial": "hg", "subversion": "svn", "perforce": "p4", "lxd": "lxc",
}  # fmt: skip
"""Other names of such programs."""
SERVICES: Final = listed(
    "acm athena cloudformation cloudfront cloudtrail cloudwatch cognito dynamodb ec2 ecr ecs efs "
    "eks elasticache elbv2 guardduty iam kms rds redshift route53 s3 s3api sagemaker "
    "secretsmanager sns sqs ssm sts"
)
"""Services of AWS that tools are named after."""
AWS: Final = ("aws",)
"""A program whose words are the names of what a library calls, with dashes between them."""
UNSAID: Final = listed(
    "command commands cmd cli tool call execute sdk api client operation operations op action "
    "manager generic query request"
)
"""Words in the names of such tools that the program is not given."""
SAYS: Final = listed(
    "command commands cmd subcommand action operation op verb service args arguments argv params "
    "parameters options flags cmdargs servicename operationname actionname resource resourcetype "
    "kind entry entrypoint remote ref refspec image package serviceid"
)
"""Arguments of such tools that hold words of the command; all others are options of it."""
BARE: Final = listed("git svn hg p4 rsync restic borg tar unzip")
"""Those of which most of what they are given has no name."""
STANDS: Final = SAYS | listed(
    "archive branch branchname bookmark commit dest destination dst file files key left name path "
    "paths repo repository revision revisions rev right source sources sha src tag tagname target "
    "to url value"
)
"""Arguments of these that hold such words."""
USUALLY: Final = (
    (
        regex(
            r"\A(?!(?:docker|podman|nerdctl|kubectl|oc|lxc|incus|npm|cargo|deno) )(\w+) "
            r"(?:run|exec|execute|invoke)\b"
        ),
        r"\1",
    ),
    (regex(r"\Agit config (?:set|write|add|update)\b"), "git config"),
    (
        regex(r"\Agit (\w+ )?(filter|update|symbolic|set|cherry) (repo|branch|ref|url|pick)\b"),
        r"git \1\2-\3",
    ),
    (regex(r"\Agit ((?:\w+ )*)(force|hard) (\w+)"), r"git \1\3 --\2"),
    (regex(r"\Agit (branch|tag) (delete|remove|rename)\b"), r"git \1 --\2"),
)
"""How a program would be told what the name of a tool says in its own order: `git reset --hard` of
`git_hard_reset`."""
MODES: Final = listed("mode scope resettype")
"""Arguments of these that say an option: `hard` is `--hard`."""
MOUNTED: Final = listed("volume volumes mounts binds")
"""Arguments that say which folders a container is given, by name."""
VERBS: Final = listed("delete remove drop rename unset")
"""Arguments of these that say what is done to what they hold."""
STANDING: Final = frozenset({"repl", "interpreter"})
"""Words that stand for something that runs code."""
EVALUATING: Final = listed(
    "run execute exec start launch invoke eval evaluate repl interpreter console session script "
    "scripting playground cell kernel sandbox runtime iex pry task job step lambda scriptlet macro"
)
"""Words in the name of a tool that may run what it is given: of that, what plainly is code is
read."""
KEEPING: Final = listed(
    "write edit save create update upload insert append format lint explain review translate "
    "generate compare document test comment send post search publish"
)
"""Words in the name of a tool that keeps code, or speaks of it."""

ASKED_BY: Final = listed("method httpmethod verb requestmethod httpverb")
"""Arguments that hold a method of HTTP."""
SAID_IN_WORDS: Final = listed(
    "prompt systemprompt description message messages task instructions instruction goal question "
    "comment note notes title summary reason explanation context objective query"
)
"""Arguments that say something to people or models, and hold no code."""
DEFINING: Final = listed("define register add schema list get describe delete")
"""Words in the name of a tool that keeps what a function takes, beside those that keep code."""
COMMANDS: Final = listed(
    "command commands cmd cmds cmdline commandline script scripts shell bash sh argv keystrokes "
    "exec run shellscript bashscript userdata entrypoint"
)
"""Arguments that hold a command, whichever tool has them."""
ENDS: Final = listed("command commands cmd cmds cmdline script")
"""Words with which the names of more such arguments end."""
ABOUT: Final = listed(
    "allow allowed allowlist deny denied block blocked forbid forbidden disallowed exclude "
    "excluded ignore ignored banned dangerous known recent previous history example no sub voice "
    "slash"
)
"""Words in the names of arguments that speak of commands and give none to run."""
CODES: Final = listed(
    "code source sourcecode snippet cell pythoncode program javascript expression expressions expr "
    "statement statements formula function src func handler"
)
CONFIGS: Final = listed(
    "dockerfile containerfile makefile justfile playbook workflow pipeline compose crontab cron "
    "cronentry entry hcl yaml yml manifest jobspec buildspec steps config cloudinit taskfile"
)
"""Arguments that hold what tells something to run commands."""
INPUTS: Final = frozenset({"input"})
"""Arguments that hold what a tool runs where its name says that it runs something."""
STDIN: Final = listed("stdin standardinput input stdininput stdintext stdindata")
"""Arguments that are given to the command beside them."""
PROGRAMS: Final = listed("program executable binary exe executablepath interpreter")
"""Arguments that hold the command of the words beside them."""
BEHIND: Final = listed("args arguments argv params parameters options flags cmdargs")
"""Arguments that stand behind the command beside them."""
SPOKEN: Final = listed("language lang interpreter runtime kernel syntax encoding")
"""Arguments that say the language of the code beside them, or how it is encoded."""
DECODERS: Final = {"base64": "base64 -d", "b64": "base64 -d", "hex": "xxd -r -p"}
"""What turns a text into what is run, by the encoding that an argument says."""
CONTENTS: Final = listed(
    "content contents text body newstring oldstring oldstr newstr newtext oldtext newcontent "
    "patch edits code data filetext message prompt query description diff inserttext"
)
"""Arguments that are written into files or sent: what they hold is not run by this call."""


COMMAND: Final = 1
CODE: Final = 2
INPUT: Final = 4
STDIN_TEXT: Final = 8
PROGRAM: Final = 16
BEHIND_IT: Final = 32
LANGUAGE: Final = 64
CONTENT: Final = 128
CONFIG: Final = 256
"""What an argument may be."""
SPOKEN_CODE: Final = 512
"""What is named after a language, and is code of it where it looks like code."""
RUN: Final = COMMAND | CODE | INPUT
BESIDE: Final = STDIN_TEXT | PROGRAM | BEHIND_IT | LANGUAGE
"""What says more about a command that stands beside it."""

_NAMED: Final = (
    (COMMANDS, COMMAND),
    (CODES, CODE),
    (INPUTS, INPUT),
    (STDIN, STDIN_TEXT),
    (PROGRAMS, PROGRAM),
    (BEHIND, BEHIND_IT),
    (SPOKEN, LANGUAGE),
    (CONTENTS, CONTENT),
    (CONFIGS, CONFIG),
)


@lru_cache(KEPT)
def role_of(name: str) -> int:
    """What the argument of a name may be; 0 where the name says nothing."""
    key = plain(name)
    role = sum([role for known, role in _NAMED if key in known])
    said = words(name)
    if said and said[-1] in ENDS and ABOUT.isdisjoint(said):
        role |= COMMAND
    return role if LANGUAGES.keys().isdisjoint(said) else role | SPOKEN_CODE


class ToolRunner(NamedTuple):
    """Whether a tool runs what it is given, and how code of its language would be run; empty where
    it is a shell's. `program` are the words of its name from the program on that it is named
    after: `kubectl delete` of `kubectl_delete`. Where it `evaluates`, what plainly is code is read;
    where it `keeps` code or speaks of it, not even what is named after a language."""

    runs: bool
    language: Strings = ()
    program: Strings = ()
    evaluates: bool = False
    keeps: bool = False


NONE: Final = ToolRunner(False)


@lru_cache(KEPT)
def runner_of(tool: str) -> ToolRunner:
    """What a tool's name says: with any separators, in any case, behind the name of a server."""
    own = [CALLED_TOO.get(word, word) for word in numbered_words(tool[-len(own_name(tool)) :])]
    own = [word for word in own if word not in UNSAID]
    at = next((at for at, word in enumerate(own) if word in CALLED), len(own))
    if at == len(own) and (AWS[0] in words(tool) or (own and own[0] in SERVICES)):
        own, at = [*AWS, *own], 0  # a server of nothing but operations
    said = frozenset(own)
    runner = _runner_of(tool)
    keeps = not said.isdisjoint(ASKING | ELSE | KEEPING)
    evaluates = not keeps and (bool(runner.language) or not said.isdisjoint(EVALUATING))
    return runner._replace(program=tuple(own[at:]), evaluates=evaluates, keeps=keeps)


def _runner_of(tool: str) -> ToolRunner:
    said = frozenset(words(tool))
    language = _language(said)
    if not said.isdisjoint(SHELLS) or any(part in tool.lower() for part in PARTS):
        other = not said.isdisjoint(ELSE) and said & SHELLS == {"exec"}
        return NONE if other else ToolRunner(True, language)
    if own_name(tool) in WHOLE:
        return ToolRunner(True, language)
    if said.isdisjoint(STARTS) and said.isdisjoint(STANDING):
        alone = own_name(tool).rstrip("0123456789.") in LANGUAGES
        return (
            ToolRunner(alone, language)
            if language and language != ANY and said.isdisjoint(ASKING)
            else NONE
        )
    if not said.isdisjoint(PAGES):
        return ToolRunner(False, language)
    runs = bool(language) or not said.isdisjoint(STARTED)
    return ToolRunner(True, language) if runs and said.isdisjoint(ELSE) else NONE


def _language(said: frozenset[str]) -> Strings:
    """The language that a name says: one that is known, a browser's, or any."""
    known = said & LANGUAGES.keys()
    if known:
        return LANGUAGES[min(known)] if len(known) == 1 else ANY
    if not said.isdisjoint(PAGES):
        return PAGE
    return () if said.isdisjoint(SPEAKING) else ANY
