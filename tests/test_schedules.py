"""Learning-rate schedules: pure functions of their counts, however they are stepped."""

from __future__ import annotations

from math import cos, pi
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import optim


def _optimizer(lr: float = 1.0, **options: Any) -> optim.SGD:
    return optim.SGD([ex.ones(1, requires_grad=True)], lr=lr, **options)


CURVES = [
    (lambda o: optim.StepLR(o, 3, 0.5), lambda t: 0.5 ** (t // 3)),
    (lambda o: optim.MultiStepLR(o, [7, 2], 0.5), lambda t: 0.5 ** ((t >= 2) + (t >= 7))),
    (lambda o: optim.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    (lambda o: optim.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 1 / (1 + t)),
    (
        lambda o: optim.CosineAnnealingLR(o, 5, 0.1),
        lambda t: 0.1 + 0.9 * (1 + cos(pi * t / 5)) / 2,
    ),
    (lambda o: optim.WarmupLR(o, 4, 0.2), lambda t: min(1.0, 0.2 + 0.8 * t / 4)),
    (
        lambda o: optim.WarmupCosineLR(o, 4, 9, 0.1),
        lambda t: t / 4 if t < 4 else 0.1 + 0.9 * (1 + cos(pi * min(1.0, (t - 4) / 5))) / 2,
    ),
]


@pytest.mark.parametrize("number", [np.float16(5), np.array(5, ">f2"), np.int8(5)], ids=repr)
def test_numbers_of_numpys_are_as_good_as_pythons(number: Any) -> None:
    """float16 would overflow, or round the rates to three digits."""
    for make in (
        lambda n: optim.CosineAnnealingLR(_optimizer(), n),
        lambda n: optim.CosineAnnealingLR(_optimizer(), T_max=n, eta_min=n),
        lambda n: optim.StepLR(_optimizer(), n, gamma=n),
        lambda n: optim.WarmupLR(_optimizer(), n),
    ):
        assert make(number).rates_at(70_001) == make(5).rates_at(70_001)


@pytest.mark.parametrize("row", range(len(CURVES)))
def test_curves(row: int) -> None:
    make, expected = CURVES[row]
    optimizer = _optimizer(2.0)
    schedule = make(optimizer)
    for t in range(12):
        assert optimizer.param_groups[0]["lr"] == pytest.approx(2 * expected(t) - _offset(row, t))
        assert schedule.get_last_lr() == schedule.rates_at(t)
        schedule.step()


def _offset(row: int, t: int) -> float:
    """The least rates of the cosines are absolute: they do not grow with the rate."""
    if row == 4:
        return 0.1 * (1 - (1 + cos(pi * t / 5)) / 2)
    if row == 6 and t >= 4:
        return 0.1 * (1 - (1 + cos(pi * min(1.0, (t - 4) / 5))) / 2)
    return 0.0


def test_order_does_not_matter() -> None:
    """Before or after the optimizer, one schedule before the other: only the counts count."""
    rates = []
    for order in ("ab", "ba"):
        optimizer = _optimizer()
        schedules = {"a": optim.StepLR(optimizer, 2, 0.5), "b": optim.WarmupLR(optimizer, 4)}
        for _ in range(3):
            for name in order:
                schedules[name].step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [0.5 * 0.75] * 2
    schedules["b"].remove()
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_owned_by_the_optimizer() -> None:
    optimizer = _optimizer()
    optim.ExponentialLR(optimizer, 0.5, automatic=True)
    by_hand = optim.WarmupLR(optimizer, 10, 1.0)
    for _ in range(3):
        optimizer.step()
    assert optimizer.param_groups[0]["lr"] == 0.125
    assert by_hand.count == 0


def test_groups_and_resume() -> None:
    def make() -> tuple[Any, Any]:
        optimizer = optim.SGD(
            [{"params": [ex.ones(1)], "lr": 1.0}, {"params": [ex.ones(1)], "lr": 3.0}]
        )
        return optimizer, optim.LambdaLR(optimizer, [lambda t: 0.5**t, lambda t: 1.0])

    optimizer, schedule = make()
    schedule.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.25, 3.0]
    other, resumed = make()
    other.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(schedule.state_dict())
    assert resumed.get_last_lr() == [0.25, 3.0]
    other.add_param_group({"params": [ex.ones(1)], "lr": 8.0})
    assert optim.StepLR(_optimizer(), 1, 0.5, last_epoch=1).get_last_lr() == [0.25]


def test_a_group_added_later_follows_too() -> None:
    optimizer = _optimizer()
    schedule = optim.LambdaLR(optimizer, lambda t: 0.5**t)
    optim.OneCycleLR(optimizer, 1.0, 4)
    optimizer.add_param_group({"params": [ex.ones(1)], "lr": 8.0})
    schedule.step()
    assert len(schedule.get_last_lr()) == 2
    assert schedule.rates_at(1) == [0.5 * group["initial_lr"] for group in optimizer.param_groups]


def test_a_list_must_have_a_rate_for_each_group() -> None:
    optimizer = _optimizer()
    schedule = optim.LambdaLR(optimizer, [lambda t: 0.5**t])
    optimizer.add_param_group({"params": [ex.ones(1)], "lr": 8.0})
    with pytest.raises(ValueError, match="LambdaLR: lr_lambda must have 2 values, got values=1"):
        schedule.step()
    with pytest.raises(ValueError, match="OneCycleLR: max_lr must have 2 values"):
        optim.OneCycleLR(optimizer, [1.0], 5)
    assert optimizer.schedules == [schedule]


def test_a_state_from_before_the_schedule() -> None:
    saved = _optimizer().state_dict()
    optimizer = optim.SGD([ex.ones(1)], lr=0.5)
    schedule = optim.StepLR(optimizer, 1, 0.5)
    optimizer.load_state_dict(saved)
    assert schedule.get_last_lr() == [1.0]
    schedule.step()
    assert schedule.get_last_lr() == [0.25]


def test_one_cycle() -> None:
    optimizer = _optimizer(momentum=0.5)
    schedule = optim.OneCycleLR(optimizer, 1.0, 10, pct_start=0.5, anneal_strategy="linear")
    rates, momenta = [], []
    for _ in range(12):
        rates.append(optimizer.param_groups[0]["lr"])
        momenta.append(optimizer.param_groups[0]["momentum"])
        schedule.step()
    assert rates[0] == pytest.approx(0.04)
    assert rates[4] == 1.0
    assert rates[9] == rates[11] == pytest.approx(4e-6)
    assert momenta[0] == 0.95
    assert momenta[4] == 0.85
    assert momenta[9] == pytest.approx(0.95)
    adam = optim.Adam([ex.ones(1)])
    optim.OneCycleLR(adam, 1.0, epochs=2, steps_per_epoch=5, three_phase=True)
    assert adam.param_groups[0]["betas"] == (0.95, 0.999)


def test_plateau() -> None:
    optimizer = _optimizer()
    schedule = optim.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1, min_lr=0.2)
    seen = []
    for value in [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, ex.tensor(0.5), 0.5, 0.5]:
        schedule.step(value)
        seen.append(optimizer.param_groups[0]["lr"])
    assert seen == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2]
    other = optim.ReduceLROnPlateau(_optimizer(), factor=0.5, patience=1, cooldown=1, min_lr=0.2)
    other.load_state_dict(schedule.state_dict())
    assert other.get_last_lr() == [0.2]
    assert other.best == 0.5


ERRORS = [
    (
        lambda: optim.StepLR(_optimizer(), 0),
        "StepLR: step_size must be greater than 0, got step_size=0",
    ),
    (
        lambda: optim.CosineAnnealingLR(_optimizer(), 0),
        "CosineAnnealingLR: T_max must be greater than 0, got T_max=0",
    ),
    (
        lambda: optim.WarmupLR(_optimizer(), 0),
        "WarmupLR: warmup_steps must be greater than 0, got warmup_steps=0",
    ),
    (
        lambda: optim.WarmupCosineLR(_optimizer(), 5, 5),
        "WarmupCosineLR: warmup_steps must be 0 or more and less than total_steps, "
        "got warmup_steps=5, total_steps=5",
    ),
    (
        lambda: optim.LambdaLR(_optimizer(), []),
        "LambdaLR: lr_lambda must have 1 values, got values=0",
    ),
    (
        lambda: optim.OneCycleLR(_optimizer(), 1.0),
        "OneCycleLR: total_steps must be greater than 0, got total_steps=0",
    ),
    (
        lambda: optim.OneCycleLR(_optimizer(), 1.0, 5, pct_start=2),
        "OneCycleLR: pct_start must be in [0, 1], got pct_start=2",
    ),
    (
        lambda: optim.OneCycleLR(_optimizer(), 1.0, 5, anneal_strategy="sin"),
        "OneCycleLR: anneal_strategy must be 'cos' or 'linear', got anneal_strategy='sin'",
    ),
    (
        lambda: optim.OneCycleLR(_optimizer(), [1.0, 2.0], 5),
        "OneCycleLR: max_lr must have 1 values, got values=2",
    ),
    (
        lambda: optim.LinearLR(_optimizer(), 0.0),
        "LinearLR: start_factor must be above 0 and at most 1, got start_factor=0.0",
    ),
    (
        lambda: optim.LinearLR(_optimizer(), 0.5, 1.5),
        "LinearLR: end_factor must be in [0, 1], got end_factor=1.5",
    ),
    (
        lambda: optim.ConstantLR(_optimizer(), 1.5),
        "ConstantLR: factor must be in [0, 1], got factor=1.5",
    ),
    (
        lambda: optim.ConstantLR(_optimizer(), total_iters=-1),
        "ConstantLR: total_iters must be 0 or greater, got total_iters=-1",
    ),
    (
        lambda: optim.PolynomialLR(_optimizer(), power=-1.0),
        "PolynomialLR: power must be 0 or greater, got power=-1.0",
    ),
    (
        lambda: optim.MultiplicativeLR(_optimizer(), lambda count: 0.5).rates_at(2**30),
        "MultiplicativeLR: count must be at most 10000000, as all factors are multiplied, "
        "got count=1073741824",
    ),
    (
        lambda: optim.CosineAnnealingWarmRestarts(_optimizer(), 2, 0),
        "CosineAnnealingWarmRestarts: T_mult must be 1 or greater, got T_mult=0",
    ),
    (
        lambda: optim.CosineAnnealingWarmRestarts(_optimizer(), 2).step(-0.5),
        "CosineAnnealingWarmRestarts: epoch must be 0 or greater, got epoch=-0.5",
    ),
    (
        lambda: optim.CyclicLR(optim.Adagrad([ex.ones(1)]), 0.1, 0.2),
        "CyclicLR: with cycle_momentum groups must have momentum or betas, got optimizer='Adagrad'",
    ),
    (
        lambda: optim.CyclicLR(_optimizer(), 0.1, 0.2, mode="square"),
        "CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', got mode='square'",
    ),
    (
        lambda: optim.SequentialLR(o := _optimizer(), _pair(o), [1, 2]),
        "SequentialLR: there must be one milestone between any two schedulers, "
        "got schedulers=2, milestones=2",
    ),
    (
        lambda: optim.SequentialLR(o := _optimizer(), _pair(o), [0]),
        "SequentialLR: milestones must increase from 1 on, got milestones=[0]",
    ),
    (
        lambda: optim.SequentialLR(_optimizer(), _pair(_optimizer()), [1]),
        "SequentialLR: schedulers must be schedules of the optimizer, each given once, got index=0",
    ),
    (
        lambda: optim.ChainedScheduler([optim.ReduceLROnPlateau(_optimizer())]),
        "ChainedScheduler: schedulers must follow a count, not a metric, got index=0",
    ),
    (
        lambda: optim.ChainedScheduler([]),
        "ChainedScheduler: there must be a schedule, got schedulers=0",
    ),
    (
        lambda: optim.ReduceLROnPlateau(_optimizer(), "best"),
        "ReduceLROnPlateau: mode must be 'min' or 'max', got mode='best'",
    ),
    (
        lambda: optim.ReduceLROnPlateau(_optimizer(), threshold_mode="x"),
        "ReduceLROnPlateau: threshold_mode must be 'rel' or 'abs', got threshold_mode='x'",
    ),
    (
        lambda: optim.ReduceLROnPlateau(_optimizer(), factor=1.0),
        "ReduceLROnPlateau: factor must be less than 1, got factor=1.0",
    ),
    (
        lambda: optim.ReduceLROnPlateau(_optimizer()).step(),
        "ReduceLROnPlateau: step needs the metric, got metrics=None",
    ),
    (
        lambda: optim.ExponentialLR(_optimizer(), 0.5).load_state_dict({}),
        "ExponentialLR.load_state_dict: keys must be ['count'], got keys=[]",
    ),
]


def _pair(optimizer: Any) -> list[optim.Schedule]:
    return [optim.LinearLR(optimizer, 0.5), optim.ExponentialLR(optimizer, 0.5)]


def test_a_sequence_steps_its_schedules_and_no_one_else_does() -> None:
    optimizer = _optimizer(momentum=0.9)
    warmup = optim.ConstantLR(optimizer, 0.5, 10)
    cycle = optim.OneCycleLR(optimizer, 2.0, 4, pct_start=0.5, anneal_strategy="linear")
    schedule = optim.SequentialLR(optimizer, [warmup, cycle], [3], automatic=True)
    assert optimizer.schedules == [schedule]
    expected = optim.OneCycleLR(_optimizer(), 2.0, 4, pct_start=0.5, anneal_strategy="linear")
    for count in range(7):
        rate = 0.5 if count < 3 else expected.rates_at(count - 3)[0]
        assert schedule.get_last_lr() == [rate]
        optimizer.step()
    assert cycle.count == 4
    assert optimizer.param_groups[0]["momentum"] == pytest.approx(0.95)


def test_composed_schedules_resume() -> None:
    for make in (
        lambda o: optim.SequentialLR(o, _pair(o), [2]),
        lambda o: optim.ChainedScheduler(_pair(o)),
        lambda o: optim.CosineAnnealingWarmRestarts(o, 3, 2),
        lambda o: optim.CyclicLR(o, 0.1, 0.4, 3),
        lambda o: optim.MultiplicativeLR(o, lambda count: 1 / count),
    ):
        schedule, other = (make(_optimizer(momentum=0.5)) for _ in range(2))
        for _ in range(4):
            schedule.step()
        other.load_state_dict(schedule.state_dict())
        schedule.step()
        other.step()
        assert schedule.get_last_lr() == other.get_last_lr()


def test_restarts_resume_within_an_epoch() -> None:
    schedule, other = (
        optim.CosineAnnealingWarmRestarts(_optimizer(), 2, eta_min=0.1) for _ in range(2)
    )
    schedule.step(2.5)
    other.load_state_dict(schedule.state_dict())
    assert other.get_last_lr() == schedule.get_last_lr() == [pytest.approx(0.1 + 0.9 * 0.853553391)]
    with pytest.raises(ValueError, match=r"fraction must be in \[0, 1\), got fraction=1.5"):
        other.load_state_dict({"count": 1, "fraction": 1.5})


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_error_texts(row: int) -> None:
    call, text = ERRORS[row]
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("mode", "threshold_mode", "metrics", "reductions"),
    [
        # Below -1 * (1 - 0.1) = -0.9 is an improvement, though it is none.
        ("min", "rel", [-1.0, -0.95, -0.94, -0.93], 0),
        ("min", "abs", [-1.0, -0.95, -0.94, -0.93], 1),
        ("min", "rel", [1.0, 0.95, 0.94, 0.93], 1),
        ("max", "rel", [-1.0, -1.05, -1.06, -1.07], 0),
        ("max", "abs", [-1.0, -1.05, -1.06, -1.07], 1),
        ("max", "rel", [1.0, 1.05, 1.06, 1.07], 1),
    ],
)
def test_plateau_of_negative_metrics(
    mode: str, threshold_mode: str, metrics: list[float], reductions: int
) -> None:
    """As in PyTorch: a relative threshold multiplies the best value, whatever its sign."""
    schedule = optim.ReduceLROnPlateau(
        _optimizer(), mode, patience=2, threshold=0.1, threshold_mode=threshold_mode
    )
    for metric in metrics:
        schedule.step(metric)
    assert schedule.reductions == reductions


def test_powers_of_whole_numbers_take_no_time() -> None:
    optimizer = optim.SGD([ex.ones(2, requires_grad=True)], lr=1.0)
    assert optim.StepLR(optimizer, 1, gamma=2).rates_at(2**40) == [float("inf")]
    assert optim.ExponentialLR(optimizer, gamma=1).rates_at(2**40) == [1.0]
