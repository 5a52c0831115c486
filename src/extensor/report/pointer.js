// Values under the pointer: of the nearest point of each series, or of the nearest dot.
(() => {
  "use strict";
  const read = (shape) => {
    const places = (shape.getAttribute("points") || shape.dataset.at).split(" ");
    const x = shape.dataset.x.split(" "), y = shape.dataset.y.split(" ");
    const labels = JSON.parse(shape.dataset.labels || "[]");
    const points = x.map((value, i) => {
      const [left, top] = places[i].split(",").map(Number);
      return { left, top, x: value, y: y[i], label: labels[i] || "" };
    });
    return { shape, name: shape.dataset.name, dots: shape.classList.contains("dots"), points };
  };

  // The nearest across; of those above each other the nearest at all. Of dots, the nearest at all.
  const nearest = (series, left, top) => {
    const far = (p) => Math.abs(p.left - left) * (series.dots ? 1 : 1e3) + Math.abs(p.top - top);
    return series.points.reduce((best, p) => (far(p) < far(best) ? p : best));
  };

  const row = (text, value, colour) => {
    const line = document.createElement("div");
    if (colour) {
      const sign = line.appendChild(document.createElement("i"));
      sign.style.setProperty("--colour", colour);
    }
    line.append(text + " ");
    line.appendChild(document.createElement("b")).textContent = value;
    return line;
  };

  const prepare = (chart) => {
    const svg = chart.querySelector("svg"), size = svg.viewBox.baseVal;
    const made = (name) => document.createElementNS(svg.namespaceURI, name);
    const all = [...svg.querySelectorAll("[data-points]")].map(read);
    const stops = [...new Set(all.flatMap((series) => series.points.map((p) => p.left)))];
    stops.sort((a, b) => a - b);
    const words = chart.appendChild(document.createElement("div"));
    words.className = "words";
    words.setAttribute("role", "status");
    words.style.columnCount = Math.ceil(all.length / 12);
    words.hidden = true;
    const signs = svg.appendChild(made("g"));
    signs.setAttribute("class", "signs");
    let stop = 0;

    const hide = () => { words.hidden = true; signs.replaceChildren(); };

    const show = (left, top) => {
      const found = all.map((series) => ({ series, point: nearest(series, left, top) }));
      const far = ({ point }) => Math.abs(point.left - left);
      const first = found.reduce((best, one) => (far(one) < far(best) ? one : best)).point;
      words.replaceChildren(row(svg.dataset.across, first.x));
      signs.replaceChildren();
      for (const { series, point } of found) {
        const elsewhere = point.x === first.x ? "" : ` at ${point.x}`;
        const label = point.label && `, ${point.label}`;
        const colour = getComputedStyle(series.shape).getPropertyValue("--colour");
        words.append(row(series.name, point.y + elsewhere + label, colour));
        const dot = signs.appendChild(made("circle"));
        for (const [key, value] of [["cx", point.left], ["cy", point.top], ["r", 3.5]]) {
          dot.setAttribute(key, value);
        }
        dot.style.fill = colour;
      }
      words.hidden = false;
      const scale = svg.clientWidth / size.width, room = chart.clientWidth - words.offsetWidth;
      const beside = first.left * scale + (first.left > size.width / 2 ? -words.offsetWidth - 12 : 12);
      words.style.left = `${Math.max(0, Math.min(room, beside))}px`;
      stop = stops.indexOf(first.left);
    };

    const moved = (event) => {
      const box = svg.getBoundingClientRect(), scale = size.width / box.width;
      show((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    };
    svg.addEventListener("pointermove", moved);
    svg.addEventListener("pointerdown", moved);
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      if (!words.hidden) stop = Math.max(0, Math.min(stops.length - 1, stop + step));
      show(stops[stop], size.height / 2);
    });
  };

  for (const chart of document.querySelectorAll(".chart")) prepare(chart);
})();
