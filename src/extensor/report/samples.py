"""Samples on the page: those the model is most wrong about, and texts that it has written."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from extensor.report.axis import readable
from extensor.report.curves import Record, is_number
from extensor.report.document import section
from extensor.report.findings import Examination, Sample
from extensor.report.png import as_uri

_TEXTS = 8


def worst_section(examination: Examination) -> str:
    """What is wrong, and below it what is right but least certain; if nothing is wrong it says so."""
    samples = examination.worst
    wrong = [sample for sample in samples if sample.is_wrong]
    right = [sample for sample in samples if sample.is_wrong is False]
    if not wrong and not right:
        return section("Where it is most wrong", _listed(samples, examination.measure), wide=True)
    content = _listed(wrong, examination.measure) if wrong else ""
    if right:
        words = (
            "The others are right; these are the least certain."
            if wrong
            else "Nothing is wrong; these are the least certain."
        )
        content += f'<p class="between">{words}</p>{_listed(right, examination.measure)}'
    title = "Where it is most wrong" if wrong else "Where it is least certain"
    return section(title, content, wide=True)


def _listed(samples: Sequence[Sample], measure: str) -> str:
    if samples and samples[0].png is not None:
        figures = "".join(_figure(sample, measure) for sample in samples)
        return f'<div class="samples">{figures}</div>'
    named = any(sample.name for sample in samples)
    sure = any(sample.probability is not None for sample in samples)
    heads = ['<th class="number">sample</th>', *(["<th>name</th>"] if named else [])]
    heads += ["<th>truth</th>", "<th>found</th>"]
    heads += ['<th class="number">probability</th>'] if sure else []
    heads += [f'<th class="number">{escape(measure)}</th>']
    rows = "".join(_row(sample, named, sure) for sample in samples)
    return f'<div class="scroll"><table><tr>{"".join(heads)}</tr>{rows}</table></div>'


def _row(sample: Sample, named: bool, sure: bool) -> str:
    kind = ' class="wrong"' if sample.is_wrong else ""
    cells = [f'<td class="number">{sample.number}</td>']
    cells += [f'<td class="name">{escape(sample.name)}</td>'] if named else []
    cells += [f'<td class="said">{escape(sample.truth)}</td>']
    cells += [f'<td class="said"><b>{escape(sample.found)}</b></td>']
    if sure:
        cells.append(f'<td class="number">{_percent(sample)}</td>')
    cells.append(f'<td class="number">{readable(sample.loss)}</td>')
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _percent(sample: Sample) -> str:
    return "" if sample.probability is None else f"{sample.probability:.1%}"


def _figure(sample: Sample, measure: str) -> str:
    assert sample.png is not None
    truth, found = escape(sample.truth), escape(sample.found)
    kind = ' class="wrong"' if sample.is_wrong else ""
    said = f"is <b>{truth}</b>, found <b>{found}</b> {_percent(sample)}"
    name = f"<br>{escape(sample.name)}" if sample.name else ""
    return (
        f'<figure{kind}><img src="{as_uri(sample.png)}" alt="{truth}">'
        f"<figcaption>{said}<br>{escape(measure)} {readable(sample.loss)}<br>#{sample.number}{name}"
        "</figcaption></figure>"
    )


def texts_section(records: Sequence[Record]) -> str:
    """What the model wrote while it was trained: the first text, and the last ones."""
    texts = [record for record in records if isinstance(record.get("text"), str)]
    chosen = texts if len(texts) <= _TEXTS else [texts[0], *texts[-_TEXTS + 1 :]]
    parts = [f"<h3>{escape(_when(x))}</h3><pre>{escape(x['text'])}</pre>" for x in chosen]
    few = len(chosen) < len(texts)
    note = f"<p>The first and the last of {len(texts):,} texts.</p>" if few else ""
    return section("Generated samples", f'<div class="texts">{"".join(parts)}</div>{note}', True)


def _when(record: Record) -> str:
    words = [
        f"{name} {record[name]:,}" for name in ("epoch", "step") if is_number(record.get(name))
    ]
    return ", ".join(words) or "text"
