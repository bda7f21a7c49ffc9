(() => {
  document.querySelectorAll('details').forEach((d) => { d.open = true; });
  // A chart with a single bar is 35 pixels high.
  const seen = (r) => r.width > 100 && r.height > 24;
  const charts = [...document.querySelectorAll('figure svg')].filter((s) => seen(s.getBoundingClientRect()));
  const overlaps = [];
  const outside = [];
  for (const chart of charts) {
    const frame = chart.getBoundingClientRect();
    const name = chart.getAttribute('aria-label').slice(0, 80);
    const texts = [...chart.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([a, r], i) => {
      if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 1) outside.push(`${name}: ${a}`);
      for (const [b, s] of texts.slice(i + 1)) {
        const wide = Math.min(r.right, s.right) - Math.max(r.left, s.left);
        const high = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
        if (wide > 1 && high > 4) overlaps.push(`${name}: "${a}" and "${b}"`);
      }
    });
  }
  // A phone zooms out to what is too wide, and only this width stays what was asked for.
  const room = document.documentElement.clientWidth;
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  const rgb = (color) => color.match(/[\d.]+/g).slice(0, 3).map(Number);
  const light = (color) => rgb(color).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const ground = getComputedStyle(document.body).backgroundColor;
  // The color behind an element: that of the nearest element that has one.
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const own = getComputedStyle(at).backgroundColor;
      if (own !== 'transparent' && !/, 0\)$/.test(own)) return own;
    }
    return ground;
  };
  const faint = [...document.querySelectorAll('main h1, main p, main td, main th, main li, main small, main summary, main a')]
    .filter((e) => e.textContent.trim() && !e.closest('.caveats') && contrast(getComputedStyle(e).color, behind(e)) < 4.5);
  const wide = [...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll') && !e.closest('svg')
    && e.getBoundingClientRect().right > room + 1).map((e) => e.outerHTML.slice(0, 80));
  return {
    page_width: document.documentElement.scrollWidth, window_width: room,
    figures: document.querySelectorAll('figure').length, charts: charts.length,
    overlaps, outside, wide: wide.slice(0, 3), ground: light(ground),
    doubles: ids.filter((id, i) => ids.indexOf(id) !== i), faint: faint.slice(0, 3).map((e) => e.outerHTML.slice(0, 80)),
    dead: [...document.querySelectorAll('a[href^="#"]')].map((a) => a.hash.slice(1)).filter((id) => !ids.includes(id)),
  };
})()
