/* The analyst's room: groups of charts over one selection, which the address holds. */
import { address, api, clock, element, follow, keys, load, of, open, query, state } from "/pages/shared/shell.js";
import * as drawer from "./actions.js";
import { dataAddress, savePng, saveSvg } from "./exporting.js";
import * as onPitch from "./on_pitch.js";
import * as overTime from "./over_time.js";
import * as season from "./season.js";
import { chosenPlayers, panel, readSelection, searchOf, selection } from "./selection.js";
import { zoom } from "./svg.js";
import * as tables from "./tables.js";

/* The one drawing function of each chart: (rows, notes, context) -> figures. */
const DRAW = {
  teams: tables.teams, xg_race: overTime.xgRace, win_chance: overTime.winChance, momentum: overTime.momentum, shot_map: onPitch.shotMap,
  pass_network: onPitch.passNetwork, pass_sonar: onPitch.passSonar, pass_flow: onPitch.passFlow, pass_matrix: tables.passMatrix,
  progressive: onPitch.passMap, line_breaking: onPitch.passMap, passes: onPitch.passMap, possession: overTime.shares,
  territory: overTime.shares, sequences: tables.sequences, pressing: overTime.ppda, regains: onPitch.regains,
  players_with_ball: tables.playersWithBall, chains: tables.chains, shape_time: overTime.shapeTime, ball_time: overTime.ballTime,
  transitions: tables.transitions, duel_map: onPitch.duelMap, duels: tables.duels, running: overTime.runningPlayers, running_time: overTime.runningTime,
  sprints: onPitch.runs, heat_map: onPitch.heat, touch_map: onPitch.heat, average_positions: onPitch.averagePositions,
  set_plays: onPitch.setPlays, players: tables.players, comparison: tables.comparison,
  season_teams: season.teams, season_matches: season.matches, season_players: season.players,
  season_versus: season.versus,
};

/* Charts that are drawn of the data of another one. */
const DRAWN_OF = { comparison: "players" };
const FURTHER = [{ name: "comparison", group: "Compare", title: "Players next to each other", options: [] }];

/* Charts of all open matches, which no selection narrows. */
const SEASON = [
  { name: "season_versus", group: "Compare", title: "Teams next to each other", options: [], of: "matches" },
  { name: "season_teams", group: "Season", title: "Teams", options: [], of: "teams" },
  { name: "season_matches", group: "Season", title: "Matches", options: [], of: "matches" },
  { name: "season_players", group: "Season", title: "Players", options: [], of: "players" },
];

const VALUES = {
  step: [["5", "by 5 minutes"], ["15", "by 15 minutes"], ["1", "by minute"]],
  grid: [["16x25", "16 × 25 cells"], ["8x13", "8 × 13 cells"], ["32x50", "32 × 50 cells"], ["64x100", "64 × 100 cells"]],
  zones: [["fifa", "zones of FIFA"], ["debs", "classes of DEBS 2013"]],
};

const GROWN_MS = 5000; // the server reads a running match anew twice a minute at most

const view = document.getElementById("analyst");
const charts = document.getElementById("charts");
const options = {};
let overview = null;
let match = null;
let actions = null;
let group = "";
let turn = 0;
let several = false;
let listed = ""; // the chart of the address whose actions are shown once it is drawn

export const rowsOf = (answer) => {
  const names = Object.keys(answer.columns);
  const count = names.length ? answer.columns[names[0]].length : 0;
  return Array.from({ length: count }, (_, at) => Object.fromEntries(names.map((name) => [name, answer.columns[name][at]])));
};

const nameOf = (player) => {
  const found = overview.players.find((one) => one.player === player);
  return found ? [found.shirt, found.name].filter((part) => part !== null && part !== "").join(" ") : player;
};

function change(values) {
  Object.assign(selection, values);
  const search = searchOf({ match: match.match, tab: group });
  history.replaceState(null, "", "?" + search);
  panel(overview, change);
  refresh();
}

/* Pixels of a small screen that a card has for its drawings; `zoom` makes them those of this screen. */
const roomOf = (card) => Math.max(320, Math.floor((card.clientWidth - 26) / zoom()));

/* Width of a pitch that is seen whole, with the head of its card. */
const pitchThatFits = () => Math.floor((Math.max(320, charts.clientHeight) / zoom() - 130) * 1.5);

/* Teams stand below each other where they would be too small next to each other. */
const isNarrow = (card) => roomOf(card) < 640;

function pitchWidth(card) {
  const beside = selection.team || isNarrow(card) ? roomOf(card) : Math.floor(roomOf(card) / 2) - 10;
  return Math.max(260, Math.min(pitchThatFits(), beside));
}

const context = (chart, card) => ({
  overview, actions, match: match.match, rowsOf, title: chart.title, name: nameOf,
  teams: selection.team ? [selection.team] : ["home", "away"],
  whole: roomOf(card),
  fit: Math.min(roomOf(card), pitchThatFits()),
  width: pitchWidth(card),
  about: () => chosenPlayers().map(nameOf).join(", ") || (selection.team ? overview[selection.team] : "Both teams"),
  pick: (rows, title) => drawer.show(rows, title, { overview, actions, match: match.match, rowsOf }),
  follow: (player) => change({ player, team: overview.players.find((one) => one.player === player)?.team || selection.team }),
  see: (ts_us) => location.assign(drawer.replay(match.match, ts_us)),
  play: (begin_us, end_us, shown) => element("a", { href: drawer.replay(match.match, begin_us), title: `Play ${clock(begin_us)} to ${clock(end_us)}` }, shown || clock(begin_us)),
  option: (name, fallback, values, words = {}) => choice(chart, card, name, fallback, values, words),
});

/* An option of the drawing: a chooser in the head of the card, and its value. */
function choice(chart, card, name, fallback, values, words) {
  const key = chart.name + "." + name;
  const value = values.includes(options[key]) ? options[key] : fallback;
  const place = card.querySelector(".options");
  if (values.length > 1) {
    place.append(element("select", { "aria-label": name, onchange: (event) => { options[key] = event.target.value; draw(chart, card); } },
      ...values.map((one) => element("option", { value: one, selected: one === value }, words[one] || one.replaceAll("_", " ")))));
  }
  return value;
}

const searchFor = (chart) => searchOf(Object.fromEntries(chart.options.map((name) => [name, options[chart.name + "." + name] || ""])));
const source = (chart) => DRAWN_OF[chart.name] || chart.name;

function menu(chart, card) {
  const files = element("details", { class: "files" }, element("summary", { title: "Save this view" }, "Save"));
  const file = `${match.match} ${chart.name}`.replaceAll(/[^\w.-]+/g, "_");
  const title = () => `${chart.title}: ${overview.home} – ${overview.away}`;
  const items = ["csv", "parquet"].map((form) => element("a", { href: dataAddress(match.match, source(chart), searchFor(chart), form), download: `${file}.${form}` }, form === "csv" ? "CSV" : "Parquet"));
  if (card.figures.some((one) => one.svg)) {
    items.unshift(element("button", { onclick: () => savePng(title(), file, card.figures) }, "PNG"), element("button", { onclick: () => saveSvg(title(), file, card.figures) }, "SVG"));
  }
  files.append(element("div", {}, ...items));
  return files;
}

/* Draws a card of its answer. */
function draw(chart, card) {
  const body = card.querySelector(".figures-of");
  card.querySelector(".options").replaceChildren();
  for (const name of chart.options) {
    const key = chart.name + "." + name;
    card.querySelector(".options").append(element("select", { "aria-label": name, onchange: (event) => { options[key] = event.target.value; fetchCard(chart, card, turn); } },
      ...VALUES[name].map(([value, shown]) => element("option", { value, selected: (options[key] || VALUES[name][0][0]) === value }, shown))));
  }
  const rows = rowsOf(card.answer);
  const figures = rows.length ? DRAW[chart.name](rows, card.answer.notes || {}, context(chart, card)) : [{ empty: "Nothing in this selection." }];
  card.figures = figures;
  card.classList.toggle("narrow", isNarrow(card));
  body.className = "figures-of" + (figures.length > 1 && !figures[0].stacked ? " two" : "");
  body.replaceChildren(...figures.map((one) => one.empty
    ? element("p", { class: "none" }, one.empty)
    : element("figure", {}, ...(one.title ? [element("figcaption", { class: "of " + (one.team || "") }, one.title)] : []), one.svg || one.node,
      ...(one.caption ? [element("figcaption", { class: "soft" }, one.caption)] : []))),
  ...(chart.whole?.length ? [element("p", { class: "soft whole" }, `Not narrowed by ${new Intl.ListFormat("en-GB").format(chart.whole)}.`)] : []));
  const all = rows.flatMap((row) => (Array.isArray(row.rows) ? row.rows : []));
  card.querySelector(".tools").replaceChildren(
    ...(all.length ? [element("button", { onclick: () => context(chart, card).pick(all, chart.title), title: "All actions behind this chart" }, "List")] : []), ...(chart.of ? [] : [menu(chart, card)]));
  if (listed !== chart.name) return;
  listed = "";
  if (all.length) context(chart, card).pick(all, chart.title);
  card.scrollIntoView({ block: "nearest" });
}

async function fetchCard(chart, card, mine) {
  card.dataset.loading = "true";
  try {
    const answer = await api(chart.of ? "/season/" + chart.of : of(match.match, `/analyst/charts/${source(chart)}?${searchFor(chart)}`));
    if (mine !== turn) return;
    if (!chart.of && answer.key !== overview.key) {
      await grow();
      return;
    }
    card.answer = answer;
    draw(chart, card);
  } catch (error) {
    if (mine !== turn || error.status === undefined) throw error;
    card.querySelector(".figures-of").replaceChildren(element("p", { class: "none lost", role: "alert" }, error.message + " "), element("button", { onclick: () => fetchCard(chart, card, turn) }, "Try again"));
  } finally {
    delete card.dataset.loading;
  }
}

/* Fetches what the charts of the group need; the old drawing stays until the new one is there. */
async function refresh() {
  turn += 1;
  const mine = turn;
  for (const card of charts.querySelectorAll(".card")) {
    if (mine !== turn) return;
    await fetchCard(card.chart, card, mine);
  }
}

function show(name) {
  group = name;
  history.replaceState(null, "", "?" + searchOf({ match: match.match, tab: group }));
  for (const tab of document.getElementById("tabs").children) {
    tab.setAttribute("aria-selected", String(tab.textContent === name));
    tab.tabIndex = tab.textContent === name ? 0 : -1;
  }
  const cards = all().filter((chart) => chart.group === name).map((chart) => {
    const card = element("article", { class: "card", "aria-label": chart.title },
      element("header", {}, element("h2", {}, chart.title), element("div", { class: "options" }), element("div", { class: "tools" })),
      element("div", { class: "figures-of" }, element("p", { class: "none" }, "Reading …")));
    card.chart = chart;
    card.id = "chart-" + chart.name;
    return card;
  });
  charts.replaceChildren(...cards);
  charts.scrollTop = 0;
  refresh();
}

const all = () => [...overview.charts, ...FURTHER, ...(several ? SEASON : [])].filter((chart) => DRAW[chart.name]);
const groups = () => [...new Set(all().map((chart) => chart.group))];

function tabs() {
  const bar = document.getElementById("tabs");
  bar.replaceChildren(...groups().map((name) => element("button", { role: "tab", "aria-controls": "charts", onclick: () => show(name) }, name)));
  document.getElementById("report").href = "/report?match=" + encodeURIComponent(match.match);
}

function step(by) {
  const names = groups();
  show(names[(names.indexOf(group) + by + names.length) % names.length]);
  document.querySelector('#tabs [aria-selected="true"]').focus();
  return true;
}

function redraw() {
  for (const card of charts.querySelectorAll(".card")) if (card.answer) draw(card.chart, card);
}

async function begin(row, matches) {
  match = row;
  several = matches ? matches.length > 1 : several;
  readSelection();
  listed = query().get("list") || "";
  if (!(await load(view, "Reading the match. The first time takes some seconds.", () => read().then(() => true)))) return;
  if (isEmpty()) {
    const text = overview.ended ? "Nothing has been detected in this match." : "Nothing of this match is stored yet. The first half minute follows when it is over.";
    state(view, "empty", text);
    await follow(GROWN_MS, () => read().then(() => overview.ended || !isEmpty()));
    if (isEmpty()) return;
    state(view, "ready");
  }
  panel(overview, change);
  tabs();
  reached();
  show(groups().includes(query().get("tab")) ? query().get("tab") : groups()[0]);
  if (!overview.ended) await follow(GROWN_MS, () => grow().then(() => overview.ended));
}

const isEmpty = () => !overview.periods.length || !actions.table.length;

async function read() {
  const [first, second] = await Promise.all([api(of(match.match, "/analyst")), api(of(match.match, "/analyst/actions"))]);
  overview = first;
  actions = second.columns;
}

/* Says how far a running match is shown. */
function reached() {
  const last = overview.periods.at(-1);
  document.getElementById("far").textContent = overview.ended || !last ? "" : "Running, stored to " + clock(last.end_us);
}

/* Takes in what was committed since; the old drawings stay until the new ones are there. */
async function grow() {
  const before = overview;
  await read();
  if (overview.key === before.key) return;
  const listed = (one) => JSON.stringify([one.players, one.periods.length]);
  if (listed(overview) !== listed(before)) panel(overview, change);
  reached();
  await refresh();
}

keys(
  ["← →", "group of charts before or after", (event) => (event.key === "ArrowRight" ? step(1) : event.key === "ArrowLeft" && step(-1)) || false],
  ["X", "clear the selection", (event) => event.key.toLowerCase() === "x" && overview && (change(Object.fromEntries(Object.keys(selection).map((name) => [name, ""]))), true)],
  ["Esc", "close the list of actions", (event) => event.key === "Escape" && (drawer.close(), true)],
  ["P", "replay room", (event) => event.key.toLowerCase() === "p" && match && (location.assign(address("replay", match.match)), true)]
);
addEventListener("themechange", () => { if (overview) { panel(overview, change); redraw(); } });
let wide = 0;
new ResizeObserver(() => {
  if (Math.abs(charts.clientWidth - wide) < 3) return;
  wide = charts.clientWidth;
  clearTimeout(redraw.timer);
  redraw.timer = setTimeout(redraw, 60);
}).observe(charts);

open("analyst", view, begin);
