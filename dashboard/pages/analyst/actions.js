/* The drawer: the actions behind a number, each with its moment in the replay, and the frozen moment of one. */
import { address, api, element, of } from "/pages/shared/shell.js";
import { moment } from "./on_pitch.js";
import { zoom } from "./svg.js";

const LEAD_S = 3;
const SHOWN_MAX = 400;
const drawer = () => document.getElementById("actions");

/* Address of the replay a little before an event time. */
export const replay = (match, ts_us) => address("replay", match, { t: Math.max(0, ts_us / 1e6 - LEAD_S).toFixed(2) });

export function close() {
  drawer().hidden = true;
  drawer().replaceChildren();
}

/* Shows some actions. `context` has match, overview, actions (columns by name). */
export function show(numbers, title, context) {
  const { actions, match, overview } = context;
  const wanted = [...new Set(numbers)].sort((a, b) => actions.ts_us[a] - actions.ts_us[b]);
  const lines = wanted.slice(0, SHOWN_MAX).map((row) => {
    const name = [actions.shirt[row], actions.name[row] || actions.player[row]].filter((part) => part !== null).join(" ");
    const line = element("li", { class: actions.team[row] || "" },
      element("a", { href: replay(match, actions.ts_us[row]), title: "Play it" }, actions.clock[row] || "–"),
      element("span", { class: "who" }, name), element("span", { class: "what" }, actions.text[row]));
    if (["passes", "shots"].includes(actions.table[row])) {
      line.append(element("button", { class: "freeze", "aria-label": `Moment of ${name} at ${actions.clock[row]}`, title: "Freeze the moment", onclick: () => freeze(row, context) }, "❄"));
    }
    return line;
  });
  const more = wanted.length > SHOWN_MAX ? [element("p", { class: "soft" }, `The first ${SHOWN_MAX} of ${wanted.length}.`)] : [];
  const said = wanted.length === 1 ? "1 action" : `${wanted.length} actions`;
  drawer().hidden = false;
  drawer().replaceChildren(
    element("div", { class: "head" }, element("h2", { tabindex: "-1" }, title), element("button", { "aria-label": "Close the list", onclick: close }, "×")),
    element("p", { class: "soft" }, wanted.length ? said + ". A time plays it." : "No action lies behind this."),
    element("div", { id: "moment" }), element("ol", {}, ...lines), ...more);
  drawer().querySelector("h2").focus();
  if (wanted.length === 1 && overview && ["passes", "shots"].includes(actions.table[wanted[0]])) freeze(wanted[0], context);
}

async function freeze(row, context) {
  const place = document.getElementById("moment");
  place.textContent = "Reading positions …";
  try {
    const answer = await api(of(context.match, "/analyst/moment?action=" + row));
    const rows = context.rowsOf(answer);
    if (!rows.length) {
      place.textContent = "The store has no positions of this moment.";
      return;
    }
    const { notes } = answer;
    const xg = notes.xg === null ? "" : `, xG ${notes.xg.toFixed(2)}`;
    place.replaceChildren(moment(rows, notes, { ...context, width: (drawer().clientWidth - 24) / zoom() }),
      element("p", { class: "soft" }, `${notes.clock} ${notes.name || notes.player}: ${notes.outcome || "unknown"}${xg}. Attacks to the right; ticks: way of half a second; colour: who would control the ball there`));
  } catch (error) {
    place.textContent = error.message;
  }
}
