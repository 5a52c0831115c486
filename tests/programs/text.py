"""Programs written down: sections put in order, with a loop for each way to train."""

from __future__ import annotations

from programs.backend import BACKEND
from programs.draft import Draft

IMPORTS = "argparse array collections contextvars dataclasses itertools os random threading types"
END = [
    'tensors = {f"model.{name}": np.array(x) for name, x in model.state_dict().items()}',
    'tensors |= {f"optimizer.{name}": np.array(x) for name, x in optimizer.state_dict().items()}',
]
SHOW = [
    'if __name__ == "__main__":',
    '    content = b"".join(x.tobytes() for x in tensors.values())',
    '    print("digest", hashlib.sha256(content).hexdigest()[:16])',
]
CALLBACK = [
    "class Changes(ex.train.Callback):",
    "    def fit_began(self, trainer):",
    "        change(trainer.step)",
    "",
    "    def step_ended(self, trainer, record):",
    "        change(trainer.step)",
]


def written(draft: Draft, title: str, mode: str, epochs: int, disagreement: str) -> str:
    """The text of a program that trains by ``mode``."""
    body = _sections(draft, disagreement)
    # Threads that read draw from NumPy's generator in any order; only fit refuses that.
    if mode != "parts" or draft.by_gradients:
        body = [line.replace(", workers=2", "") for line in body]
    size = draft.batch_size * (2 if mode == "joined" else 1)
    body.insert(0, f"BATCH_SIZE = {size}")
    if mode in ("step", "compiled step"):
        loop = _own_loop(draft, epochs, mode == "compiled step")
    elif mode == "parts" and draft.by_gradients:
        loop = _gradients_loop(draft, epochs)
    else:
        loop = _trainer(draft, epochs, mode)
    ends = list(END)
    if draft.has_ema:
        ends.append(
            'tensors |= {f"ema.{name}": np.array(x) for name, x in ema.state_dict().items()}'
        )
    if "history = " in loop[-1]:
        ends.append('tensors["losses"] = np.array([record["loss"] for record in history])')
    ends.append('tensors["random"] = np.array(ex.random.get_state(), "uint64")')
    lines = [*body, "", *loop, "", *ends, "", *SHOW]
    whole = "\n".join(lines)
    needed = ["hashlib", *(name for name in IMPORTS.split() if f"{name}." in whole)]
    needed = sorted({*needed, "random", "os"})
    head = [
        f'"""{title}"""',
        "",
        *(f"import {name}" for name in needed),
        "",
        "import numpy as np",
        "",
        "import extensor as ex",
        "from extensor import nn",
        "from extensor.data import ArrayDataset, DataLoader",
        "",
    ]
    return "\n".join(head) + "\n" + whole + "\n"


def _sections(draft: Draft, disagreement: str) -> list[str]:
    rank = "ex.distributed.workers().rank"
    seed = f"7 + {rank}" if disagreement == "seed" else "7"
    lines = [
        f'ex.set_default_dtype("{draft.dtype}")',
        f"ex.random.manual_seed({seed})",
        "np.random.seed(7)",
        "random.seed(7)",
    ]
    data = list(draft.data)
    if disagreement == "data":
        data.insert(3, f"inputs[0] += {rank}")
    for section in (data, draft.model, draft.optimizer, draft.loss):
        lines += ["", *section]
    changes = list(draft.changes)
    if disagreement == "rate":
        changes += [f"if {rank} == 0 and step == 2:", '    optimizer.param_groups[0]["lr"] *= 2']
    lines += ["", "", "def change(step):", *(f"    {line}" for line in changes or ["pass"])]
    return [*lines, "", "", "change(0)"]


def _trainer(draft: Draft, epochs: int, mode: str) -> list[str]:
    options = ["callbacks=[Changes()]", *draft.options]
    if mode == "parts":
        options += [f"micro_batches={draft.micro_batches}", *draft.parts_options]
    if mode == "joined":
        options.remove("accumulate=2")
    if mode == "compiled":
        options.append(f'compile="{BACKEND}"')
    if draft.resumes:
        options += ['folder=os.environ["PROGRAM_FOLDER"]', "checkpoint_every=3"]
    held = "ArrayDataset(inputs[:5], targets[:5])"
    validation = f"DataLoader({held}, 3)" if draft.validates else "None"
    if draft.fit_data == "arrays":
        given = f"inputs, targets, {epochs}, {validation}, BATCH_SIZE"
    else:
        given = f"loader, {epochs}, {validation}"
    if draft.resumes and draft.fit_data not in ("arrays",) and "loader = [" in draft.data:
        options.remove("checkpoint_every=3")  # a list of batches has no state
    return [
        "",
        *CALLBACK,
        "",
        "",
        "trainer = ex.train.Trainer(",
        "    model,",
        "    loss,",
        "    optimizer,",
        *(f"    {option}," for option in options),
        ")",
        *(["trainer.resume()"] if draft.resumes else []),
        f"history = trainer.fit({given})",
    ]


def _own_loop(draft: Draft, epochs: int, is_compiled: bool) -> list[str]:
    amp = [f'with ex.amp.autocast("{draft.amp}"):'] if draft.amp else []
    value = [*amp, f"{'    ' if amp else ''}value = loss(model(*given), target)"]
    clip = [f"ex.clip_grad_norm(model.parameters(), {draft.clip_norm})"] if draft.clip_norm else []
    step = [
        "optimizer.zero_grad()",
        *value,
        "value.backward()",
        *clip,
        "optimizer.step()",
        *(["ema.update()"] if draft.has_ema else []),
        "return value",
    ]
    return [
        "",
        *([f'@ex.compile(backend="{BACKEND}")'] if is_compiled else []),
        "def take_step(target, *given):",
        *(f"    {line}" for line in step),
        "",
        "",
        *_epochs(draft, epochs, ["value = take_step(target, *given)"]),
    ]


def _gradients_loop(draft: Draft, epochs: int) -> list[str]:
    parts = draft.micro_batches
    synchronises = ", sync_batch_norm=True" if draft.is_synchronised else ""
    clip = [f"ex.clip_grad_norm(model.parameters(), {draft.clip_norm})"] if draft.clip_norm else []
    taken = [
        f"edges = [len(target) * i // {parts} for i in range({parts + 1})]",
        "cuts = [slice(a, b) for a, b in zip(edges, edges[1:]) if a < b]",
        "weights = [(cut.stop - cut.start) / len(target) for cut in cuts]",
        "compute = lambda i: loss(model(*(x[cuts[i]] for x in given)), target[cuts[i]])",
        "optimizer.zero_grad()",
        "losses = gradients(count, weights, compute)",
        "value = sum(w * v for w, v in zip(weights, losses))",
        *clip,
        "optimizer.step()",
        *(["ema.update()"] if draft.has_ema else []),
    ]
    made = f"gradients = ex.distributed.Gradients(model{synchronises})"
    return [made, *_epochs(draft, epochs, taken)]


def _epochs(draft: Draft, epochs: int, taken: list[str]) -> list[str]:
    """The loops over epochs and batches around the lines that take a step."""
    after = []
    if draft.schedule == "ReduceLROnPlateau":
        after = ["schedule.step(float(value))"]
    elif draft.schedule == "StepLR":
        after = ["schedule.step()"]
    return [
        "count = 0",
        f"for epoch in range({epochs}):",
        "    model.train()",
        "    for *given, target in loader:",
        "        given = [ex.asarray(x) for x in given]",
        "        target = ex.asarray(target)",
        *(f"        {line}" for line in taken),
        "        count += 1",
        "        change(count)",
        *(f"    {line}" for line in after),
    ]
