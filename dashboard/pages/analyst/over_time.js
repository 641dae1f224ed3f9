/* Charts over the time of the match, and bars by player. */
import { token } from "/pages/shared/shell.js";
import { drawing, field, shape, text, ticks } from "./svg.js";

const who = (row) => [row.shirt, row.name || row.player].filter((part) => part !== null && part !== "").join(" ");
const HEIGHT = 230;

const minute = (s) => Math.round(s / 60);

/* Marks of an axis of time: full minutes, at least four of them. */
function minutes(last_s) {
  const found = [];
  const step = [900, 300, 120].find((one) => last_s >= 3 * one) || 60;
  for (let at = 0; at <= last_s + 60; at += step) found.push([at, String(minute(at))]);
  return found;
}

export function xgRace(rows, notes, context) {
  const most = Math.max(0.5, ...rows.map((row) => row.total)) * 1.1;
  const last = Math.max(60, notes.last_s);
  const { svg, x, y } = field(context.whole, HEIGHT, "xG race", { xs: [0, last], ys: [0, most], xTicks: minutes(last), yTicks: ticks(most) });
  for (const [period, at] of notes.periods.slice(1)) {
    svg.append(shape("line", { x1: x(at), x2: x(at), y1: y(0), y2: y(most), stroke: token("faint"), "stroke-dasharray": "2 4", title: "Period " + period }));
  }
  for (const [team, at] of notes.own_goals) {
    svg.append(shape("line", { x1: x(at), x2: x(at), y1: y(0), y2: y(most), stroke: token(team), "stroke-dasharray": "5 3", title: "Own goal for " + context.overview[team] }));
  }
  const captions = [];
  for (const team of context.teams) {
    const mine = rows.filter((row) => row.team === team);
    let path = `M${x(0)} ${y(0)}`;
    for (const row of mine) path += ` H${x(row.at_s).toFixed(1)} V${y(row.total).toFixed(1)}`;
    svg.append(shape("path", { d: path + ` H${x(last)}`, fill: "none", stroke: token(team), "stroke-width": 2.2, "stroke-dasharray": team === "away" ? "7 3" : undefined }));
    for (const row of mine) {
      const label = `${row.clock} ${who(row)}: ${row.outcome || "shot"}, xG ${row.xg.toFixed(2)}`;
      svg.append(shape("circle", { cx: x(row.at_s), cy: y(row.total), r: row.goal ? 6.5 : 3.5, fill: row.goal ? token(team) : token("panel"), stroke: token(team), "stroke-width": 1.6, title: label, onpick: () => context.pick(row.rows, label) }));
      if (row.goal) svg.append(text(x(row.at_s) - 9, y(row.total) - 6, who(row), { "text-anchor": "end", "font-size": 11 }));
    }
    const sum = mine.length ? mine.at(-1).total : 0;
    captions.push(`${context.overview[team]} ${sum.toFixed(2)} (${mine.length} shots, ${team === "away" ? "dashed" : "solid"})`);
  }
  return [{ svg, wide: true, caption: captions.join("; ") + ". Filled: goal; minutes of play" }];
}

/* Layers: home wins below, away wins above, a draw between them. */
export function winChance(rows, notes, context) {
  const last = Math.max(60, notes.last_s);
  const { svg, x, y } = field(context.whole, HEIGHT, "Chance to win", { xs: [0, last], ys: [0, 1], xTicks: minutes(last), yTicks: [[0, "0 %"], [0.5, "50 %"], [1, "100 %"]], left: 46 });
  const shares = (row) => `${context.overview.home} ${Math.round(100 * row.home)} %, draw ${Math.round(100 * row.draw)} %, ${context.overview.away} ${Math.round(100 * row.away)} %`;
  rows.forEach((row, at) => {
    const [from, until] = [x(row.at_s), x(at + 1 < rows.length ? rows[at + 1].at_s : last)];
    const label = `${row.clock}: ${shares(row)}${row.rows.length ? "; goal" : ""}`;
    const act = row.rows.length ? () => context.pick(row.rows, label) : () => context.see(row.ts_us);
    for (const [fill, low, share] of [[token("home"), 0, row.home], [token("raised"), row.home, row.draw], [token("away"), 1 - row.away, row.away]]) {
      svg.append(shape("rect", { x: from, y: y(low + share), width: Math.max(1, until - from), height: Math.max(0, y(low) - y(low + share)), fill, title: label, onpick: act }));
    }
    if (row.rows.length) svg.append(shape("line", { x1: from, x2: from, y1: y(0), y2: y(1), stroke: token("text"), "stroke-width": 2, "pointer-events": "none" }));
  });
  svg.append(shape("line", { x1: x(0), x2: x(last), y1: y(0.5), y2: y(0.5), stroke: token("soft"), "stroke-dasharray": "3 4", "pointer-events": "none" }));
  for (const [period, at] of notes.periods.slice(1)) svg.append(shape("line", { x1: x(at), x2: x(at), y1: y(0), y2: y(1), stroke: token("soft"), "stroke-dasharray": "2 4", title: "Period " + period }));
  const end = rows.at(-1);
  return [{ svg, wide: true, caption: `At ${end.clock}: ${shares(end)}. Below ${context.overview.home}, above ${context.overview.away}, between them a draw; upright: a goal. By score, time and players on the pitch (${end.model}); it knows nothing of who plays` }];
}

export function momentum(rows, notes, context) {
  const most = Math.max(0.02, ...rows.map((row) => Math.abs(row.balance))) * 1.1;
  const last = Math.max(1, rows.length);
  const { svg, x, y } = field(context.whole, 180, "Momentum", { xs: [0, last], ys: [-most, most], xTicks: minutes(60 * last).map(([at, shown]) => [at / 60, shown]), yTicks: [] , left: 8 });
  const wide = Math.max(1, x(1) - x(0) - 1);
  for (const row of rows) {
    const team = row.balance >= 0 ? "home" : "away";
    const label = `Minute ${row.minute}: ${context.overview[team]} ahead by ${Math.abs(row.balance).toFixed(3)}`;
    const top = Math.min(y(0), y(row.balance));
    svg.append(shape("rect", { x: x(row.minute), y: top, width: wide, height: Math.max(0.5, Math.abs(y(row.balance) - y(0))), fill: token(team), title: label, onpick: () => context.pick(row.rows, "Minute " + row.minute) }));
  }
  svg.append(shape("line", { x1: x(0), x2: x(last), y1: y(0), y2: y(0), stroke: token("soft") }));
  for (const [team, at, row] of notes.goals) {
    const place = [x(at / 60), team === "home" ? 12 : 150];
    svg.append(shape("circle", { cx: place[0], cy: place[1], r: 5, fill: token(team), stroke: token("text"), title: "Goal", onpick: () => context.pick([row], "Goal") }));
  }
  return [{ svg, wide: true, caption: `Up: ${context.overview.home}, down: ${context.overview.away}. xG of shots, passes and carries into the last third and the box, smoothed over minutes; dots: goals` }];
}

const stretchesOf = (rows) => [...new Set(rows.map((row) => row.stretch))];

/* Shares of both teams by stretch of the match. */
export function shares(rows, notes, context) {
  const parts = stretchesOf(rows);
  const { svg, x, y } = field(context.whole, HEIGHT, context.title, { xs: [0, parts.length], ys: [0, 1], xTicks: parts.map((name, at) => [at + 0.5, name]), yTicks: [[0, "0"], [0.5, "50"], [1, "100"]] });
  const wide = x(1) - x(0) - 3;
  for (const row of rows) {
    const share = row.share || 0;
    const [at, from] = [parts.indexOf(row.stretch), row.team === "home" ? share : 1];
    const amount = row.seconds === undefined ? `${row.n} passes` : `${Math.round(row.seconds)} s`;
    const label = `${row.stretch} ${context.overview[row.team]}: ${Math.round(100 * share)} %, ${amount}`;
    svg.append(shape("rect", { x: x(at) + 1.5, y: y(from), width: wide, height: Math.max(0, y(0) - y(share)), fill: token(row.team), "fill-opacity": context.teams.includes(row.team) ? 1 : 0.35, title: label, onpick: () => context.pick(row.rows, label) }));
    if (wide > 24 && share > 0.12) {
      svg.append(text(x(at) + 1.5 + wide / 2, y(from - share / 2) + 4, Math.round(100 * share), { "text-anchor": "middle", fill: token(row.team + "-ink"), "pointer-events": "none" }));
    }
  }
  const whole = (team) => (notes[team] === null || notes[team] === undefined ? "–" : Math.round(100 * notes[team]) + " %");
  return [{ svg, wide: true, caption: `${context.overview.home} ${whole("home")} (below), ${context.overview.away} ${whole("away")} (above), in percent; the last stretch of a half has its added time` }];
}

/* Bars of both teams next to each other by stretch; `figure` names the column, `words(row)` the label, `behind` the column of its actions. */
function paired(rows, context, figure, words, caption, behind = "rows") {
  const parts = stretchesOf(rows);
  const most = Math.max(1e-9, ...rows.map((row) => row[figure] || 0)) * 1.08;
  const { svg, x, y } = field(context.whole, HEIGHT, context.title, { xs: [0, parts.length], ys: [0, most], xTicks: parts.map((name, at) => [at + 0.5, name]), yTicks: ticks(most), left: 46 });
  const wide = (x(1) - x(0) - 6) / context.teams.length;
  for (const row of rows) {
    const index = context.teams.indexOf(row.team);
    const value = row[figure];
    if (index < 0 || value === null) continue;
    const label = `${row.stretch} ${context.overview[row.team]}: ${words(row)}`;
    const left = x(parts.indexOf(row.stretch)) + 3 + index * wide;
    svg.append(shape("rect", { x: left, y: y(value), width: Math.max(1, wide - 1), height: Math.max(0.5, y(0) - y(value)), fill: token(row.team), title: label, onpick: () => context.pick(row[behind], label) }));
  }
  return [{ svg, wide: true, caption }];
}

export function ppda(rows, notes, context) {
  const shown = (team) => (notes[team] === null ? "–" : notes[team].toFixed(1));
  return paired(rows, context, "ppda", (row) => `${row.ppda.toFixed(1)} (${row.passes} passes, ${row.actions} actions)`,
    `${context.overview.home} ${shown("home")} (left), ${context.overview.away} ${shown("away")} (right). Passes let for each tackle and interception in the opponents' 60 %; low is high pressing; no bar: no action`);
}

export function runningTime(rows, notes, context) {
  if (!notes.measured) return unmeasured();
  const figure = context.option("figure", "distance_m", ["distance_m", "fast_m", "sprints"], { distance_m: "metres", fast_m: "metres above 20 km/h", sprints: "sprints" });
  return paired(rows, context, figure, (row) => `${Math.round(row.distance_m)} m, ${Math.round(row.fast_m)} m above 20 km/h, ${row.sprints} sprints`,
    `${context.overview.home} left, ${context.overview.away} right; the last stretch of a half has its added time`);
}

export function shapeTime(rows, notes, context) {
  if (!notes.measured) return unmeasured();
  const figure = context.option("figure", "press_per_s", ["press_per_s", "area_m2"], { press_per_s: "pressing index", area_m2: "area" });
  const said = { press_per_s: "Sum over opponents of the ball's holder of their approach over their distance (StreamTeam), while the others have the ball; high is close pressing", area_m2: "Mean area around all outfield players in m²" };
  return paired(rows, context, figure, (row) => `pressing index ${(row.press_per_s || 0).toFixed(2)} a second, area ${Math.round(row.area_m2 || 0)} m²`,
    `${context.overview.home} left, ${context.overview.away} right. ${said[figure]}; zone: where the ball is; click: the possessions; the last stretch of a half has its added time`,
    figure === "area_m2" ? "area_rows" : "rows");
}

/* One bar for each stretch, with the greatest value above it, which leads to its moment. */
export function ballTime(rows, notes, context) {
  if (!notes.measured) return unmeasured();
  const figure = context.option("figure", "speed_m_s", notes.heights ? ["speed_m_s", "height_m"] : ["speed_m_s"], { speed_m_s: "speed", height_m: "height" });
  const [greatest, at_us, unit] = figure === "speed_m_s" ? ["top_m_s", "top_us", "m/s"] : ["top_m", "high_us", "m"];
  const most = Math.max(1e-9, ...rows.map((row) => row[greatest] || 0)) * 1.08;
  const { svg, x, y } = field(context.whole, HEIGHT, context.title, { xs: [0, rows.length], ys: [0, most], xTicks: rows.map((row, at) => [at + 0.5, row.stretch]), yTicks: ticks(most) });
  const wide = Math.max(1, x(1) - x(0) - 6);
  rows.forEach((row, at) => {
    if (row[figure] === null) return;
    const label = `${row.stretch}: ${row[figure].toFixed(1)} ${unit} on average, at most ${row[greatest].toFixed(1)} ${unit}`;
    svg.append(shape("rect", { x: x(at) + 3, y: y(row[figure]), width: wide, height: Math.max(0.5, y(0) - y(row[figure])), fill: token("soft"), title: label, onpick: () => context.pick(row.rows, label) }));
    svg.append(shape("line", { x1: x(at) + 3, x2: x(at) + 3 + wide, y1: y(row[greatest]), y2: y(row[greatest]), stroke: token("text"), "stroke-width": 4, title: label + "; click: play the greatest", onpick: () => context.see(row[at_us]) }));
  });
  return [{ svg, wide: true, caption: `Mean (bar) and greatest (line) ${figure === "speed_m_s" ? "speed on the ground" : "height"} in ${unit}; of a team, players, phase, score or zone: while they have the ball${notes.heights ? "" : "; the source has no height of the ball"}` }];
}

const unmeasured = () => [{ empty: "The store of this match has no positions." }];

const SHADES = [0.16, 0.34, 0.52, 0.76, 0.9, 1];

/* Metres of each player by zone of speed. */
export function runningPlayers(rows, notes, context) {
  if (!notes.measured) return unmeasured();
  const unit = context.option("unit", "m", ["m", "s"], { m: "metres", s: "seconds" });
  const value = (row, zone) => row[`zone_${zone + 1}_${unit}`] || 0;
  const sum = (row) => notes.zones.reduce((all, _, zone) => all + value(row, zone), 0);
  const most = Math.max(1, ...rows.map(sum));
  const [line, left] = [21, 160];
  const svg = drawing(context.whole, rows.length * line + 6, context.title);
  rows.forEach((row, at) => {
    const y = at * line + 3;
    svg.append(text(left - 8, y + 14, who(row).slice(0, 22), { "text-anchor": "end" }));
    let x = left;
    notes.zones.forEach((name, zone) => {
      const wide = (value(row, zone) / most) * (context.whole - left - 225);
      const label = `${who(row)}, ${name} ${notes.unit}: ${Math.round(value(row, zone))} ${unit}`;
      svg.append(shape("rect", { x, y, width: Math.max(0, wide), height: line - 5, fill: token(row.team), "fill-opacity": SHADES[zone], title: label, onpick: () => context.pick(row.rows, who(row) + ": sprints") }));
      x += wide;
    });
    const top = row.top_m_s === null ? "" : `, top ${(row.top_m_s * 3.6).toFixed(1)} km/h`;
    svg.append(text(x + 6, y + 13, `${(row.distance_m / 1000).toFixed(2)} km, ${row.sprints} sprints${top}`, { "font-size": 11, fill: token("soft") }));
  });
  return [{ svg, wide: true, caption: "From pale to dark: " + notes.zones.join(", ") + " " + (notes.zones[0] === "standing" ? "(DEBS 2013 Q1)" : notes.unit) }];
}
