"""Steps on several workers: parameters that change while a trainer fits, and loops with ``Gradients``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpi.running import Outcome
from mpi.test_workers import PATIENCE, programs
from mpi.test_workers import pytestmark as pytestmark  # skipped where those are


@pytest.fixture(autouse=True)
def deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTENSOR_DEADLINE", f"{PATIENCE}")


def lines(outcome: Outcome, word: str) -> list[str]:
    """What each worker printed after ``word``."""
    assert outcome.code == 0, outcome.text
    return re.findall(rf"{word} (.*)", outcome.text)


CHANGING = """
import hashlib
import numpy as np
import extensor as ex

class Changing(ex.train.Callback):
    def step_ended(self, trainer, record):
        model, optimizer = trainer.model, trainer.optimizer
        if trainer.step in (2, 5):
            for parameter in model[0].parameters():
                parameter.requires_grad = trainer.step == 2
        if trainer.step == 3:
            optimizer.add_param_group({"params": list(model[4].parameters()), "lr": 0.02})
        if trainer.step in (4, 6):
            for parameter in model[2].parameters():
                parameter.requires_grad = trainer.step == 6

def trained(loss, **options):
    ex.random.manual_seed(3)
    nn = ex.nn
    model = nn.Sequential(
        nn.Linear(5, 40), nn.Dropout(0.1), nn.Linear(40, 60), nn.Tanh(), nn.Linear(60, 3)
    )
    for parameter in model[0].parameters():
        parameter.requires_grad = False
    optimizer = ex.optim.Adam([*model[0].parameters(), *model[2].parameters()], lr=0.01)
    trainer = ex.train.Trainer(
        model, loss, optimizer, micro_batches=4, clip_norm=0.1, callbacks=[Changing()], **options
    )
    trainer.fit(x, y, epochs=2, batch_size=6)
    state = trainer.take_step.state_dict()
    found = hashlib.sha256(repr(trainer.history[-1]["loss"]).encode())
    for part in ("model", "optimizer"):
        for name, value in state[part].items():
            found.update(name.encode() + np.asarray(value).tobytes())
    return found.hexdigest()[:16]

x = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
y = np.random.default_rng(1).integers(0, 3, 24)
y[[1, 4, 6, 7, 8, 9, 10, 11]] = -100
print("digest mean", trained(ex.cross_entropy), flush=True)
print("digest mean", trained(ex.cross_entropy, shard_optimizer=True), flush=True)
weighted = ex.nn.CrossEntropyLoss([0.3, 0.7, 1.9])
print("digest weighted", trained(weighted, shard_optimizer=True), flush=True)
print("digest sum", trained(ex.nn.CrossEntropyLoss(reduction="sum")), flush=True)
"""


def test_what_becomes_trainable_has_the_same_bits_for_any_number_of_workers(tmp_path: Path) -> None:
    """With losses that weigh their parts by their targets, of which some parts have none."""
    digests = []
    for workers in (0, 2, 3):
        found = lines(programs(workers, tmp_path, CHANGING), "digest")
        assert len(found) == 4 * max(workers, 1)
        digests += found
    assert len(set(digests)) == 3


ONE_WORKER_CHANGES = """
import numpy as np
import extensor as ex

class Freezing(ex.train.Callback):
    only_first = True

    def step_ended(self, trainer, record):
        trainer.model[0].bias.requires_grad = trainer.step != 2

ex.random.manual_seed(3)
model = ex.nn.Sequential(ex.nn.Linear(5, 4), ex.nn.Linear(4, 3))
optimizer = ex.optim.Adam(model.parameters(), lr=0.01)
x = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
trainer = ex.train.Trainer(
    model, ex.mse_loss, optimizer, micro_batches=4, shard_optimizer=True, callbacks=[Freezing()]
)
try:
    trainer.fit(x, x[:, :3], epochs=2, batch_size=6)
except ValueError as error:
    print("error", trainer.step, error, flush=True)
"""


def test_a_worker_that_trains_other_parameters_is_named(tmp_path: Path) -> None:
    found = lines(programs(2, tmp_path, ONE_WORKER_CHANGES), "error")
    assert len(found) == 2
    for line in found:
        assert re.match(
            r"2 distributed: all workers must have the same trainable parameters, but worker 1 of 2 "
            r"\(.*\) differs",
            line,
        ), line


LOOP = """
import numpy as np
import extensor as ex

workers = ex.distributed.workers()
ex.random.manual_seed(workers.rank)
model = ex.nn.Sequential(
    ex.nn.Linear(4, 6), ex.nn.BatchNorm1d(6), ex.nn.Dropout(0.2), ex.nn.Linear(6, 2)
)
model[1].running_mean[0] = float(workers.rank)
gradients = ex.distributed.Gradients(model)
optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
x = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)

def compute(number):
    loss = (model(ex.asarray(x[3 * number : 3 * number + 3])) ** 2).mean()
    return loss * np.nan if step == 9 and number == 3 else loss

for step in range(3):
    optimizer.zero_grad()
    gradients(step, [0.25] * 4, compute, order=np.arange(12))
    optimizer.step()
tensors = [*model.parameters(), *model.buffers()]
print("bits", b"".join(t.numpy().tobytes() for t in tensors).hex()[-400:], flush=True)

def refused(*arguments, **options):
    try:
        gradients(*arguments, compute, **options)
    except (ValueError, FloatingPointError) as error:
        print("refused", type(error).__name__, error, flush=True)

is_last = workers.rank == workers.size - 1
if workers.size > 1:
    refused(3 + is_last, [0.25] * 4)
    refused(3, [0.25] * (4 - 2 * is_last))
    refused(3, [0.25, 0.25, 0.25, 0.25 - 0.125 * is_last])
    refused(3, [0.25] * 4, order=np.arange(12) + is_last)
    if not is_last:
        ex.random.manual_seed(7)
    refused(3, [0.25] * 4)
    ex.random.manual_seed(7)
step = 9
refused(9, [0.25] * 4)
step = 10
optimizer.zero_grad()
print("then", gradients(10, [0.25] * 4, compute)[0] > 0, flush=True)
"""


def test_a_loop_begins_with_one_model_and_its_steps_are_compared(tmp_path: Path) -> None:
    alone = programs(0, tmp_path, LOOP)
    (bits,) = lines(alone, "bits")
    for workers in (2, 3):
        outcome = programs(workers, tmp_path, LOOP)
        assert lines(outcome, "bits") == [bits] * workers
        assert lines(outcome, "then") == ["True"] * workers
        last = rf"but worker {workers - 1} of {workers} \(.*\) differs"
        same = "ValueError distributed: all workers must have the same"
        wanted = [
            f"{same} step, {last}",
            f"{same} number of parts, {last}",
            f"{same} weights of the parts, {last}",
            f"{same} order of samples, {last}",
            f"{same} seed of random numbers, {last}",
            r"FloatingPointError Gradients: the loss of part 3 must be finite, got loss=nan "
            rf"\(step 9, worker {workers - 1} of {workers} \(.*\)\)",
        ]
        found = lines(outcome, "refused")
        assert len(found) == workers * len(wanted), outcome.text
        for text in wanted:
            assert sum(bool(re.match(text, line)) for line in found) == workers, (text, found)


READS_AN_ITERATOR = """
import itertools
import extensor as ex

factors = itertools.cycle([1.0, 0.5, 2.0])
model = ex.nn.Linear(2, 1)
gradients = ex.distributed.Gradients(model)
try:
    gradients(0, [0.25] * 4, lambda number: next(factors) * model(ex.ones((3, 2))).mean())
except ValueError as error:
    print("error", error, flush=True)
"""


def test_parts_that_read_an_iterator_are_refused(tmp_path: Path) -> None:
    assert lines(programs(0, tmp_path, READS_AN_ITERATOR), "error") == []
    errors = lines(programs(2, tmp_path, READS_AN_ITERATOR), "error")
    text = "Gradients: on several workers a part must not read an iterator"
    assert [error.startswith(text) for error in errors] == [True, True]


OTHER_DATA = """
import numpy as np
import extensor as ex

rank = ex.distributed.workers().rank
x = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
model = ex.nn.Linear(4, 2)
gradients = ex.distributed.Gradients(model)

def compute(number):
    return (model(ex.asarray(x[3 * number : 3 * number + 3])) ** 2).mean()

for step in range(4):
    if step == 3:
        x[0] += rank
    try:
        gradients(step, [0.25] * 4, compute)
        print("taken", step, flush=True)
    except ValueError as error:
        print("error", error, flush=True)
"""


def test_workers_that_read_other_data_are_refused(tmp_path: Path) -> None:
    """The losses of the first part are compared in the first, second and fourth call."""
    outcome = programs(2, tmp_path, OTHER_DATA)
    assert sorted(lines(outcome, "taken")) == ["0", "0", "1", "1", "2", "2"]
    text = "Gradients: all workers must read the same data, but their losses of part 0 differ"
    assert [error.startswith(text) for error in lines(outcome, "error")] == [True, True]
    assert lines(programs(0, tmp_path, OTHER_DATA), "error") == []


OTHER_MODEL = """
import extensor as ex

model = ex.nn.Linear(4, 2 + ex.distributed.workers().rank)
try:
    ex.distributed.Gradients(model)
except ValueError as error:
    print("error", error, flush=True)
"""


def test_another_model_is_refused(tmp_path: Path) -> None:
    found = lines(programs(2, tmp_path, OTHER_MODEL), "error")
    text = "distributed: all workers must have the same tensors in the model, got worker_0="
    assert [line.startswith(text) for line in found] == [True, True]


ADVERSARIES = """
import hashlib
import numpy as np
import extensor as ex

nn = ex.nn
ex.random.manual_seed(0)
maker = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
critic = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
of_maker = ex.distributed.Gradients(maker, modules=[critic])
of_critic = ex.distributed.Gradients(critic, modules=[maker])
optimizers = [ex.optim.Adam(model.parameters()) for model in (maker, critic)]
x = np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32)

def criticise(number):
    fake = maker(ex.random.randn(6, 2)).detach()
    return (critic(ex.asarray(x[6 * number : 6 * number + 6])) - critic(fake)).mean()

for step in range(3):
    for optimizer in optimizers:
        optimizer.zero_grad()
    of_critic(step, [0.25] * 4, criticise)
    optimizers[1].step()
    of_maker(step, [0.25] * 4, lambda number: critic(maker(ex.random.randn(6, 2))).mean())
    optimizers[0].step()
tensors = [x for model in (maker, critic) for x in (*model.parameters(), *model.buffers())]
print("bits", hashlib.sha256(b"".join(x.numpy().tobytes() for x in tensors)).hexdigest(), flush=True)
"""


def test_batch_norm_of_modules_beside_the_model_is_averaged(tmp_path: Path) -> None:
    (bits,) = lines(programs(0, tmp_path, ADVERSARIES), "bits")
    for workers in (2, 3):
        assert lines(programs(workers, tmp_path, ADVERSARIES), "bits") == [bits] * workers


DRIFTING = """
import numpy as np
import extensor as ex

ex.random.manual_seed(0)
workers = ex.distributed.workers()
model = ex.nn.Linear(4, 1)
gradients = ex.distributed.Gradients(model)
optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
x = ex.asarray(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))
try:
    for step in range(100):
        if step == 40 and workers.rank == 1:
            optimizer.param_groups[0]["lr"] = 0.01
        optimizer.zero_grad()
        gradients(step, [0.25] * 4, lambda i: (model(x[2 * i : 2 * i + 2]) ** 2).mean())
        optimizer.step()
except ValueError as error:
    print("error", step, error, flush=True)
"""


def test_a_worker_whose_parameters_drift_is_named(tmp_path: Path) -> None:
    found = lines(programs(3, tmp_path, DRIFTING), "error")
    assert len(found) == 3
    text = r"63 distributed: all workers must have the same parameters, but worker 1 of 3 \(.*\)"
    assert all(re.match(text, line) for line in found), found


OWN_SUM = """
import numpy as np
import extensor as ex

class Data:
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return np.full(3, index, np.float32), np.full(1, index % 3, np.float32)

for accumulate in (1, 2):
    ex.random.manual_seed(0)
    model = ex.nn.Linear(3, 1)
    trainer = ex.train.Trainer(
        model,
        lambda output, target: ((output - target) ** 2).sum(),
        ex.optim.SGD(model.parameters(), lr=0.001),
        micro_batches=4,
        accumulate=accumulate,
        callbacks=[],
    )
    try:
        trainer.fit(Data(), epochs=1, batch_size=4, shuffle=False)
    except ValueError as error:
        print("error", trainer.step, error, flush=True)
"""


def test_the_verdict_on_a_loss_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    text = "0 fit: loss must be a mean over the samples to be computed in 4 parts (it is a sum"
    errors = lines(programs(0, tmp_path, OWN_SUM), "error")
    assert [error.startswith(text) for error in errors] == [True, True]
    assert sorted(lines(programs(4, tmp_path, OWN_SUM), "error")) == sorted(errors * 4)
