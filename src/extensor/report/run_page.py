"""The page of a run, ``report.html``: curves, how the model does on the test data, configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from extensor.io.atomic import write_atomically
from extensor.io.redaction import redact_lines
from extensor.io.regular_files import file_text
from extensor.nn.summary import Summary
from extensor.report.axis import readable
from extensor.report.chart import Card, Chart
from extensor.report.curves import run_charts
from extensor.report.document import card_section, document, section, table, values_table
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
    read_settings,
    seconds_of,
    title_of,
    workers_of,
)
from extensor.train import RunFolder
from extensor.train.callbacks import duration
from extensor.train.metrics.trainer_metrics import display_name

_NARROW_MATRIX = 12  # classes; more need the whole width of the page
_LARGEST_MATRIX = 40  # classes; of more only the most frequent mistakes are listed
_SHORT_NAME = 3  # letters
_MISTAKES = 20
_TEXTS = 8


def write_report(
    run: RunFolder, examination: Examination | None = None, summary: Summary | None = None
) -> Path:
    """Write ``report.html`` from the files of the run, an examination and a summary of the model."""
    records = read_records("write_report", run)
    config = read_settings(run)
    text = run_page(
        title_of(config),
        run.path.name,
        _facts(run, config, records, summary),
        run_charts(config, records, examination is not None and examination.task == "sequence"),
        examination,
        summary,
        redact_lines(file_text(run.config)),
        read_machine("write_report", run),
        data_lines(records),
        of_event(records, "sample"),
        workers_of(run),
    )
    path = run.path / "report.html"
    write_atomically(path, text.encode())
    return path


def _facts(
    run: RunFolder,
    config: Mapping[str, Any],
    records: list[dict[str, Any]],
    summary: Summary | None,
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
        names = metric_names(epochs)
        for key in (*names, LOSS, "loss"):
            if isinstance(chosen.get(key), int | float):  # also NaN, which is a result too
                both = f"{VALIDATION}{key}" in chosen
                facts[f"{'training ' if both else ''}{display_name(key)}"] = display_value(
                    key, chosen[key]
                )
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


def run_page(
    title: str,
    subtitle: str,
    facts: Mapping[str, str],
    charts: Sequence[Chart],
    examination: Examination | None,
    summary: Summary | None,
    config: str,
    machine: Mapping[str, Any],
    data: Sequence[str] = (),
    texts: Sequence[Record] = (),
    workers: Mapping[str, str] | None = None,
) -> str:
    """The whole page; parts that are not known are left out."""
    sections = [section("Data", _preformatted(data), wide=True)] if data else []
    sections += [card_section(Card(chart.title, [chart])) for chart in charts]
    if texts:
        sections.append(_texts_section(texts))
    if examination is not None:
        sections += _examination_sections(examination)
    if summary is not None:
        sections.append(section("Model", _model(summary)))
    sections.append(section("Configuration", f"<pre>{escape(config)}</pre>"))
    sections.append(section("Machine", values_table(machine)))
    if workers:
        sections.append(section("Workers", values_table(workers)))
    return document(title, subtitle, facts, sections)


def _preformatted(lines: Sequence[str]) -> str:
    text = escape("\n".join(lines))
    return f'<pre class="lines">{text}</pre>'


def _examination_sections(examination: Examination) -> list[str]:
    sections = []
    if examination.notes:
        notes = "".join(f"<p>{escape(note)}</p>" for note in examination.notes)
        sections.append(section("What to know first", notes, wide=True))
    if examination.confusion is not None:
        wide = _NARROW_MATRIX < len(examination.confusion) <= _LARGEST_MATRIX
        sections.append(section("Confusion", _confusion(examination), wide))
    sections += [card_section(part) for part in examination.parts]
    if examination.worst:
        sections.append(_worst_section(examination))
    return sections


def _confusion(examination: Examination) -> str:
    counts, names = examination.confusion, [escape(name) for name in examination.class_names]
    if len(counts) > _LARGEST_MATRIX:
        return _mistakes(counts, examination.class_names)
    # Long names stand upright, so that the cells stay small.
    upright = " upright" if max(map(len, examination.class_names)) > _SHORT_NAME else ""
    head = "".join(f"<th><span>{name}</span></th>" for name in names)
    rows = []
    for true, (name, row) in enumerate(zip(names, counts.tolist(), strict=True)):
        whole = max(1, sum(row))
        cells = []
        for predicted, count in enumerate(row):
            kind = ' class="wrong"' if count and predicted != true else ""
            kind = ' class="most"' if predicted == true and 2 * count > whole else kind
            cells.append(
                f'<td{kind} style="--share: {count / whole:.3f}">{count if count else ""}</td>'
            )
        rows.append(f"<tr><th><span>{name}</span></th>{''.join(cells)}</tr>")
    return (
        '<div class="scroll"><table class="confusion'
        f'{upright}"><tr><th></th>{head}</tr>{"".join(rows)}</table></div>'
        "<p>Rows are the true classes, columns what the model found.</p>"
    )


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
    return table(["class", "taken for", "how often"], rows, words=2)


def _model(summary: Summary) -> str:
    heads, *rows = summary.cells()
    note = "<p>Shapes and floating-point operations are those of one sample.</p>"
    return table(heads, rows, words=3) + note


def _worst_section(examination: Examination) -> str:
    """The wrong samples, and below them those that are right but least certain."""
    samples = examination.worst
    wrong = [sample for sample in samples if sample.is_wrong]
    right = [sample for sample in samples if sample.is_wrong is False]
    if not wrong and not right:
        return section(
            "Where it is most wrong", _sample_list(samples, examination.measure), wide=True
        )
    content = _sample_list(wrong, examination.measure) if wrong else ""
    if right:
        words = (
            "The others are right; these are the least certain."
            if wrong
            else "Nothing is wrong; these are the least certain."
        )
        content += f'<p class="between">{words}</p>{_sample_list(right, examination.measure)}'
    title = "Where it is most wrong" if wrong else "Where it is least certain"
    return section(title, content, wide=True)


def _sample_list(samples: Sequence[Sample], measure: str) -> str:
    if samples and samples[0].png is not None:
        figures = "".join(_figure(sample, measure) for sample in samples)
        return f'<div class="samples">{figures}</div>'
    has_names = any(sample.name for sample in samples)
    has_probabilities = any(sample.probability is not None for sample in samples)
    heads = ['<th class="number">sample</th>', *(["<th>name</th>"] if has_names else [])]
    heads += ["<th>truth</th>", "<th>found</th>"]
    heads += ['<th class="number">probability</th>'] if has_probabilities else []
    heads += [f'<th class="number">{escape(measure)}</th>']
    rows = "".join(_sample_row(sample, has_names, has_probabilities) for sample in samples)
    return f'<div class="scroll"><table><tr>{"".join(heads)}</tr>{rows}</table></div>'


def _sample_row(sample: Sample, has_name: bool, has_probability: bool) -> str:
    kind = ' class="wrong"' if sample.is_wrong else ""
    cells = [f'<td class="number">{sample.number}</td>']
    cells += [f'<td class="name">{escape(sample.name)}</td>'] if has_name else []
    cells += [f'<td class="said">{escape(sample.truth)}</td>']
    cells += [f'<td class="said"><b>{escape(sample.found)}</b></td>']
    if has_probability:
        cells.append(f'<td class="number">{_percent(sample)}</td>')
    cells.append(f'<td class="number">{readable(sample.loss)}</td>')
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _percent(sample: Sample) -> str:
    return "" if sample.probability is None else f"{sample.probability:.1%}"


def _figure(sample: Sample, measure: str) -> str:
    assert sample.png is not None
    truth, prediction = escape(sample.truth), escape(sample.found)
    kind = ' class="wrong"' if sample.is_wrong else ""
    caption = f"is <b>{truth}</b>, found <b>{prediction}</b> {_percent(sample)}"
    name = f"<br>{escape(sample.name)}" if sample.name else ""
    return (
        f'<figure{kind}><img src="{as_uri(sample.png)}" alt="{truth}">'
        f"<figcaption>{caption}<br>{escape(measure)} {readable(sample.loss)}<br>#{sample.number}{name}"
        "</figcaption></figure>"
    )


def _texts_section(records: Sequence[Record]) -> str:
    """Texts that the model wrote while it was trained: the first, and the last ones."""
    texts = [record for record in records if isinstance(record.get("text"), str)]
    chosen = texts if len(texts) <= _TEXTS else [texts[0], *texts[-_TEXTS + 1 :]]
    parts = [f"<h3>{escape(_time_of(x))}</h3><pre>{escape(x['text'])}</pre>" for x in chosen]
    few = len(chosen) < len(texts)
    note = f"<p>The first and the last of {len(texts):,} texts.</p>" if few else ""
    return section("Generated samples", f'<div class="texts">{"".join(parts)}</div>{note}', True)


def _time_of(record: Record) -> str:
    words = [
        f"{name} {record[name]:,}" for name in ("epoch", "step") if is_number(record.get(name))
    ]
    return ", ".join(words) or "text"
