/* A chart as a file: PNG and SVG as it is shown, CSV and Parquet of its data. */
import { element, of, token } from "/pages/shared/shell.js";
import { drawing, shape, text } from "./svg.js";

const SCALE = 2;
const HEAD = 34;
const LINE = 22;

/* One drawing of all drawings of a chart, with titles and captions. */
function joined(name, figures) {
  const gap = 16;
  const drawn = figures.filter((one) => one.svg);
  const size = (one) => one.svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
  const width = drawn.reduce((sum, one) => sum + size(one)[0] + gap, gap);
  const height = Math.max(...drawn.map((one) => size(one)[1])) + HEAD + 2 * LINE + gap;
  const svg = drawing(width, height, name, 1);
  svg.append(shape("rect", { x: 0, y: 0, width, height, fill: token("panel") }), text(gap, 23, name, { "font-size": 16, "font-weight": 700 }));
  let x = gap;
  for (const one of drawn) {
    const copy = one.svg.cloneNode(true);
    copy.setAttribute("width", size(one)[0]);
    copy.setAttribute("height", size(one)[1]);
    copy.setAttribute("x", x);
    copy.setAttribute("y", HEAD + LINE);
    if (one.title) svg.append(text(x, HEAD + 14, one.title, { "font-weight": 600 }));
    svg.append(copy, text(x, HEAD + LINE + size(one)[1] + 16, one.caption || "", { "font-size": 11, fill: token("soft") }));
    x += size(one)[0] + gap;
  }
  return svg;
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function saveSvg(name, file, figures) {
  save(new Blob([new XMLSerializer().serializeToString(joined(name, figures))], { type: "image/svg+xml" }), file + ".svg");
}

export async function savePng(name, file, figures) {
  const svg = joined(name, figures);
  const source = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = element("canvas", { width: SCALE * svg.getAttribute("width"), height: SCALE * svg.getAttribute("height") });
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.drawImage(image, 0, 0);
  URL.revokeObjectURL(source);
  save(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), file + ".png");
}

export const dataAddress = (match, chart, search, form) => "/api/v1" + of(match, `/analyst/charts/${chart}?${search}${search ? "&" : ""}format=${form}`);
