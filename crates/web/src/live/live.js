// Follows the events of what runs now: replaces parts of the page that have changed, and draws charts of the samples.
// Without this script, the page shows the state at the time when it was loaded.
"use strict";
(() => {
  const section = document.querySelector("section.live[data-events]");
  if (!section || !window.EventSource) return;
  // The name of a vocabulary, which is not loaded.
  const NAMESPACE = ["http", "//www.w3.org/2000/svg"].join(":");
  const charts = new Map();
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html").querySelector("section.live");

  // Replaces what differs: processes by their ID, parts by their key. Text that is being typed stays.
  const update = (html) => {
    const next = parsed(html);
    if (!next) return;
    const known = new Map([...section.querySelectorAll("article[data-process]")].map((a) => [a.dataset.process, a]));
    for (const article of [...next.querySelectorAll("article[data-process]")]) {
      const old = known.get(article.dataset.process);
      known.delete(article.dataset.process);
      if (!old) {
        section.append(article);
        continue;
      }
      let before = null;
      const parts = new Map([...old.querySelectorAll(":scope > [data-part]")].map((p) => [p.dataset.part, p]));
      for (const part of [...article.querySelectorAll(":scope > [data-part]")]) {
        const own = parts.get(part.dataset.part);
        parts.delete(part.dataset.part);
        if (own && own.dataset.key === part.dataset.key) {
          before = own;
        } else if (own) {
          own.replaceWith(part);
          before = part;
        } else {
          if (before) before.after(part);
          else old.querySelector("h3").after(part);
          before = part;
        }
      }
      parts.forEach((part) => part.remove());
    }
    known.forEach((article, id) => {
      article.remove();
      charts.delete(id);
    });
    const none = next.querySelector("[data-none]");
    const shown = section.querySelector("[data-none]");
    if (none && !shown) section.querySelector("h2").after(none);
    if (!none && shown) shown.remove();
    attach();
  };

  const SERIES = [
    { name: "bandwidth", of: (rate) => rate.bytes_per_s / 1e6, log: false },
    { name: "iops", of: (rate) => rate.iops || null, log: false },
    { name: "latency", of: (rate) => (rate.p99_ns ? [rate.p50_ns / 1e6, rate.p99_ns / 1e6] : null), log: true },
  ];
  const OPS = [["read", "#0072b2", ""], ["write", "#d55e00", "6 3"], ["trim", "#009e73", "2 3"]];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const COLORS = { "#0072b2": "#4aa3df", "#d55e00": "#ff8142", "#009e73": "#2cc295" };
  const color = (light) => (isDark() ? COLORS[light] || light : light);
  const isDark = () => getComputedStyle(document.body).colorScheme === "dark" ||
    (getComputedStyle(document.documentElement).colorScheme !== "light" && dark.matches);

  const node = (name, attributes, text) => {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const rounded = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2));

  class Charts {
    constructor(place) {
      this.place = place;
      this.words = place.dataset;
      this.samples = [];
      this.minutes = 1;
      this.end = null;
      const tools = document.createElement("div");
      tools.className = "tools";
      this.pause = document.createElement("button");
      this.pause.className = "btn q";
      this.pause.type = "button";
      this.pause.textContent = this.words.pause;
      this.pause.setAttribute("aria-pressed", "false");
      this.pause.addEventListener("click", () => {
        this.end = this.end === null && this.samples.length ? this.samples[this.samples.length - 1].at_unix_ms : null;
        this.pause.textContent = this.end === null ? this.words.pause : this.words.continue;
        this.pause.setAttribute("aria-pressed", String(this.end !== null));
        this.draw();
      });
      const label = document.createElement("label");
      label.textContent = this.words.range + " ";
      const range = document.createElement("select");
      for (const seconds of [15, 30]) range.add(new Option(seconds + " " + this.words.seconds, String(seconds / 60)));
      for (const minutes of [1, 2, 5, 10]) range.add(new Option(minutes + " " + this.words.minutes, String(minutes)));
      range.value = "1";
      range.addEventListener("change", () => {
        this.minutes = Number(range.value);
        this.draw();
      });
      label.append(range);
      tools.append(this.pause, label);
      this.figures = document.createElement("div");
      place.replaceChildren(tools, this.figures);
      this.tools = tools;
      tools.hidden = true;
    }

    add(samples) {
      const last = this.samples.length ? this.samples[this.samples.length - 1].seq : 0;
      this.samples.push(...samples.filter((sample) => sample.seq > last));
      this.samples.splice(0, Math.max(0, this.samples.length - 1200));
      this.tools.hidden = this.samples.length === 0;
      if (this.end === null) this.draw();
    }

    // The samples of the shown time.
    shown() {
      const all = this.samples;
      if (!all.length) return [];
      const end = this.end === null ? all[all.length - 1].at_unix_ms : this.end;
      const start = end - this.minutes * 60000;
      return all.filter((sample) => sample.at_unix_ms >= start && sample.at_unix_ms <= end);
    }

    draw() {
      const samples = this.shown();
      if (samples.length < 2) return;
      const figures = SERIES.map((series) => this.rates(series, samples));
      figures.push(this.temperature(samples));
      this.figures.replaceChildren(...figures.filter((figure) => figure));
      const last = samples[samples.length - 1];
      if (last.throttled && last.throttled & 0xf) {
        const line = document.createElement("p");
        line.textContent = this.words.throttled;
        this.figures.append(line);
      }
    }

    rates(series, samples) {
      const lines = [];
      for (const [op, light, dash] of OPS) {
        const values = samples.map((sample) => (sample[op] ? series.of(sample[op]) : null));
        if (values.every((value) => value === null)) continue;
        const word = this.words[op];
        if (series.log) {
          lines.push({ name: word + " P50", light, dash, width: 1, values: values.map((v) => (v ? v[0] : null)) });
          lines.push({ name: word + " P99", light, dash, width: 2, values: values.map((v) => (v ? v[1] : null)) });
        } else {
          lines.push({ name: word, light, dash, width: 2, values });
        }
      }
      return lines.length ? this.figure(this.words[series.name], samples, lines, series.log) : null;
    }

    temperature(samples) {
      const values = samples.map((s) => (s.temperature === undefined ? null : s.temperature / 1000));
      if (values.every((value) => value === null)) return null;
      const line = { name: "", light: "#d55e00", dash: "", width: 2, values };
      return this.figure(this.words.temperature, samples, [line], false);
    }

    figure(title, samples, lines, log) {
      const width = Math.max(280, Math.min(1080, this.place.clientWidth || 600));
      const [height, left, right, top, bottom] = [130, 52, 8, 6, 18];
      const known = lines.flatMap((line) => line.values).filter((value) => value !== null && value > 0);
      const most = Math.max(...known, log ? 1e-6 : 1e-9);
      const least = log ? Math.min(...known, most) : 0;
      const scale = (value) => {
        const part = log
          ? (Math.log(Math.max(value, least)) - Math.log(least)) / (Math.log(most) - Math.log(least) || 1)
          : value / most;
        return (height - bottom - part * (height - top - bottom)).toFixed(1);
      };
      const [start, end] = [samples[0].at_unix_ms, samples[samples.length - 1].at_unix_ms];
      const across = (at) => (left + ((at - start) / (end - start || 1)) * (width - left - right)).toFixed(1);
      const latest = lines.map((line) => {
        const value = line.values[line.values.length - 1];
        return (line.name + " " + (value === null ? "–" : rounded(value))).trim();
      });
      const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title + ": " + latest.join(", ") });
      const ticks = log ? [least, Math.sqrt(least * most), most] : [0, most / 2, most];
      for (const tick of ticks) {
        const y = scale(tick);
        svg.append(node("line", { x1: left, x2: width - right, y1: y, y2: y, stroke: "currentColor", "stroke-opacity": 0.2 }));
        svg.append(node("text", { x: left - 6, y: Number(y) + 4, "text-anchor": "end", "font-size": 11, fill: "currentColor" }, rounded(tick)));
      }
      const clock = (at) => new Date(at).toLocaleTimeString(document.documentElement.lang);
      svg.append(node("text", { x: left, y: height - 4, "font-size": 11, fill: "currentColor" }, clock(start)));
      svg.append(node("text", { x: width - right, y: height - 4, "text-anchor": "end", "font-size": 11, fill: "currentColor" }, clock(end)));
      for (const line of lines) {
        let path = "";
        let open = false;
        line.values.forEach((value, index) => {
          if (value === null) open = false;
          else {
            path += (open ? "L" : "M") + across(samples[index].at_unix_ms) + " " + scale(value);
            open = true;
          }
        });
        svg.append(node("path", { d: path, fill: "none", stroke: color(line.light), "stroke-width": line.width, "stroke-dasharray": line.dash || "none" }));
      }
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title + " · " + latest.join(" · ");
      figure.append(caption, svg);
      return figure;
    }
  }

  // Gives each process its charts.
  const attach = () => {
    for (const place of section.querySelectorAll("[data-charts]")) {
      const id = place.dataset.charts;
      const known = charts.get(id);
      if (!known || known.place !== place) {
        const made = new Charts(place);
        if (known) made.add(known.samples);
        charts.set(id, made);
      }
    }
  };

  attach();
  addEventListener("resize", () => charts.forEach((chart) => chart.draw()));
  const source = new EventSource(section.dataset.events);
  source.addEventListener("state", (event) => update(JSON.parse(event.data).html));
  source.addEventListener("samples", (event) => {
    const { id, samples } = JSON.parse(event.data);
    const chart = charts.get(id);
    if (chart) chart.add(samples);
  });
  // Disks that appear or leave change other parts of the page, which the server renders.
  source.addEventListener("disks", async () => {
    const place = document.querySelector("[data-disks]");
    if (!place) return;
    const response = await fetch(location.href);
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector("[data-disks]");
    if (next) place.replaceWith(next);
  });
})();
