/* Figures of all open matches. A number of a team or a player leads to his matches, one of a match to its events. */
import { address, api, element } from "/pages/shared/shell.js";
import { nextToEachOther, sortable } from "./tables.js";

/* By column: heading, what it is, digits (or "share"), the chart of a match that has its events. */
const FIGURES = {
  played: ["Played", "matches played", 0], won: ["Won", "matches won", 0], drawn: ["Drawn", "matches drawn", 0], lost: ["Lost", "matches lost", 0],
  minutes: ["Minutes", "time on the pitch", 0, "running"],
  goals: ["Goals", "goals scored", 0, "shot_map"], against: ["Conceded", "goals of the opponents", 0, "shot_map"], assists: ["Assists", "last passes before a goal", 0, "passes"],
  xg: ["xG", "expected goals", 2, "shot_map"], xg_against: ["xG against", "expected goals of the opponents", 2, "shot_map"],
  shots: ["Shots", "attempts at goal", 0, "shot_map"], on_target: ["On target", "shots on target", 0, "shot_map"],
  possession: ["Possession", "share of the time with the ball", "share", "sequences"],
  passes: ["Passes", "attempted passes", 0, "passes"], pass_share: ["Completed", "share of completed passes", "share", "passes"],
  progressive: ["Progressive", "passes that bring the ball much nearer to the goal", 0, "progressive"], key_passes: ["Key passes", "last passes before a shot", 0, "passes"],
  km: ["Km", "distance run, in kilometres", 1, "running"], km_per_90: ["Km in 90 min", "distance run for 90 minutes, in kilometres", 1, "running"],
  sprints: ["Sprints", "runs at sprinting speed", 0, "sprints"], sprints_per_90: ["Sprints in 90 min", "sprints for 90 minutes", 1, "sprints"],
  top_km_h: ["Top km/h", "greatest speed", 1, "running"],
};
const GROUPS = { shot_map: "Shots", passes: "Passes", progressive: "Passes", sequences: "Possession", running: "Running", sprints: "Running" };
const OF_OPPONENT = ["against", "xg_against"];
const AS_IN_MATCH = { km_per_90: "km", sprints_per_90: "sprints", played: "goals", won: "goals", drawn: "goals", lost: "goals" };
const MEANS = ["shots", "possession", "passes", "pass_share", "progressive", "km"];
const HIDDEN = ["player", "team"];
const opened = {}; // by table: the row and the column whose matches are shown, which a new drawing shows again
const OTHER = { home: "away", away: "home" };

function shown(name, value) {
  const digits = FIGURES[name][2];
  return digits === "share" ? Math.round(100 * value) + " %" : value.toFixed(Number.isInteger(value) ? 0 : digits);
}

/* Address of the chart, in the match of a row, whose actions are behind a number. */
function toEvents(row, name) {
  const chart = FIGURES[name][3];
  const team = OF_OPPONENT.includes(name) ? OTHER[row.team] : row.team;
  return address("analyst", row.match, { tab: GROUPS[chart], list: chart, team, ...(row.player ? { player: row.player } : {}) });
}

/* A table of some rows; `make` makes what is shown of a number. */
function table(rows, words, make, caption, means = []) {
  const names = Object.keys(rows[0]).filter((name) => !HIDDEN.includes(name));
  const head = (name) => (words[name] ? [words[name], "click: sort"]
    : [FIGURES[name][0], FIGURES[name][1] + (means.includes(name) ? ", mean of a match" : "") + "; click: sort"]);
  const content = (row, name) => {
    if (name === "match") return element("a", { href: address("analyst", row.match) }, row.match);
    if (words[name]) return String(row[name] ?? "");
    return row[name] === null ? "–" : make(row, name, shown(name, row[name]));
  };
  return sortable(names.map(head), rows.map((row) => ({
    values: names.map((name) => row[name]), line: element("tr", {}, ...names.map((name) => element("td", {}, content(row, name)))),
  })), caption);
}

const link = (row, name, text) => element("a", { class: "value", href: toEvents(row, name), "aria-label": `${FIGURES[name][0]}, ${row.name}, ${row.match}: ${text}` }, text);

export function matches(rows) {
  return [{ node: table(rows, { match: "Match", name: "Team", opponent: "Opponent" }, link, "Matches"), caption: "All open matches. No selection narrows it. A number opens its events in the match" }];
}

/* A place for the matches behind a number, and the button that shows them there. Which are shown is kept under `name`. */
function behindNumbers(name, who, source, isOf, context) {
  const place = element("div", { class: "behind" });
  const open = async (row, figure, again = false) => {
    opened[name] = [row, figure];
    place.textContent = "Reading the matches …";
    try {
      const found = context.rowsOf(await api("/season/" + source)).filter((one) => isOf(one, row));
      const chosen = AS_IN_MATCH[figure] || figure;
      const heading = element("h3", { tabindex: "-1" }, `${row.name}: ${FIGURES[figure][0].toLowerCase()} by match`);
      place.replaceChildren(heading, table(found, { match: "Match", name: who, opponent: "Opponent", shirt: "Shirt", team_name: "Team" },
        (one, other, text) => { const made = link(one, other, text); made.classList.toggle("chosen", other === chosen); return made; }, "Matches of " + row.name));
      if (again) return;
      heading.focus({ preventScroll: true });
      place.scrollIntoView({ block: "nearest" });
    } catch (error) {
      place.textContent = error.message;
    }
  };
  const button = (row, figure, text) => element("button", { class: "value", onclick: () => open(row, figure), "aria-label": `${FIGURES[figure][0]}, ${row.name}: ${text}` }, text);
  if (opened[name]) open(...opened[name], true);
  return { place, button };
}

/* Figures of who has a row, each with a table of the matches behind it, which appears below. */
function summed(rows, words, source, isOf, context, means) {
  const { place, button } = behindNumbers(source, words.name, source, isOf, context);
  return [{ node: element("div", {}, table(rows, words, button, "Season", means), place), caption: "All open matches. No selection narrows it. A number shows the matches behind it" }];
}

export const teams = (rows, notes, context) =>
  summed(rows, { name: "Team" }, "matches", (one, row) => one.name === row.name, context, MEANS);

export const players = (rows, notes, context) =>
  summed(rows, { name: "Player", shirt: "Shirt", team_name: "Team" }, "appearances", (one, row) => one.name === row.name && one.team_name === row.team_name, context, []);

/* Two teams next to each other, each in this match or in all: home and away of this match, or a team beside its own season. */
export function versus(rows, notes, context) {
  const here = rows.filter((row) => row.match === context.match);
  const sides = Object.fromEntries([
    ...here.map((row) => ["match " + row.name, [row.name + " in this match", [row]]]),
    ...[...new Set(rows.map((row) => row.name))].sort().map((name) => ["season " + name, [name + ", mean of all matches", rows.filter((row) => row.name === name)]]),
  ]);
  const ids = Object.keys(sides);
  const words = Object.fromEntries(ids.map((id) => [id, sides[id][0]]));
  const chosen = ["one", "other"].map((name, at) => sides[context.option(name, ids[at], ids, words)]);
  const names = Object.keys(rows[0]).filter((name) => FIGURES[name]);
  const { place, button } = behindNumbers("versus", "Team", "matches", (one, row) => one.name === row.name, context);
  const find = (figure, column) => {
    const name = names[figure];
    const [, behind] = chosen[column];
    const values = behind.map((row) => row[name]).filter((value) => value !== null);
    if (!values.length) return [null, element("td", {}, "–")];
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const text = behind.length > 1 && FIGURES[name][2] === 0 ? mean.toFixed(1) : shown(name, mean);
    return [mean, element("td", {}, (behind.length > 1 ? button : link)(behind[0], name, text))];
  };
  const heads = chosen.map(([title], at) => [title, ["home", "away"][at]]);
  const compared = nextToEachOther(heads, names.map((name) => FIGURES[name].slice(0, 2)), find);
  return [{ node: element("div", {}, compared, place), caption: "All open matches. No selection narrows it. A number of this match opens its events, a mean shows its matches" }];
}
