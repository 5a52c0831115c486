"""The page of a run, ``report.html``: curves, how the model does on the test data, configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from extensor.experiments.spec import stored_config
from extensor.io.atomic import write_atomically
from extensor.io.redaction import redact_lines
from extensor.io.regular_files import file_text
from extensor.nn.summary import Summary
from extensor.report.axis import readable
from extensor.report.curves import run_charts
from extensor.report.document import (
    NUMBERS,
    TableCell,
    card_section,
    chart_section,
    document,
    element,
    scrolling,
    section,
    table,
    values_table,
)
from extensor.report.examination import Examination, Sample
from extensor.report.png import as_uri
from extensor.report.run_records import (
    LOSS,
    VALIDATION,
    Record,
    data_lines,
    display_value,
    figures_of_test,
    is_number,
    kept_epoch,
    metric_names,
    of_event,
    read_machine,
    read_records,
    seconds_of,
    title_of,
    workers_of,
)
from extensor.train import RunFolder
from extensor.train.callbacks import duration
from extensor.train.metrics.registry import display_name

_NARROW_MATRIX = 12  # classes; more need the whole width of the page
_LARGEST_MATRIX = 40  # classes; of more only the most frequent mistakes are listed
_SHORT_NAME = 3  # letters
_MISTAKES = 20
_TEXTS = 8


def write_report(
    run: RunFolder, examination: Examination | None = None, summary: Summary | None = None
) -> Path:
    """Write ``report.html`` from the files of the run, an examination and a summary of the model."""
    path = run.path / "report.html"
    write_atomically(path, run_page(run, examination, summary).encode())
    return path


def run_page(run: RunFolder, examination: Examination | None, summary: Summary | None) -> str:
    """The page as :func:`write_report` writes it."""
    records = read_records("write_report", run)
    config = stored_config(run.config)
    machine = read_machine("write_report", run)
    of_tokens = examination is not None and examination.task == "sequence"
    sections = []
    if data := data_lines(records):
        sections.append(
            section("Data", element("pre", escape("\n".join(data)), "lines"), wide=True)
        )
    sections += map(chart_section, run_charts(config, records, of_tokens))
    if samples := of_event(records, "sample"):
        sections.append(_texts_section(samples))
    if examination is not None:
        sections += examination_sections(examination)
    if summary is not None:
        heads, *rows = summary.cells()
        note = "<p>Shapes and floating-point operations are those of one sample.</p>"
        sections.append(section("Model", table(heads, rows, ("", "", *NUMBERS)) + note))
    text = escape(redact_lines(file_text(run.config)))
    sections.append(section("Configuration", element("pre", text)))
    sections.append(section("Machine", values_table(machine)))
    if workers := workers_of(run):
        sections.append(section("Workers", values_table(workers)))
    facts = _facts(run, config, records, summary)
    return document(title_of(config), run.path.name, facts, sections)


def _facts(
    run: RunFolder, config: Mapping[str, Any], records: Sequence[Record], summary: Summary | None
) -> dict[str, str]:
    """The numbers at the top of the page, of the epoch whose weights are kept."""
    epochs = of_event(records, "epoch")
    facts = {
        f"test {display_name(key)}": display_value(key, x)
        for key, x in figures_of_test(records).items()
    }
    if epochs:
        last = epochs[-1]
        best = kept_epoch(config, epochs)
        chosen = last if best is None else next(r for r in epochs if r["epoch"] == best.epoch)
        for key in (*metric_names(epochs), LOSS, "loss"):
            if isinstance(chosen.get(key), int | float):  # also NaN, which is a result too
                training = "training " if f"{VALIDATION}{key}" in chosen else ""
                facts[f"{training}{display_name(key)}"] = display_value(key, chosen[key])
        if best is not None:
            facts["best epoch"] = str(best.epoch)
        facts["epochs"] = str(last["epoch"])
        facts["steps"] = f"{last['step']:,}"
    seconds = seconds_of(run)
    if seconds is not None:
        facts["time"] = duration(seconds)
    if summary is not None:
        facts["parameters"] = f"{summary.parameters:,}"
    return facts


def examination_sections(examination: Examination) -> list[str]:
    """How the model does on the test data: notes, confusion, the parts of the task, worst samples."""
    sections = []
    if examination.notes:
        notes = "".join(element("p", escape(note)) for note in examination.notes)
        sections.append(section("What to know first", notes, wide=True))
    if examination.confusion is not None:
        wide = _NARROW_MATRIX < len(examination.confusion) <= _LARGEST_MATRIX
        sections.append(section("Confusion", _confusion(examination), wide))
    sections += map(card_section, examination.parts)
    if examination.worst:
        sections.append(_worst_section(examination))
    return sections


def _confusion(examination: Examination) -> str:
    counts, names = examination.confusion, [escape(name) for name in examination.class_names]
    if len(counts) > _LARGEST_MATRIX:
        return _mistakes(counts, examination.class_names)
    head = "<th></th>" + "".join(f"<th><span>{name}</span></th>" for name in names)
    rows = [element("tr", head)]
    for true, (name, row) in enumerate(zip(names, counts.tolist(), strict=True)):
        whole = max(1, sum(row))
        cells = f"<th><span>{name}</span></th>"
        for predicted, count in enumerate(row):
            kind = ' class="wrong"' if count and predicted != true else ""
            kind = ' class="most"' if predicted == true and 2 * count > whole else kind
            cells += f'<td{kind} style="--share: {count / whole:.3f}">{count or ""}</td>'
        rows.append(element("tr", cells))
    # Long names stand upright, so that the cells stay small.
    upright = " upright" if max(map(len, examination.class_names)) > _SHORT_NAME else ""
    note = "<p>Rows are the true classes, columns what the model found.</p>"
    return scrolling("".join(rows), f"confusion{upright}") + note


def _mistakes(counts: Any, names: Sequence[str]) -> str:
    pairs = [
        (int(counts[true, predicted]), names[true], names[predicted])
        for true, predicted in zip(*counts.nonzero(), strict=True)
        if true != predicted
    ]
    rows = [
        [true, predicted, f"{count:,}"]
        for count, true, predicted in sorted(pairs, reverse=True)[:_MISTAKES]
    ]
    return table(["class", "taken for", "how often"], rows, ("", *NUMBERS))


def _worst_section(examination: Examination) -> str:
    """The wrong samples, and below them those that are right but least certain."""
    # Without right and wrong, all of them count as wrong.
    wrong = [sample for sample in examination.worst if sample.is_wrong is not False]
    right = [sample for sample in examination.worst if sample.is_wrong is False]
    content = _sample_list(wrong, examination.measure) if wrong else ""
    if right:
        words = "The others are right" if wrong else "Nothing is wrong"
        content += element("p", f"{words}; these are the least certain.", "between")
        content += _sample_list(right, examination.measure)
    title = "Where it is most wrong" if wrong else "Where it is least certain"
    return section(title, content, wide=True)


def _sample_list(samples: Sequence[Sample], measure: str) -> str:
    if samples[0].png is not None:
        figures = "".join(_figure(sample, measure) for sample in samples)
        return element("div", figures, "samples")
    columns: list[tuple[str, str, Callable[[Sample], str | TableCell]]] = [
        ("sample", "number", lambda sample: str(sample.number)),
        ("name", "name", lambda sample: sample.name),
        ("truth", "said", lambda sample: sample.truth),
        ("found", "said", lambda sample: TableCell(element("b", escape(sample.found)))),
        ("probability", "number", _percent),
        (measure, "number", lambda sample: readable(sample.loss)),
    ]
    if all(sample.probability is None for sample in samples):
        del columns[4]
    if not any(sample.name for sample in samples):
        del columns[1]
    heads, kinds, cells = zip(*columns, strict=True)
    rows = [[cell(sample) for cell in cells] for sample in samples]
    return table(heads, rows, kinds, ["wrong" if sample.is_wrong else "" for sample in samples])


def _percent(sample: Sample) -> str:
    return "" if sample.probability is None else f"{sample.probability:.1%}"


def _figure(sample: Sample, measure: str) -> str:
    assert sample.png is not None
    truth, prediction = escape(sample.truth), escape(sample.found)
    caption = f"is <b>{truth}</b>, found <b>{prediction}</b> {_percent(sample)}"
    name = f"<br>{escape(sample.name)}" if sample.name else ""
    caption += f"<br>{escape(measure)} {readable(sample.loss)}<br>#{sample.number}{name}"
    picture = f'<img src="{as_uri(sample.png)}" alt="{truth}">'
    kind = "wrong" if sample.is_wrong else ""
    return element("figure", picture + element("figcaption", caption), kind)


def _texts_section(records: Sequence[Record]) -> str:
    """Texts that the model wrote while it was trained: the first, and the last ones."""
    texts = [record for record in records if isinstance(record.get("text"), str)]
    chosen = texts if len(texts) <= _TEXTS else [texts[0], *texts[-_TEXTS + 1 :]]
    parts = "".join(f"<h3>{escape(_time_of(x))}</h3><pre>{escape(x['text'])}</pre>" for x in chosen)
    few = len(chosen) < len(texts)
    note = f"<p>The first and the last of {len(texts):,} texts.</p>" if few else ""
    return section("Generated samples", element("div", parts, "texts") + note, True)


def _time_of(record: Record) -> str:
    times = [(name, record.get(name)) for name in ("epoch", "step")]
    return ", ".join(f"{name} {x:,}" for name, x in times if is_number(x)) or "text"
