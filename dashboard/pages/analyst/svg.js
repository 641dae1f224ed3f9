/* Parts of drawings: SVG elements, pitches with the team attacking to the right, axes.

   A drawing has the size of its place in pixels and no style but attributes, so that it is exported as it is shown. */
import { token } from "/pages/shared/shell.js";

const SPACE = "http://www.w3.org/2000/svg";
const FONT = "Inter, sans-serif";
const BOX = { depth: 16.5, half: 20.16 };
const GOAL_AREA = { depth: 5.5, half: 9.16 };
const GOAL_HALF = 3.66;
const CIRCLE = 9.15;
const MARK = 11;

/* An SVG element. `title` becomes its tooltip, `onpick` what a click does. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "title") {
      const title = document.createElementNS(SPACE, "title");
      title.textContent = value;
      made.prepend(title);
    } else if (name === "onpick") {
      made.addEventListener("click", value);
      made.classList.add("pick");
    } else made.setAttribute(name, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
  }
  made.append(...children);
  return made;
}

export const text = (x, y, content, attributes = {}) => {
  const made = shape("text", { x, y, fill: token("text"), "font-family": FONT, "font-size": 12, ...attributes });
  made.append(String(content));
  return made;
};

/* How much larger than on a small screen a drawing is: as the type of the page, up to 4K. */
export const zoom = () => Math.max(1, parseFloat(getComputedStyle(document.body).fontSize) / 13);

/* A drawing with a name for those who cannot see it. Its size is that of a small screen; it is shown larger by `zoom`. */
export function drawing(width, height, label, larger = zoom()) {
  return shape("svg", {
    xmlns: SPACE, width: width * larger, height: height * larger, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
    "font-family": FONT,
  });
}

/* A pitch in a drawing of its own. Its `x` and `y` turn metres into pixels; a half pitch stands upright, goal on top.

   Returns {svg, x, y, scale, at(x_m, y_m) -> [x, y]}. */
export function pitch(width, overview, label, { half = false } = {}) {
  const long = overview.length_m / 2;
  const wide = overview.width_m / 2;
  const margin = 3;
  const across = half ? 2 * (wide + margin) : 2 * (long + margin);
  const down = half ? long + margin : 2 * (wide + margin);
  const scale = width / across;
  const svg = drawing(width, Math.round(down * scale), label);
  const at = half
    ? (x, y) => [(wide + margin - y) * scale, (long + margin - x) * scale]
    : (x, y) => [(long + margin + x) * scale, (wide + margin - y) * scale];
  const pen = { stroke: token("line"), "stroke-width": 1, fill: "none" };
  const box = (x0, y0, x1, y1, more = {}) => {
    const [a, b] = [at(x0, y0), at(x1, y1)];
    svg.append(shape("rect", {
      x: Math.min(a[0], b[0]), y: Math.min(a[1], b[1]), width: Math.abs(a[0] - b[0]), height: Math.abs(a[1] - b[1]),
      ...pen, ...more,
    }));
  };
  svg.append(shape("rect", { x: 0, y: 0, width, height: Math.round(down * scale), fill: token("grass"), rx: 4 }));
  box(half ? 0 : -long, -wide, long, wide);
  for (const end of half ? [1] : [-1, 1]) {
    box(end * long, -BOX.half, end * (long - BOX.depth), BOX.half);
    box(end * long, -GOAL_AREA.half, end * (long - GOAL_AREA.depth), GOAL_AREA.half);
    box(end * long, -GOAL_HALF, end * (long + 2), GOAL_HALF);
    const mark = at(end * (long - MARK), 0);
    svg.append(shape("circle", { cx: mark[0], cy: mark[1], r: 1.5, fill: token("line") }));
    const reach = Math.sqrt(CIRCLE ** 2 - (BOX.depth - MARK) ** 2);
    const [from, to] = [at(end * (long - BOX.depth), reach), at(end * (long - BOX.depth), -reach)];
    const sweep = half || end > 0 ? 0 : 1;
    svg.append(shape("path", { d: `M${from} A${CIRCLE * scale} ${CIRCLE * scale} 0 0 ${sweep} ${to}`, ...pen }));
  }
  if (!half) {
    const [top, bottom, middle] = [at(0, wide), at(0, -wide), at(0, 0)];
    svg.append(shape("line", { x1: top[0], y1: top[1], x2: bottom[0], y2: bottom[1], ...pen }));
    svg.append(shape("circle", { cx: middle[0], cy: middle[1], r: CIRCLE * scale, ...pen }));
    const [tail, head] = [at(-6, wide + 1.5), at(6, wide + 1.5)];
    svg.append(arrow(tail, head, { stroke: token("faint"), "stroke-width": 1.5 }));
  }
  return { svg, at, scale, width };
}

/* An arrow from one point to another. */
export function arrow([x1, y1], [x2, y2], attributes = {}) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const size = Math.min(3 + 1.6 * Number(attributes["stroke-width"] || 1), Math.hypot(x2 - x1, y2 - y1));
  const wing = (turn) => `${(x2 - size * Math.cos(angle + turn)).toFixed(1)} ${(y2 - size * Math.sin(angle + turn)).toFixed(1)}`;
  return shape("path", {
    d: `M${x1.toFixed(1)} ${y1.toFixed(1)} L${x2.toFixed(1)} ${y2.toFixed(1)} M${wing(0.45)} L${x2.toFixed(1)} ${y2.toFixed(1)} L${wing(-0.45)}`,
    fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round", ...attributes,
  });
}

/* A field with axes: `x` and `y` turn values into pixels. Ticks are [value, text]. */
export function field(width, height, label, { xs, ys, xTicks, yTicks, left = 38 }) {
  const svg = drawing(width, height, label);
  const [top, bottom, right] = [10, 24, 8];
  const x = (value) => left + ((value - xs[0]) / (xs[1] - xs[0] || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - ys[0]) / (ys[1] - ys[0] || 1)) * (height - top - bottom);
  for (const [value, shown] of yTicks) {
    svg.append(shape("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), stroke: token("edge") }));
    svg.append(text(left - 6, y(value) + 4, shown, { "text-anchor": "end", fill: token("soft") }));
  }
  let last = -Infinity;
  for (const [value, shown] of xTicks) {
    const wide = String(shown).length * 7 + 6;
    if (x(value) - wide / 2 < last) continue;
    last = x(value) + wide / 2;
    svg.append(text(x(value), height - 7, shown, { "text-anchor": "middle", fill: token("soft") }));
  }
  return { svg, x, y, left, bottom: height - bottom };
}

/* Round steps for an axis from 0 to some value. */
export function ticks(most, count = 4) {
  const rough = most / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let value = 0; value <= most + 1e-9; value += step) found.push([value, String(Math.round(value * 1000) / 1000)]);
  return found;
}

/* A disc with a shirt number. */
export function disc([x, y], r, shirt, attributes = {}, ink = token("text")) {
  const group = shape("g", { title: attributes.title, onpick: attributes.onpick });
  const { title, onpick, ...rest } = attributes;
  group.append(shape("circle", { cx: x, cy: y, r, ...rest }));
  if (shirt !== null && shirt !== undefined) {
    group.append(text(x, y + 3.8, shirt, { "text-anchor": "middle", "font-size": 11, "font-weight": 600, fill: ink }));
  }
  return group;
}
