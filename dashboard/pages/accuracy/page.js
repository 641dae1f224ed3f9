/* How often detected events are right, by what officials have corrected: by kind, match and venue, with intervals. */
import { api, element, load, open, state } from "/pages/shared/shell.js";

const GROUPS = [["all", "All matches"], ["match", "By match"], ["venue", "By venue"]];
const view = document.getElementById("accuracy");
const percent = (share) => (100 * share).toFixed(1) + " %";

/* The share as a mark within its interval, on a scale from 0 to 1. */
function bar(row) {
  const make = (className, x, width) => {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ class: className, x, width, y: className === "share" ? 0 : 3, height: className === "share" ? 10 : 4 })) rect.setAttribute(name, value);
    return rect;
  };
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 10");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(make("axis", 0, 100), make("interval", 100 * row.low, 100 * (row.high - row.low)), make("share", 100 * row.share - 0.5, 1));
  return svg;
}

function table(rows, group) {
  const heads = [group === "all" ? "Matches" : group === "match" ? "Match" : "Venue", "Kind", "Events", "Wrong", "Changed", "Right", "95 % interval", ""];
  return element(
    "table", {},
    element("thead", {}, element("tr", {}, ...heads.map((text) => (text ? element("th", { scope: "col" }, text) : element("td", {}))))),
    element("tbody", {}, ...rows.map((row) =>
      element("tr", {},
        ...[group === "all" ? String(row.matches) : row.name || "unknown", row.title, row.events, row.wrong, row.changed, percent(row.share), percent(row.low) + " – " + percent(row.high)].map((text) => element("td", {}, String(text))),
        element("td", {}, bar(row)))))
  );
}

open("accuracy", view, async () => {
  const rows = await load(view, "Counting corrections", () => api("/accuracy"));
  if (!rows) return;
  if (!rows.length) {
    state(view, "empty", "Officials have corrected no event of these matches yet.");
    return;
  }
  const shown = element("div", { id: "rows", tabindex: "0", role: "region", "aria-label": "Accuracy by kind" });
  const chooser = element("select", { id: "group", onchange: () => show() }, ...GROUPS.map(([name, text]) => element("option", { value: name }, text)));
  const show = () => shown.replaceChildren(table(rows.filter((row) => row.group === chooser.value), chooser.value));
  view.append(
    element("p", {}, "Of the events that were reported, the share that officials left as they were or confirmed, in matches with at least one correction. Wrong: withdrawn, or of another kind. Changed: of the right kind, with another player, variant or time. What was never reported is not counted."),
    element("label", {}, "Show ", chooser),
    shown
  );
  show();
});
