"""Ways to hold a number that a step reads and a callback changes between two steps."""

from __future__ import annotations

from typing import NamedTuple


class Holder(NamedTuple):
    """The lines that make it, the expression that reads it, and the lines that write ``value``.

    A holder that changes by itself, with each read or by a schedule, has no lines to write.
    ``after_model`` says that the lines need the model and the optimizer.
    """

    setup: str
    read: str
    write: str = ""
    after_model: bool = False
    counts_reads: bool = False


HOLDERS = {
    "global": Holder("beta = 1.0", "beta", "global beta\nbeta = value"),
    "argparse": Holder("args = argparse.Namespace(beta=1.0)", "args.beta", "args.beta = value"),
    "namespace": Holder("cfg = types.SimpleNamespace(beta=1.0)", "cfg.beta", "cfg.beta = value"),
    "dict": Holder(
        'options = {"loss": {"beta": 1.0}}',
        'options["loss"]["beta"]',
        'options["loss"]["beta"] = value',
    ),
    "list": Holder("betas = [1.0]", "betas[0]", "betas[0] = value"),
    "dataclass": Holder(
        "@dataclasses.dataclass\nclass Options:\n    beta: float = 1.0\n\n\noptions = Options()",
        "options.beta",
        "options.beta = value",
    ),
    "slots": Holder(
        'class Options:\n    __slots__ = ("beta",)\n\n\noptions = Options()\noptions.beta = 1.0',
        "options.beta",
        "options.beta = value",
    ),
    "property": Holder(
        "class Options:\n    half = 0.5\n\n    @property\n    def beta(self):\n"
        "        return 2 * self.half\n\n\noptions = Options()",
        "options.beta",
        "options.half = value / 2",
    ),
    "class attribute": Holder(
        "class Options:\n    beta = 1.0", "Options.beta", "Options.beta = value"
    ),
    "closure": Holder(
        "def make_beta():\n    beta = 1.0\n\n    def put(value):\n        nonlocal beta\n"
        "        beta = value\n\n    return lambda: beta, put\n\n\nget_beta, put_beta = make_beta()",
        "get_beta()",
        "put_beta(value)",
    ),
    "function attribute": Holder(
        "def scaled(x):\n    return x * scaled.beta\n\n\nscaled.beta = 1.0",
        "scaled(1.0)",
        "scaled.beta = value",
    ),
    "default argument": Holder(
        'def get_beta(options={"beta": 1.0}):\n    return options["beta"]',
        "get_beta()",
        'get_beta.__defaults__[0]["beta"] = value',
    ),
    "computed name": Holder(
        'cfg = types.SimpleNamespace(beta=1.0)\nwhich = "be"',
        'getattr(cfg, which + "ta")',
        "cfg.beta = value",
    ),
    "deque": Holder("last = collections.deque([1.0], maxlen=1)", "last[0]", "last.append(value)"),
    "ChainMap": Holder(
        'options = collections.ChainMap({}, {"beta": 1.0})',
        'options["beta"]',
        'options["beta"] = value',
    ),
    "UserDict": Holder(
        "options = collections.UserDict(beta=1.0)", 'options["beta"]', 'options["beta"] = value'
    ),
    "mapping proxy": Holder(
        'inner = {"beta": 1.0}\noptions = types.MappingProxyType(inner)',
        'options["beta"]',
        'inner["beta"] = value',
    ),
    "array.array": Holder('betas = array.array("d", [1.0])', "betas[0]", "betas[0] = value"),
    "NumPy array": Holder("betas = np.ones(1)", "float(betas[0])", "betas[0] = value"),
    "tensor": Holder("beta = ex.ones(())", "beta", "beta[...] = value"),
    "replaced tensor": Holder("betas = [ex.ones(())]", "betas[0]", "betas[0] = ex.tensor(value)"),
    "thread local": Holder(
        "local = threading.local()\nlocal.beta = 1.0", "local.beta", "local.beta = value"
    ),
    "context variable": Holder(
        'beta = contextvars.ContextVar("beta", default=1.0)', "beta.get()", "beta.set(value)"
    ),
    "environment": Holder(
        'os.environ["PROGRAM_BETA"] = "1.0"',
        'float(os.environ["PROGRAM_BETA"])',
        'os.environ["PROGRAM_BETA"] = repr(value)',
    ),
    "module attribute": Holder(
        "model.beta = 1.0", "model.beta", "model.beta = value", after_model=True
    ),
    "namespace of the model": Holder(
        "model.cfg = types.SimpleNamespace(beta=1.0)",
        "model.cfg.beta",
        "model.cfg.beta = value",
        after_model=True,
    ),
    "learning rate": Holder("", '10 * optimizer.param_groups[0]["lr"]', after_model=True),
    "iterator": Holder(
        "betas = itertools.cycle([1.0, 0.5, 2.0])", "next(betas)", counts_reads=True
    ),
}
