/* The selection that all charts obey: its panel, and its place in the address. */
import { clock, element, query, token } from "/pages/shared/shell.js";
import { pitch, shape } from "./svg.js";

const NAMES = ["team", "player", "period", "from_s", "to_s", "score", "phase", "zone"];

export const selection = {};

export function readSelection() {
  for (const name of NAMES) selection[name] = query().get(name) || "";
}

export function searchOf(more = {}) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...selection, ...more })) if (value) values.set(name, value);
  return values.toString();
}

export const chosenPlayers = () => selection.player.split(",").filter(Boolean);

function segmented(label, name, values, change) {
  const buttons = values.map(([value, shown]) =>
    element("button", { "aria-pressed": String(selection[name] === value), onclick: () => change({ [name]: value }) }, shown));
  return element("div", { class: "choice", role: "group", "aria-label": label }, element("h2", {}, label), element("div", { class: "segments" }, ...buttons));
}

function playersOf(overview, change) {
  const chosen = new Set(chosenPlayers());
  const teams = ["home", "away"].filter((team) => !selection.team || selection.team === team).map((team) =>
    element("div", { class: "shirts" }, ...overview.players.filter((one) => one.team === team).map((one) =>
      element("button", {
        class: team, title: one.name || one.player, "aria-label": `${one.shirt ?? ""} ${one.name}`, "aria-pressed": String(chosen.has(one.player)),
        onclick: () => {
          if (!chosen.delete(one.player)) chosen.add(one.player);
          change({ player: [...chosen].join(",") });
        },
      }, String(one.shirt ?? "?")))));
  return element("div", { class: "choice", role: "group", "aria-label": "Players" }, element("h2", {}, "Players"), ...teams);
}

/* Two handles over the event time of the match. */
function timeOf(overview, change) {
  const begin = Math.floor(overview.periods[0].begin_us / 1e6);
  // Whole steps from the begin, or a browser sets the handle before the end.
  const end = begin + 10 * Math.ceil((overview.periods.at(-1).end_us / 1e6 - begin) / 10);
  const words = element("output", {}, "");
  const handle = (name, other, fallback, label) => {
    const made = element("input", { type: "range", min: begin, max: end, step: 10, "aria-label": label });
    made.value = selection[name] || fallback;
    made.addEventListener("input", () => show());
    made.addEventListener("change", () => change({ [name]: Number(made.value) === fallback ? "" : made.value }));
    return made;
  };
  const low = handle("from_s", "to_s", begin, "From");
  const high = handle("to_s", "from_s", end, "To");
  const show = () => { words.textContent = `${clock(low.value * 1e6)} to ${clock(high.value * 1e6)}`; };
  show();
  return element("div", { class: "choice", role: "group", "aria-label": "Time of the stream" }, element("h2", {}, "Time ", words), low, high);
}

function zoneOf(overview, change) {
  const canvas = pitch(196, overview, "Zone: drag a rectangle");
  const [long, wide] = [overview.length_m / 2, overview.width_m / 2];
  const back = (event) => {
    const box = canvas.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * (2 * long + 6) - long - 3;
    const y = wide + 3 - ((event.clientY - box.top) / box.height) * (2 * wide + 6);
    return [Math.max(-long, Math.min(long, x)), Math.max(-wide, Math.min(wide, y))];
  };
  const marked = shape("rect", { fill: token("text"), "fill-opacity": 0.25, stroke: token("text"), "stroke-width": 1.5 });
  const mark = (x0, x1, y0, y1) => {
    const [a, b] = [canvas.at(Math.min(x0, x1), Math.max(y0, y1)), canvas.at(Math.max(x0, x1), Math.min(y0, y1))];
    for (const [name, value] of Object.entries({ x: a[0], y: a[1], width: b[0] - a[0], height: b[1] - a[1] })) marked.setAttribute(name, value);
  };
  canvas.svg.append(marked);
  if (selection.zone) mark(...selection.zone.split(",").map(Number));
  let from = null;
  canvas.svg.classList.add("zone");
  canvas.svg.addEventListener("pointerdown", (event) => { from = back(event); canvas.svg.setPointerCapture(event.pointerId); });
  canvas.svg.addEventListener("pointermove", (event) => { if (from) { const to = back(event); mark(from[0], to[0], from[1], to[1]); } });
  canvas.svg.addEventListener("pointerup", (event) => {
    const to = back(event);
    const large = Math.abs(to[0] - from[0]) > 1 && Math.abs(to[1] - from[1]) > 1;
    change({ zone: large ? [from[0], to[0], from[1], to[1]].map((value) => value.toFixed(1)).join(",") : "" });
    from = null;
  });
  const third = long / 3;
  const presets = [
    ["", "whole pitch, or drag"], [[-long, -third, -wide, wide], "own third"], [[-third, third, -wide, wide], "middle third"], [[third, long, -wide, wide], "last third"],
    [[long - 16.5, long, -20.16, 20.16], "opponents' box"], [[-long, long, 20.16, wide], "left wing"], [[-long, long, 9.16, 20.16], "left half-space"],
    [[-long, long, -9.16, 9.16], "centre lane"], [[-long, long, -20.16, -9.16], "right half-space"], [[-long, long, -wide, -20.16], "right wing"],
  ].map(([value, shown]) => [value ? value.map((one) => one.toFixed(1)).join(",") : "", shown]);
  const known = presets.some(([value]) => value === selection.zone);
  if (!known) presets.push([selection.zone, "drawn"]);
  const choose = element("select", { "aria-label": "Zone", onchange: (event) => change({ zone: event.target.value }) },
    ...presets.map(([value, shown]) => element("option", { value, selected: value === selection.zone }, shown)));
  return element("div", { class: "choice", role: "group", "aria-label": "Zone of the pitch" }, element("h2", {}, "Zone, attacking →"), canvas.svg, choose);
}

/* Draws the panel; `change` gets what is to change. */
export function panel(overview, change) {
  const any = NAMES.some((name) => selection[name]);
  const periods = overview.periods.map((span) => [String(span.period), String(span.period)]);
  document.getElementById("selection").replaceChildren(
    segmented("Team", "team", [["", "Both"], ["home", overview.home], ["away", overview.away]], (one) => change({ ...one, player: "" })),
    playersOf(overview, change),
    segmented("Period", "period", [["", "All"], ...periods], change),
    overview.periods.length ? timeOf(overview, change) : "",
    segmented("Score, as the team sees it", "score", [["", "Any"], ["ahead", "Ahead"], ["level", "Level"], ["behind", "Behind"]], change),
    segmented("Phase, as the team sees it", "phase", [["", "Any"], ["in", "With the ball"], ["out", "Without"]], change),
    zoneOf(overview, change),
    element("button", { class: "clear", disabled: !any, onclick: () => change(Object.fromEntries(NAMES.map((name) => [name, ""]))) }, "Clear selection (X)")
  );
}
