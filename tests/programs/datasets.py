"""Data of drawn programs: arrays, data sets, samplers and transforms, as text."""

from __future__ import annotations

from random import Random

from programs.draft import Draft


def draw_data(draft: Draft, random: Random) -> None:
    """Write ``inputs``, ``targets`` and a ``loader``; the model has said what it takes."""
    draft.batch_size = random.choice([6, 8, 8])
    rest = random.choice([0, 2, 4, 4, 5])
    if draft.has_batch_norm and random.random() < 0.8:
        rest = random.choice([0, draft.batch_size])  # parts of one sample have no variance
    draft.samples = 2 * draft.batch_size + rest
    draft.micro_batches = random.choice([3, 3, 4])
    if draft.has_batch_norm and draft.batch_size // draft.micro_batches < 2:
        draft.micro_batches = 3
    shape = f"({draft.samples}, {draft.input_shape})"
    if draft.inputs == "tokens":
        inputs = f"rng.integers(0, 9, {shape})"
    else:
        inputs = f'rng.normal(size={shape}).astype("{draft.dtype}")'
    if draft.is_classification:
        targets = f"rng.integers(0, 4, {draft.samples})"
    else:
        targets = f'rng.normal(size=({draft.samples}, 4)).astype("{draft.dtype}")'
    draft.data = [
        "rng = np.random.default_rng(0)",
        f"inputs = {inputs}",
        f"targets = {targets}",
    ]
    kinds = [_arrays, _arrays, _shuffled, _sampler, _own_sampler, _batches]
    if draft.inputs == "normal":
        kinds += [_dataset, _dataset, _transform, _transform]
    random.choice(kinds)(draft, random)


def _loader(draft: Draft, *options: str, dataset: str = "ArrayDataset(inputs, targets)") -> None:
    words = ", ".join([dataset, "BATCH_SIZE", *options])
    draft.data.append(f"loader = DataLoader({words})")


def _arrays(draft: Draft, random: Random) -> None:
    draft.note("arrays")
    _loader(draft, "shuffle=True")
    draft.fit_data = "arrays"


def _shuffled(draft: Draft, random: Random) -> None:
    draft.note("loader")
    options = ["shuffle=True", "generator=ex.random.Generator(1)"]
    options += random.choice([[], ["drop_last=True"], ["workers=2"]])
    _loader(draft, *options)


def _sampler(draft: Draft, random: Random) -> None:
    kind = random.choice(["RandomSampler", "WeightedSampler"])
    draft.note(kind)
    if kind == "RandomSampler":
        sampler = f"ex.data.RandomSampler({draft.samples}, replacement=True)"
    else:
        sampler = f"ex.data.WeightedSampler(np.arange(1, {draft.samples + 1}), {draft.samples})"
    _loader(draft, f"sampler={sampler}")


def _own_sampler(draft: Draft, random: Random) -> None:
    source = random.choice(["generator", "np.random", "epochs"])
    draft.note(f"own sampler ({source})")
    order = {
        "generator": "ex.random.permutation(len(self), generator=generator).numpy()",
        "np.random": "np.random.permutation(len(self))",
        "epochs": "np.roll(np.arange(len(self)), self.epoch)",
    }[source]
    draft.has_foreign_state |= source != "generator"
    draft.data += [
        "",
        "",
        "class Order:",
        "    epoch = 0",
        "",
        "    def __len__(self):",
        f"        return {draft.samples}",
        "",
        "    def order(self, generator):",
        "        self.epoch += 1",
        f"        return {order}",
        "",
        "",
    ]
    _loader(draft, "sampler=Order()")


def _batches(draft: Draft, random: Random) -> None:
    draft.note("list of batches")
    draft.data += [
        "loader = [",
        "    (inputs[i : i + BATCH_SIZE], targets[i : i + BATCH_SIZE])",
        f"    for i in range(0, {draft.samples}, BATCH_SIZE)",
        "]",
    ]


def _dataset(draft: Draft, random: Random) -> None:
    source, line = random.choice(
        [
            ("pure", "x = inputs[index]"),
            ("index", "x = inputs[index] + np.random.default_rng(index).normal()"),
            ("np.random", "x = inputs[index] + 0.1 * np.random.normal()"),
            ("random", "x = inputs[index] * random.uniform(0.5, 1.5)"),
            ("own NumPy generator", "x = inputs[index] + 0.1 * self.rng.normal()"),
            ("ex.random", "x = inputs[index] + 0.1 * float(ex.random.randn(1)[0])"),
        ]
    )
    draft.note(f"own data set ({source})")
    draft.has_foreign_state |= source not in ("pure", "index")
    own = ["    rng = np.random.default_rng(5)", ""] if "self.rng" in line else []
    draft.data += [
        "",
        "",
        "class Samples:",
        *own,
        "    def __len__(self):",
        "        return len(inputs)",
        "",
        "    def __getitem__(self, index):",
        f"        {line}",
        f'        return x.astype("{draft.dtype}"), targets[index]',
        "",
        "",
    ]
    _loader(draft, "shuffle=True", *random.choice([[], [], ["workers=2"]]), dataset="Samples()")


def _transform(draft: Draft, random: Random) -> None:
    source, noise = random.choice(
        [
            ("generator", "ex.random.randn(*x.shape, generator=generator).numpy()"),
            ("generator", "ex.random.randn(*x.shape, generator=generator).numpy()"),
            ("np.random", "np.random.normal(size=x.shape)"),
            ("ex.random", "ex.random.randn(*x.shape).numpy()"),
        ]
    )
    draft.note(f"transform ({source})")
    draft.has_foreign_state |= source != "generator"
    draft.data += [
        "",
        "",
        "def shaken(batch, generator):",
        "    x, *others = batch",
        f'    return (x + 0.1 * {noise}.astype("{draft.dtype}"), *others)',
        "",
        "",
    ]
    _loader(draft, "shuffle=True", "transform=shaken")
