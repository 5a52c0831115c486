"""Steps of micro-batches on one worker, and the exchange between several that live in one process."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extensor as ex
from extensor.core.backward_pass import announce_gradients
from extensor.distributed.consistency import check_alike
from extensor.distributed.exchange import Exchange, Layout
from extensor.distributed.micro_batches import part_noise, part_seed, share
from extensor.distributed.workers import Workers, started


def test_a_leaf_is_announced_when_its_last_use_is_replayed() -> None:
    a, b, c = (ex.tensor([float(n)], requires_grad=True) for n in (2, 3, 5))
    result = ((a * b) * c + a * c).sum()
    told: list[tuple[Any, Any]] = []
    announce_gradients(result, lambda leaf, gradient: told.append((leaf, gradient)))
    wanted = ex.grad(((a * b) * c + a * c).sum(), [a, b, c])
    by_leaf = {id(leaf): gradient for leaf, gradient in told}
    assert len(told) == 3
    for leaf, gradient in zip((a, b, c), wanted, strict=True):
        assert by_leaf[id(leaf)].numpy() == gradient.numpy()
    assert told[0][0] is c  # a and b are used by an older node than any that uses c
    assert a.grad is None


def test_what_is_announced_early_is_whole() -> None:
    w = ex.tensor(np.ones(3, np.float32), requires_grad=True)
    last = ex.tensor(np.ones(3, np.float32), requires_grad=True)
    x = w * 2
    for _ in range(5):
        x = x * w
    told: list[Any] = []
    announce_gradients((x * last).sum(), lambda leaf, gradient: told.append((leaf, gradient)))
    assert told[0][0] is last
    assert told[1][0] is w
    assert told[1][1].numpy().tolist() == [12.0] * 3


def test_hooks_and_recomputation_count() -> None:
    w = ex.tensor([3.0], requires_grad=True)
    w.register_hook(lambda gradient: gradient * 10)
    told: dict[int, Any] = {}
    result = ex.checkpoint(lambda x: x * w, w) + w
    announce_gradients(result.sum(), lambda leaf, gradient: told.update({id(leaf): gradient}))
    assert told[id(w)].numpy().tolist() == [70.0]


def network() -> Any:
    nn = ex.nn
    return nn.Sequential(
        nn.Linear(6, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 3)
    )


X = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 24)


def part_of(model: Any, size: int) -> Callable[[int], Any]:
    def compute(number: int) -> Any:
        rows = slice(number * size, (number + 1) * size)
        return ex.cross_entropy(model(ex.asarray(X[rows])), ex.asarray(Y[rows]))

    return compute


def by_recursion(arrays: list[Any]) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    left = 1 << (len(arrays) - 1).bit_length() - 1
    return by_recursion(arrays[:left]) + by_recursion(arrays[left:])


@pytest.mark.parametrize("count", [1, 3, 4, 6])
@pytest.mark.parametrize("overlap", [True, False])
def test_gradients_and_statistics_are_those_of_a_plain_loop(count: int, overlap: bool) -> None:
    ex.random.manual_seed(5)
    model = network()
    gradients = ex.distributed.Gradients(model, overlap=overlap, bucket_bytes=512)
    weights = [1 / count] * count
    before = {name: x.numpy().copy() for name, x in model.named_buffers()}
    losses = gradients(7, weights, part_of(model, 24 // count))
    found = [parameter.grad.numpy().copy() for parameter in model.parameters()]
    after = {name: x.numpy().copy() for name, x in model.named_buffers()}

    parts, moved, values = [], [], []
    for number in range(count):
        for name, x in model.named_buffers():
            x._array[...] = before[name]
        ex.random.manual_seed(5)
        ex.random.set_state((part_seed(5, 7, number), 0))
        loss = part_of(model, 24 // count)(number)
        values.append(float(loss))
        scaled = loss * (1 / count)
        parts.append([x.numpy() for x in ex.grad(scaled, list(model.parameters()))])
        moved.append({name: x.numpy().astype("f8") for name, x in model.named_buffers()})
    assert losses == values
    for index, array in enumerate(found):
        wanted = by_recursion([each[index] for each in parts])
        assert array.tobytes() == wanted.tobytes()
    for name, start in before.items():
        mean = np.mean([each[name] for each in moved], axis=0)
        np.testing.assert_allclose(after[name], mean, rtol=1e-6)
        assert start.dtype == after[name].dtype


def test_the_size_of_buckets_changes_no_bit() -> None:
    found = set()
    for size in (1, 4096, 1 << 20):
        ex.random.manual_seed(5)
        model = network()
        ex.distributed.Gradients(model, bucket_bytes=size)(0, [0.5, 0.5], part_of(model, 12))
        found.add(b"".join(x.grad.numpy().tobytes() for x in model.parameters()))
    assert len(found) == 1


def test_a_parameter_without_gradient_has_none() -> None:
    used, spare = network(), ex.nn.Linear(2, 2)
    model = ex.nn.ModuleList([used, spare])
    frozen = used[0].bias
    frozen.requires_grad = False
    ex.distributed.Gradients(model)(0, [0.5, 0.5], part_of(used, 12))
    assert spare.weight.grad is None
    assert frozen.grad is None
    assert used[4].weight.grad is not None


def test_buffers_that_do_not_change_keep_their_bits() -> None:
    model = network()
    odd = np.array([-0.0, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    model.register_buffer("mask", ex.tensor(odd))
    ex.distributed.Gradients(model)(0, [1 / 3] * 3, part_of(model, 8))
    assert model.mask.numpy().tobytes() == odd.tobytes()
    assert model[1].num_batches_tracked.item() == 1


def test_chance_depends_on_seed_step_and_number_alone() -> None:
    def drawn(step: int, number: int) -> list[float]:
        with part_noise(ex.random.get_state()[0], step, number):
            return ex.random.rand(3).tolist()  # type: ignore[no-any-return]

    ex.random.manual_seed(1)
    state = ex.random.get_state()
    first = drawn(3, 2)
    assert ex.random.get_state() == state
    ex.random.rand(100)
    assert drawn(3, 2) == first
    others = [drawn(2, 3), drawn(3, 3), drawn(4, 2)]
    ex.random.manual_seed(2)
    others.append(drawn(3, 2))
    assert first not in others
    assert len({tuple(x) for x in others}) == 4


class Mail:
    """Messages in memory: what is sent under a tag waits until it is asked for."""

    def __init__(self) -> None:
        self.boxes: dict[tuple[int, int, int], deque[Any]] = defaultdict(deque)


class MailTransfer:
    def __init__(self, workers: MailWorkers) -> None:
        self.workers = workers
        self.wanted: list[tuple[int, int, Any]] = []

    def send(self, peer: int, tag: int, array: Any) -> None:
        self.workers.traffic.sent += array.nbytes
        self.workers.mail.boxes[self.workers.rank, peer, tag].append(array.copy())

    def receive(self, peer: int, tag: int, array: Any) -> None:
        self.wanted.append((peer, tag, array))

    def is_over(self) -> bool:
        left = []
        for peer, tag, array in self.wanted:
            box = self.workers.mail.boxes[peer, self.workers.rank, tag]
            if box:
                array[...] = box.popleft()
            else:
                left.append((peer, tag, array))
        self.wanted = left
        return not left

    def wait(self, what: str) -> None:
        assert self.is_over()

    def late(self) -> set[int]:
        return {peer for peer, _, _ in self.wanted}


class MailWorkers(Workers):
    def __init__(self, mail: Mail, rank: int, size: int) -> None:
        super().__init__(rank, size, 1.0)
        self.mail = mail

    def transfer(self) -> Any:
        return MailTransfer(self)

    def wait_until(self, is_over: Any, late: Any, what: str, patience: float = 1.0) -> None:
        assert is_over()


def finished(exchanges: list[Exchange]) -> None:
    """Let each move on in turn until none has anything left to wait for."""
    for _ in range(10):
        over = [exchange.poll() for exchange in exchanges]
        if all(over):
            return
    raise AssertionError("an exchange does not end")


SHAPES = [(3,), (2000,), (5, 7), (1500,), (1,)]


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 17),
    size=st.integers(1, 8),
    gathers=st.booleans(),
    bucket=st.sampled_from([1, 4096, 1 << 20]),
    seed=st.integers(0, 2**31),
)
def test_workers_get_the_sums_of_the_tree(
    count: int, size: int, gathers: bool, bucket: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    given_ = [[rng.normal(size=shape).astype("f4") for shape in SHAPES] for _ in range(count)]
    missing = (int(rng.integers(count)), int(rng.integers(len(SHAPES))))  # counts as zeros
    given_[missing[0]][missing[1]][...] = 0
    mail = Mail()
    layout = Layout(SHAPES, ["f4"] * len(SHAPES), bucket)
    exchanges = [Exchange(MailWorkers(mail, rank, size), layout) for rank in range(size)]
    for _ in range(2):  # a second step finds its buffers as the first has left them
        turns = [rank for rank in range(size) for _ in share(count, size, rank)]
        waiting = {rank: deque(share(count, size, rank)) for rank in range(size)}
        for exchange in exchanges:
            exchange.begin(count, gathers)
        for turn in rng.permutation(turns).tolist():
            number = waiting[turn].popleft()
            exchanges[turn].start(number)
            for index in rng.permutation(len(SHAPES)).tolist():
                if (number, index) != missing:
                    exchanges[turn].put(index, given_[number][index])
            exchanges[turn].end()
        finished(exchanges)
        for exchange in exchanges:
            exchange.finish()
        wanted = layout.rows()
        for index in range(len(SHAPES)):
            layout.view(wanted, index)[...] = by_recursion([each[index] for each in given_])
        for exchange in exchanges:
            if gathers:
                assert exchange.rows[0].tobytes() == wanted[0].tobytes()
            for row, begin, end in layout.chunks(size, exchange.workers.rank):
                own = exchange.rows[row][begin:end]
                assert own.tobytes() == wanted[row][begin:end].tobytes()


def test_whole_parts_of_the_tree_send_the_least_bytes() -> None:
    mail = Mail()
    layout = Layout([(1 << 20,)], ["f4"], 1 << 18)
    exchanges = [Exchange(MailWorkers(mail, rank, 4), layout) for rank in range(4)]
    for exchange in exchanges:
        exchange.begin(8)
        for number in share(8, 4, exchange.workers.rank):
            exchange.start(number)
            exchange.put(0, np.ones(1 << 20, "f4"))
            exchange.end()
    finished(exchanges)
    least = 2 * layout.nbytes * 3 // 4
    assert [exchange.workers.traffic.sent for exchange in exchanges] == [least] * 4


class Told(Workers):
    """Workers of whom the others say what is given."""

    def __init__(self, *others: bytes) -> None:
        super().__init__(0, 1 + len(others), 1.0)
        self.told = others

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return [data, *self.told]


def test_workers_that_differ_are_refused() -> None:
    check_alike(Told(b'{"data": "1"}'), {"data": "1"})
    text = "distributed: all workers must have the same data, got worker_0='1', worker_2='2'"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        check_alike(Told(b'{"data": "1"}', b'{"data": "2"}'), {"data": "1"})


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, 1),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, 4),
        ({"PMI_SIZE": "2"}, 2),
        ({"SLURM_STEP_NUM_TASKS": "3"}, 3),
        ({"OMPI_COMM_WORLD_SIZE": "1"}, 1),
        ({"OMPI_COMM_WORLD_SIZE": "4", "EXTENSOR_ALONE": "1"}, 1),
        ({"PMI_SIZE": "many"}, 1),
        ({"PMIX_RANK": "0"}, 0),
        ({"PMI_PORT": "host:1", "PMI_ID": "1"}, 0),
        ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "1"}, 1),
        ({"PMI_PORT": "host:1", "EXTENSOR_ALONE": "1"}, 1),
    ],
)
def test_launchers_say_how_many_they_started(environment: dict[str, str], count: int) -> None:
    assert started(environment) == count


def test_one_process_is_alone() -> None:
    workers = ex.distributed.workers()
    assert (workers.rank, workers.size, workers.is_first, workers.others) == (0, 1, True, [])
    assert workers.gather(b"x", "test") == [b"x"]
    assert workers.broadcast(b"y", "test") == b"y"


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="Gradients: model must be a Module"):
        ex.distributed.Gradients([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a step must have a micro-batch"):
        ex.distributed.Gradients(network())(0, [], lambda number: ex.zeros(()))
