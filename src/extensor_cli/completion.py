"""Scripts that complete ``extensor`` in bash, zsh and fish, made from the table of commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from extensor_cli.command_arguments import COMMANDS
from extensor_cli.parsing import parser

# What the placeholders of arguments stand for; choices are offered where there are any.
_KINDS = {"FILE": "file", "source": "file", "folder": "file", "SHARDS": "file"}
_KINDS |= {"run": "run", "RUN": "run", "SWEEP": "run"}

_BASH = r"""# Completion of extensor for bash: eval "$(extensor completion bash)"
_extensor() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= words= kinds=
    # Bash takes the = of --option=value for a word.
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
    [[ $cur == = ]] && prev=${COMP_WORDS[COMP_CWORD-1]} cur=
    local word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word != -* ]] && command=$word && break
    done
    case "$command $prev" in
@VALUES@
    *) case "$command $cur" in
@OPTIONS@
       esac ;;
    esac
    local IFS=$'\n'
    COMPREPLY=($(IFS=' '; compgen -W "$words" -- "$cur"))
    if [[ $kinds == *file* ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen -f -- "$cur"))
    fi
    if [[ $kinds == *run* ]]; then
        COMPREPLY+=($(cd runs 2>/dev/null && compgen -d -- "$cur"))
        [[ $kinds == *file* ]] || COMPREPLY+=($(compgen -d -- "$cur"))
    fi
}
complete -F _extensor extensor
"""
_ZSH = r"""#compdef extensor
# Completion of extensor for zsh: eval "$(extensor completion zsh)"
_extensor_run() {
    local -a names=(runs/*(N/:t))
    _alternative 'runs:run:compadd -a names' 'folders:folder:_files -/'
}
_extensor() {
    local state line curcontext=$curcontext
    _arguments -C @ROOT@ '1:command:((@COMMANDS@))' '*::argument:->rest' && return
    case $words[1] in
@OPTIONS@
    esac
}
compdef _extensor extensor
"""
_FISH = r"""# Completion of extensor for fish: extensor completion fish | source
function __extensor_run
    for run in runs/*/
        basename $run
    end
    __fish_complete_directories
end
complete -c extensor -f
@OPTIONS@
"""


def script(shell: str) -> str:
    """The script for ``shell``: "bash", "zsh" or "fish"."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _actions() -> Iterator[tuple[str, argparse.Action]]:
    """The arguments that users see, each with its command; "" is the program itself."""
    root = parser()
    for name, command in {"": root, **root.commands.choices}.items():
        for action in command._actions:
            if action.help != argparse.SUPPRESS and action is not root.commands:
                yield name, action


def _kind(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    return _KINDS.get(name, "")


def _choices(action: argparse.Action) -> str:
    return " ".join(map(str, action.choices or ()))


def _bash() -> str:
    values, options = [], []
    offered: dict[str, list[str]] = {name: [] for name in ("", *COMMANDS)}
    words, kinds = {"": " ".join(COMMANDS)}, dict.fromkeys(offered, "")
    for name, action in _actions():
        offered[name] += action.option_strings
        if not action.option_strings:
            words[name] = _choices(action)
            kinds[name] += f" {_kind(action)}"
        elif action.nargs != 0:
            patterns = "|".join(f'"{name} {option}"' for option in action.option_strings)
            values.append(f"    {patterns}) words='{_choices(action)}' kinds='{_kind(action)}' ;;")
    for name, flags in offered.items():
        options.append(f"""       "{name} -"*) words='{" ".join(flags)}' ;;""")
        more = f"words='{words.get(name, '')}' kinds='{kinds[name].strip()}'"
        options.append(f'''       "{name} "*) {more} ;;''')
    return _BASH.replace("@VALUES@", "\n".join(values)).replace("@OPTIONS@", "\n".join(options))


def _zsh() -> str:
    specs: dict[str, list[str]] = {name: [] for name in ("", *COMMANDS)}
    for name, action in _actions():
        value = f"({_choices(action)})" if action.choices else ""
        value = value or {"file": "_files", "run": "_extensor_run"}.get(_kind(action), " ")
        label = action.metavar if isinstance(action.metavar, str) else action.dest
        text = _quote(action.help or "", ":[]")
        argument = "" if action.nargs == 0 else f":{label}:{value}"
        if not action.option_strings:
            specs[name].append(f"'{'*' if action.nargs == '+' else ''}:{label}:{value}'")
        for option in action.option_strings:
            sign = "=" if argument and option.startswith("--") else ""
            more = "*" if isinstance(action, argparse._AppendAction) else ""
            optional = ":" if action.nargs == "?" else ""
            specs[name].append(f"'{more}{option}{sign}[{text}]{optional}{argument}'")
    cases = [f"    {name}) _arguments {' '.join(specs[name])} ;;" for name in COMMANDS]
    names = [f'{name}\\:"{_quote(x.summary, ":")}"' for name, x in COMMANDS.items()]
    parts = {"@ROOT@": " ".join(specs[""]), "@COMMANDS@": " ".join(names)}
    text = _ZSH.replace("@OPTIONS@", "\n".join(cases))
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _fish() -> str:
    at_start = "not __fish_seen_subcommand_from " + " ".join(COMMANDS)
    lines = [
        f"complete -c extensor -n '{at_start}' -a {name} -d '{_quote(command.summary)}'"
        for name, command in COMMANDS.items()
    ]
    for name, action in _actions():
        when = f"__fish_seen_subcommand_from {name}" if name else at_start
        kind = _kind(action)
        values = "(__extensor_run)" if kind == "run" else _choices(action)
        flags = [
            f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            for option in action.option_strings
        ]
        words = ["complete -c extensor", f"-n '{when}'", *flags]
        if flags:
            words.append(f"-d '{_quote(action.help or '')}'")
        if flags and action.nargs not in (0, "?"):
            words.append("-r" if kind == "file" else "-x")
        words += ["-F"] if kind == "file" else []
        words += [f"-a '{values}'"] if values else []
        lines.append(" ".join(words))
    return _FISH.replace("@OPTIONS@", "\n".join(lines))


def _quote(text: str, special: str = "") -> str:
    r"""``text`` inside single quotes; letters in ``special`` get a backslash.

    >>> from extensor_cli.completion import _quote
    >>> _quote("port: one's own [1]", ":[]")
    "port\\: one'\\''s own \\[1\\]"
    """
    escaped = "".join(f"\\{letter}" if letter in special else letter for letter in text)
    return escaped.replace("'", "'\\''")
