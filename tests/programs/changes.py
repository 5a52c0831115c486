"""What callbacks of drawn programs change between two steps, as text.

Each change is a function of the number of steps, so that a resumed run can make it again.
"""

from __future__ import annotations

from random import Random

from programs.draft import Draft
from programs.values import HOLDERS


def draw_holder(draft: Draft, random: Random) -> list[str]:
    """Choose where a factor of the loss is held; returns the lines for after the optimizer."""
    if random.random() < 0.35:
        return []
    name = random.choice(list(HOLDERS))
    holder = HOLDERS[name]
    draft.note(f"factor in: {name}")
    if not holder.after_model and random.random() < 0.3:
        draft.note("read by the model")
        at = draft.model.index("        return self.head(x)")
        draft.model.insert(at, f"        x = x * {holder.read}")
    else:
        draft.factor = holder.read
    draft.has_foreign_state |= holder.counts_reads
    if holder.write:
        # One that rarely changes lets a compiled step be called again as it is.
        values = random.choice(["[1.0, 0.5, 2.0, 0.25][step % 4]", "1.0 if step < 3 else 0.5"])
        draft.changes.append(f"value = {values}")
        draft.changes += holder.write.split("\n")
    if draft.changes and draft.changes[1].startswith("global "):
        draft.changes[0], draft.changes[1] = draft.changes[1], draft.changes[0]
    setup = holder.setup.split("\n") if holder.setup else []
    if "class " in holder.setup or "def " in holder.setup:
        setup = ["", "", *setup, "", ""]
    if holder.after_model:
        return setup
    draft.data += setup
    return []


def draw_changes(draft: Draft, random: Random) -> None:
    """Write the lines of ``change(step)``."""
    # At most one part is frozen at a time: something must be left to train.
    known = [random.choice([_freeze, _unfreeze, _unfreeze])] * 2 + [
        _rate,
        _option,
        _mode,
        _activation,
    ]
    known += [_dropout] * 2 if "dropout" in draft.layers else []
    known += [_decay] * 2 if draft.has_ema else []
    chosen = random.sample(known, random.choice([0, 1, 1, 2]))
    for change in dict.fromkeys(chosen):
        draft.changes += change(draft, random)
    if draft.has_extra and not draft.resumes:
        draft.note("add_param_group")
        draft.changes += [
            "if step == 2:",
            '    optimizer.add_param_group({"params": [model.extra], "lr": 0.03})',
        ]


def _freeze(draft: Draft, random: Random) -> list[str]:
    part = random.choice(["first", "head"])
    draft.note(f"freezing {part}")
    return [f"model.{part}.requires_grad_(step < {random.choice([1, 2, 3])})"]


def _unfreeze(draft: Draft, random: Random) -> list[str]:
    part = random.choice(["first", "head"])
    draft.note(f"unfreezing {part}")
    return [f"model.{part}.requires_grad_(step >= {random.choice([1, 2, 3])})"]


def _rate(draft: Draft, random: Random) -> list[str]:
    if draft.schedule:
        return []
    draft.note("rate by a callback")
    return ['optimizer.param_groups[0]["lr"] = 0.05 / (1 + step)']


def _option(draft: Draft, random: Random) -> list[str]:
    made = draft.optimizer[0]
    if "OneCycleLR" in draft.schedule:  # it sets momentum and betas itself
        return []
    if "optim.SGD" in made or "optim.RMSprop" in made:
        draft.note("momentum by a callback")
        first = 0.5 if "nesterov" in made else 0.0
        return [f'optimizer.param_groups[0]["momentum"] = {first} if step < 2 else 0.9']
    if draft.has_flat_directions and "AdamW" not in made:
        return []  # its pull would be divided by the size of a gradient of rounding errors
    if "optim.Ada" in made or "optim.Lion" in made or "optim.LAMB" in made:
        draft.note("weight decay by a callback")
        return ['optimizer.param_groups[0]["weight_decay"] = 0.1 * (step % 3)']
    return []


def _mode(draft: Draft, random: Random) -> list[str]:
    part = random.choice(draft.layers)
    draft.note(f"mode of {part}")
    return [f"model.{part}.train(step % 2 == 0)"]


def _activation(draft: Draft, random: Random) -> list[str]:
    draft.note("other activation")
    if random.random() < 0.5:
        return ["model.activation = nn.Sigmoid() if step % 2 else nn.Tanh()"]
    return [
        "if step >= 2 and not isinstance(model.activation, nn.Sigmoid):",
        "    model.activation = nn.Sigmoid()",
    ]


def _dropout(draft: Draft, random: Random) -> list[str]:
    draft.note("p of dropout")
    return ["model.dropout.p = 0.1 * (1 + step % 3)"]


def _decay(draft: Draft, random: Random) -> list[str]:
    draft.note("decay of EMA")
    return ["ema.decay = 0.9 / (1 + step)"]
