"""Losses of drawn programs, as text: of the library, own functions, in-batch, with further terms."""

from __future__ import annotations

from random import Random

from programs.draft import Draft

CLASSES = [
    ("cross entropy", "ex.cross_entropy(output, target)", "ex.cross_entropy"),
    (
        "sum of cross entropies",
        'ex.cross_entropy(output, target, reduction="sum")',
        'nn.CrossEntropyLoss(reduction="sum")',
    ),
    (
        "weighted classes",
        "ex.cross_entropy(output, target, weight=ex.tensor([1.0, 5.0, 0.2, 2.0]))",
        "nn.CrossEntropyLoss(ex.tensor([1.0, 5.0, 0.2, 2.0]))",
    ),
    (
        "ignored targets",
        "ex.cross_entropy(output, target, ignore_index=9)",
        "nn.CrossEntropyLoss(ignore_index=9)",
    ),
    (
        "label smoothing",
        "ex.cross_entropy(output, target, label_smoothing=0.2)",
        "nn.CrossEntropyLoss(label_smoothing=0.2)",
    ),
    ("negative log-likelihood", "ex.nll_loss(ex.log_softmax(output, axis=1), target)", ""),
    (
        "own cross entropy",
        "-(ex.log_softmax(output, axis=1) * is_class(target)).sum(axis=1).mean()",
        "",
    ),
    ("in-batch contrast", "contrast(output, target)", ""),
]
NUMBERS = [
    ("squared error", "ex.mse_loss(output, target)", "ex.mse_loss"),
    (
        "sum of squared errors",
        '0.1 * ex.mse_loss(output, target, reduction="sum")',
        'nn.MSELoss(reduction="sum")',
    ),
    ("absolute error", "ex.l1_loss(output, target)", "nn.L1Loss()"),
    ("smooth error", "ex.smooth_l1_loss(output, target, beta=0.5)", "nn.SmoothL1Loss(beta=0.5)"),
    ("Huber", "ex.huber_loss(output, target, delta=0.7)", "nn.HuberLoss(delta=0.7)"),
    ("own error", "ex.log(ex.cosh(output - target)).mean()", ""),
]
IS_CLASS = [
    "def is_class(target):",
    "    return (target[:, None] == ex.arange(4)).astype(ex.get_default_dtype())",
    "",
    "",
]
ATTRIBUTES = {
    "label_smoothing": "0.1 * (step % 3)",
    "beta": "0.5 + 0.5 * (step % 2)",
    "delta": "0.7 + 0.5 * (step % 2)",
    "reduction": '"mean" if step % 2 else "sum"',
}
# What the trainer has to be told of a function with such a loss.
REDUCTIONS = {
    "sum of cross entropies": '"sum"',
    "sum of squared errors": '"sum"',
    "weighted classes": "lambda y: np.array([1.0, 5.0, 0.2, 2.0])[np.asarray(y)].sum()",
    "ignored targets": "lambda y: (np.asarray(y) != 9).sum()",
    "in-batch contrast": '"mean"',
}
CONTRAST = [
    "def contrast(output, target):",
    "    unit = output / ((output * output).sum(axis=1, keepdims=True) + 1e-6) ** 0.5",
    "    same = (target[:, None] == target[None, :]).astype(output.dtype)",
    "    return -(ex.log_softmax(unit @ unit.T, axis=1) * same).mean()",
    "",
    "",
]


def draw_loss(draft: Draft, random: Random) -> None:
    """Write ``loss``; terms and a factor that others asked for make it a function."""
    name, formula, ready = random.choice(CLASSES if draft.is_classification else NUMBERS)
    draft.note(name)
    if name == "ignored targets":
        # Few, so that some parts have no other targets, but no batch.
        draft.data.insert(3, "targets[::6] = 9")
    if not draft.has_flat_directions and random.random() < 0.15:
        draft.penalties.append("0.01 * sum((p * p).sum() for p in model.parameters())")
        draft.note("penalty of parameters")
    if ready and not draft.factor and not draft.penalties and random.random() < 0.7:
        draft.loss = [f"loss = {ready}"]
        _draw_attribute(draft, random)
        return
    factor = f"{draft.factor} * " if draft.factor else ""
    terms = " + ".join([f"{factor}{formula}", *draft.penalties])
    draft.is_in_batch = "contrast(" in formula
    own = CONTRAST if "contrast(" in formula else IS_CLASS if "is_class(" in formula else []
    draft.loss = [*own, "def loss(output, target):", f"    return {terms}"]
    # A penalty that is no sum is left for the trainer to refuse.
    is_told = name in REDUCTIONS and not (draft.penalties and REDUCTIONS[name] == '"sum"')
    if is_told and random.random() < 0.85:
        draft.note("loss_reduction")
        draft.options.append(f"loss_reduction={REDUCTIONS[name]}")


def _draw_attribute(draft: Draft, random: Random) -> None:
    """Perhaps let a callback change what the loss was made with."""
    for name, value in ATTRIBUTES.items():
        if f"{name}=" in draft.loss[0] and random.random() < 0.5:
            draft.note(f"{name} by a callback")
            draft.changes.append(f"loss.{name} = {value}")
