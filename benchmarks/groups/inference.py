"""Inference on one sample, against libraries made for it: the same weights, the same outputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import Any

from benchmarks.inference.networks import NETWORKS, Network
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, RUNTIMES, Call, Measure, Notes


def measures(libraries: Libraries, quick: bool, notes: Notes) -> Iterator[Measure]:
    libraries.include(("onnx", *RUNTIMES))
    for name in ("onnx", *RUNTIMES):
        if name in libraries.absent:
            notes.skip(f"{name} left out: {libraries.absent[name]}")
    runtimes = [name for name in RUNTIMES if name in libraries and "onnx" in libraries]
    for network in NETWORKS[:1] if quick else NETWORKS:
        yield Measure(
            "inference",
            network.name,
            network.size,
            {
                OURS: partial(_module, libraries, OURS, network),
                "torch": partial(_module, libraries, "torch", network),
                **{name: partial(_graph, libraries, name, network) for name in runtimes},
            },
        )


def _our_module(libraries: Libraries, network: Network) -> Any:
    ex = libraries[OURS]
    ex.random.manual_seed(0)
    return network.build(ex).eval()


def _module(libraries: Libraries, label: str, network: Network) -> Call:
    module = _our_module(libraries, network)
    if label == "torch":
        torch, weights = libraries["torch"], module.state_dict()
        module = network.build(torch).eval()
        module.load_state_dict({key: torch.tensor(weights[key].numpy()) for key in weights})
    return partial(module, libraries.array(label, network.input()))


def _graph(libraries: Libraries, label: str, network: Network) -> Call:
    from benchmarks.inference.graphs import serialized

    x, module = network.input(), _our_module(libraries, network)
    model = serialized(module, x, module(libraries.array(OURS, x)).shape)
    run = {"onnxruntime": _onnxruntime, "openvino": _openvino}[label]
    return run(libraries[label], model, x, libraries.threads)


def _onnxruntime(library: Any, model: bytes, x: Any, threads: int) -> Call:
    options = library.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = library.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})[0]


def _openvino(library: Any, model: bytes, x: Any, threads: int) -> Call:
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    # As precise as the others: on some processors it would compute in bfloat16.
    options["INFERENCE_PRECISION_HINT"] = "f32"
    core = library.Core()
    compiled = core.compile_model(core.read_model(BytesIO(model)), "CPU", options)
    request = compiled.create_infer_request()
    return lambda: request.infer({0: x}, share_inputs=True)[0]
