"""Optimizers, schedules and options of the trainer of drawn programs, as text."""

from __future__ import annotations

from random import Random

from programs.draft import Draft

OPTIMIZERS = [
    ("SGD", "lr=0.05"),
    ("SGD", "lr=0.05, momentum=0.9"),
    ("SGD", "lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.01"),
    ("Adam", "lr=0.01"),
    ("Adam", "lr=0.01, betas=(0.8, 0.9), amsgrad=True"),
    ("AdamW", "lr=0.01, weight_decay=0.1"),
    ("RMSprop", "lr=0.01"),
    ("RMSprop", "lr=0.01, momentum=0.5, centered=True"),
    ("Adadelta", "lr=0.5"),
    ("NAdam", "lr=0.01"),
    ("RAdam", "lr=0.01"),
    ("LAMB", "lr=0.01"),
]
# They divide by the size of a gradient, and so make large what is zero but for rounding.
SIGNED = [("Adagrad", "lr=0.05"), ("Lion", "lr=0.005"), ("Lion", "lr=0.005, weight_decay=0.1")]
# In each form ``{total}`` is the number of steps, and the second entry says when it is stepped.
SCHEDULES = {
    "StepLR": "ex.optim.StepLR(optimizer, 1, gamma=0.5)",
    "StepLR by steps": "ex.optim.StepLR(optimizer, 2, gamma=0.5, automatic=True)",
    "ExponentialLR": "ex.optim.ExponentialLR(optimizer, 0.7, automatic=True)",
    "CosineAnnealingLR": "ex.optim.CosineAnnealingLR(optimizer, {total}, automatic=True)",
    "MultiStepLR": "ex.optim.MultiStepLR(optimizer, [1, 3], gamma=0.3, automatic=True)",
    "WarmupLR": "ex.optim.WarmupLR(optimizer, 3, automatic=True)",
    "WarmupCosineLR": "ex.optim.WarmupCosineLR(optimizer, 2, {total}, automatic=True)",
    "OneCycleLR": "ex.optim.OneCycleLR(optimizer, 0.05, total_steps={total}, automatic=True)",
    "LinearLR": "ex.optim.LinearLR(optimizer, 0.2, total_iters=3, automatic=True)",
    "CyclicLR": "ex.optim.CyclicLR(optimizer, 0.01, 0.05, 2, cycle_momentum=False, automatic=True)",
    "SequentialLR": (
        "ex.optim.SequentialLR(optimizer, [ex.optim.ConstantLR(optimizer, 0.5), "
        "ex.optim.ExponentialLR(optimizer, 0.7)], [2], automatic=True)"
    ),
    "LambdaLR": "ex.optim.LambdaLR(optimizer, lambda n: 1 / (1 + n), automatic=True)",
    "ReduceLROnPlateau": "ex.optim.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)",
}
UNSHARED = ("LAMB", "NAdam")  # their state is not one number for each element


def draw_optimizer(draft: Draft, random: Random) -> None:
    """Write ``optimizer``, and perhaps ``schedule`` and ``ema``."""
    known = OPTIMIZERS if draft.has_flat_directions else OPTIMIZERS + SIGNED
    if draft.amp or (draft.has_flat_directions and draft.dtype == "float32"):
        known = [each for each in OPTIMIZERS if each[0] == "SGD"]  # rounding may turn a sign
    name, options = random.choice(known)
    if draft.has_flat_directions and name == "LAMB":
        name, options = "AdamW", "lr=0.01"  # LAMB scales any update to the size of the parameters
    if draft.has_flat_directions and name != "SGD":
        options += ", eps=0.001"  # what is zero but for rounding is divided by it
    draft.note(name)
    chosen = "model.parameters()"
    if draft.has_extra:
        chosen = "[p for p in model.parameters() if p is not model.extra]"
    elif random.random() < 0.15:
        draft.note("two groups")
        rest = "[p for p in model.parameters() if p is not model.head.weight]"
        chosen = f'[{{"params": {rest}}}, {{"params": [model.head.weight], "lr": 0.002}}]'
    draft.optimizer.append(f"optimizer = ex.optim.{name}({chosen}, {options})")
    if name not in UNSHARED and random.random() < 0.3:
        draft.note("shard_optimizer")
        draft.parts_options.append("shard_optimizer=True")
    if random.random() < 0.5:
        _draw_schedule(draft, random)
    if random.random() < 0.2:
        draft.note("EMA")
        draft.has_ema = True
        draft.optimizer.append(f"ema = ex.optim.EMA(model, 0.9{random.choice(['', ', True'])})")
        draft.options.append("ema=ema")


def _draw_schedule(draft: Draft, random: Random) -> None:
    steps = -(-draft.samples // draft.batch_size) * draft.epochs
    draft.schedule = random.choice(list(SCHEDULES))
    if draft.schedule == "ReduceLROnPlateau":
        draft.validates = True
    draft.note(draft.schedule)
    text = SCHEDULES[draft.schedule].format(total=steps + 1)
    draft.optimizer.append(f"schedule = {text}")


def draw_options(draft: Draft, random: Random) -> None:
    """Choose what the trainer is asked for."""
    if random.random() < 0.3:
        draft.clip_norm = 0.5
        draft.note("clip_norm")
        draft.options.append("clip_norm=0.5")
    if random.random() < 0.1:
        draft.note("clip_value")
        draft.options.append("clip_value=0.05")
    if draft.amp:
        draft.note(f"amp {draft.amp}")
        draft.options.append(f'amp="{draft.amp}"')
    if random.random() < 0.25:
        draft.note("accumulate")
        draft.options.append("accumulate=2")
        draft.epochs = 3
    is_wanted = draft.has_batch_norm and random.random() < 0.5
    # Its parts are computed in threads, where a threading.local of the caller is empty.
    if is_wanted and "factor in: thread local" not in draft.notes:
        draft.note("sync_batch_norm")
        draft.is_synchronised = True
        draft.parts_options.append("sync_batch_norm=True")
    if random.random() < 0.2:
        draft.validates = True
    if draft.validates:
        draft.note("validation")
