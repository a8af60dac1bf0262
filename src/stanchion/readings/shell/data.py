"""Data: who only looks at a text, prints it or keeps it, so that nothing of it would run."""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import listed

PRINTS: Final = listed(
    """
    echo printf print println say espeak cowsay figlet toilet banner notify-send logger wall write
    boxes lolcat yes zenity dialog whiptail kdialog gum terminal-notifier
    """
)
"""Programs that say what they are given."""

LOOKS_FOR: Final = listed(
    """
    grep egrep fgrep zgrep rg ripgrep ag ack ugrep pgrep pcregrep findstr select-string where man
    info tldr whatis apropos which whereis type help cheat locate plocate expr test [ [[ case look
    sgrep ast-grep sg semgrep fzf history fc alias unalias hash compgen complete abbr
    """
)
"""Programs that look for it, or compare it."""

KEEPS: Final = listed(
    """
    cat tac head tail less more most nl od xxd hexdump strings wc sort uniq cut paste comm diff cmp
    column pr tsort fold fmt rev tr expand unexpand split csplit shuf tee sponge md5sum sha1sum
    sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base64 base32 basenc openssl gpg file
    stat ls dir vdir tree du df touch mkdir rmdir rm mv cp ln chmod chown chgrp basename dirname
    realpath readlink date cal seq sleep kill jobs wait true false : cd pwd pushd popd export set
    unset declare local readonly typeset shift read jq yq xq dasel gron mlr miller csvcut csvgrep q
    pbcopy xclip xsel wl-copy clip mail mailx mutt sendmail msmtp swaks ntfy bat batcat view iconv
    dos2unix unix2dos gzip gunzip zcat bzip2 bunzip2 xz unxz zstd lz4 pandoc bc dc factor numfmt
    uuidgen trap return exit aspell hunspell cut join look ispell ffmpeg convert magick qrencode
    curl wget http https xh httpie grpcurl websocat code subl open xdg-open start todo task timew
    jrnl nb gcalcli llm ollama claude gemini aider sgpt mods chatgpt gh glab hub jira tea linear
    slack slackcat telegram-send signal-cli nc ncat netcat telnet dig host nslookup
    """
)
"""Programs that turn, keep, count or send it."""

LOOKS: Final = listed(
    """
    shellcheck shfmt hadolint yamllint prettier black ruff flake8 pylint mypy eslint tsc stylelint
    markdownlint vale codespell checkbashisms bandit gitleaks trufflehog clang-format gofmt rustfmt
    jsonlint actionlint ansible-lint tflint vi vim nvim nano emacs micro helix hx ed code subl idea
    """
)
"""Programs that look at a file or show it; what else they are given may run."""

DATA: Final = PRINTS | LOOKS_FOR | KEEPS

VERBS: Final = listed(
    """
    git hg svn jj fossil bzr docker podman nerdctl docker-compose podman-compose kubectl oc helm
    tool: npm
    pnpm yarn bun deno pip pip3 pipx uv poetry pdm conda mamba brew port apt apt-get aptitude dnf
    yum zypper pacman yay paru apk snap flatpak nix nix-env guix gem bundle cargo rustup go composer
    aws gcloud gsutil az bq doctl linode-cli heroku fly flyctl vercel netlify wrangler firebase
    supabase terraform tofu terragrunt pulumi vagrant multipass lxc incus virsh zfs zpool btrfs
    rclone mc s3cmd hdfs hadoop ipfs restic borg dvc systemctl loginctl machinectl launchctl service
    networksetup diskutil hdiutil tmutil defaults xcrun adb fastboot mysql psql sqlite3 redis-cli
    mongosh influx vault op bw pass gopass security keyctl nmcli ip iw wg tailscale ufw firewall-cmd
    nft iptables kind minikube k3d k9s cvs darcs rustc javac gradle mvn ant sbt lein mix dotnet
    nuget choco winget scoop wsl pm2 supervisorctl forever exercism tldr tmuxinator zellij kitty
    wezterm alacritty screen rails rake artisan django-admin symfony drush wp
    """
)
"""Programs whose first words say what to do, some of them by the name of another program (`git rm`,
`docker kill`)."""

FED: Final = VERBS | {"sed", "gsed"}
"""Programs that run nothing of what they read, whatever their words do."""

TOLD: Final = listed(
    """
    message msg body title comment comments description desc notes note subject text summary reason
    annotation grep pattern regexp regex search match query filter author label header user-agent
    data data-raw data-binary prompt print name tag printf format exclude include ignore glob
    greeting caption content template changelog placeholder question answer trailer
    """
)
"""Last words of options whose value is for people, or is looked for, whichever program has them."""
TOLD_SHORT: Final = frozenset({"-m", "-am", "-S", "-G"})
"""Short options that mean the same nearly everywhere; `-e` and `-c` are none of them."""


def is_told(option: str) -> bool:
    """Whether an option's value is for people, or is looked for."""
    return option in TOLD_SHORT or (
        option.startswith("--") and option[2:].rpartition("-")[2].lower() in TOLD
    )


def is_told_in(word: str) -> bool:
    """Whether a word is such an option with its value: `--body=…`, `-Sname`."""
    if word.startswith("--"):
        return is_told(word.partition("=")[0])
    return len(word) > 2 and word[:2] in TOLD_SHORT


RUNS: Final = listed(
    """
    command cmd program exec execute run hook shell rsh action pager editor browser preview askpass
    helper handler runner launcher wrapper bind pre preprocessor postprocessor
    """
)
"""Last words of options whose value runs, even where the program treats everything else as data."""
RUNS_SHORT: Final = frozenset({("man", "-P"), ("man", "-H"), ("split", "--filter")})
SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
MARKS: Final = ("+!", "!", ":!", "+:!")
"""How a word begins by which pagers and editors start a program."""
BEGIN: Final = frozenset("-+!:")
"""How every option begins that may have a command."""
PAGERS: Final = listed("less more most view vi vim nvim ex")
VARIABLES: Final = listed("LESSOPEN LESSCLOSE BASH_ENV ENV")
"""Variables that hold a command although their names do not say so."""


def is_run(name: str, option: str) -> bool:
    """Whether an option's value is a command."""
    if option[:1] not in BEGIN:
        return False
    if option.startswith("--"):
        own = option.partition("=")[0]
        return own[2:].rpartition("-")[2].lower() in RUNS or (name, own) in RUNS_SHORT
    return (name, option) in RUNS_SHORT or (name in PAGERS and option.startswith(MARKS))


def names_command(variable: str) -> bool:
    """Whether a variable's name says that its value is a command: `PAGER`, `GIT_SSH_COMMAND`."""
    return variable.rpartition("_")[2].lower() in RUNS or variable in VARIABLES
