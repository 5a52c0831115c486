"""How the errors of the library tell the way out on the command line."""

from extensor.train.experiments.wording import Wording

COMMAND = Wording(
    resume="--resume",
    checkpoint="--checkpoint",
    begin="extensor train {folder}/config.toml --set {key}=...",
    choose="--checkpoint {name}",
    trust="--trust",
)
