/* Charts that are tables: numbers of teams and players, the passing matrix, possessions. */
import { element, token } from "/pages/shared/shell.js";

const number = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));
const button = (shown, act, label) => element("button", { class: "value", onclick: act, "aria-label": label }, shown);
const cell = (shown, rows, context, title) =>
  element("td", {}, rows && rows.length ? button(shown, () => context.pick(rows, title), title + ": " + shown) : shown);

/* A table that sorts by the column whose head is clicked. */
export function sortable(heads, rows, caption) {
  const body = element("tbody", {}, ...rows.map((row) => row.line));
  const words = heads.map((_, index) => rows.some((row) => typeof row.values[index] === "string"));
  for (const row of rows) words.forEach((isText, index) => row.line.children[index].classList.toggle("words", isText));
  let last = [-1, 1];
  const sort = (index, mark) => {
    last = [index, last[0] === index ? -last[1] : -1];
    const order = [...rows].sort((a, b) => {
      const [one, other] = [a.values[index], b.values[index]];
      if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
      return (one < other ? -1 : one > other ? 1 : 0) * last[1];
    });
    body.replaceChildren(...order.map((row) => row.line));
    mark.closest("tr").querySelectorAll("th").forEach((head) => head.removeAttribute("aria-sort"));
    mark.closest("th").setAttribute("aria-sort", last[1] > 0 ? "ascending" : "descending");
  };
  const head = heads.map(([shown, help], index) =>
    element("th", { scope: "col", class: words[index] ? "words" : "", title: help }, element("button", { onclick: (event) => sort(index, event.target) }, shown)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", { class: "figures" }, element("thead", {}, element("tr", {}, ...head)), body));
}

export function teams(rows, notes, context) {
  const lines = rows.map((row) => {
    const [home, away] = [row.home || 0, row.away || 0];
    const meter = (team, value) => {
      const filled = element("i", { class: team });
      filled.style.width = (home + away ? (100 * value) / (home + away) : 0) + "%";
      return element("td", { class: "meter " + team, "aria-hidden": "true" }, filled);
    };
    const shown = (value) => (value === null ? "–" : number(value, row.digits) + (row.unit ? " " + row.unit : ""));
    const side = (team) => cell(shown(row[team]), row[team + "_rows"], context, `${row.figure}, ${context.overview[team]}`);
    return element("tr", {}, side("home"), meter("home", home), element("th", { scope: "row" }, row.figure), meter("away", away), side("away"));
  });
  const head = element("tr", {}, element("th", { scope: "col", colspan: 2, class: "home" }, notes.home), element("td"), element("th", { scope: "col", colspan: 2, class: "away" }, notes.away));
  return [{ node: element("table", { class: "compared" }, element("thead", {}, head), element("tbody", {}, ...lines)) }];
}

const HELP = {
  Minutes: "minutes with positions", Passes: "pass attempts", Done: "complete passes", Fwd: "progressive passes", Key: "passes before a shot",
  Pack: "opponents left behind by passes", Recv: "passes received", "Carry m": "metres run with the ball", Duels: "duels fought", Won: "duels won",
  "Take-on": "opponents passed", Regain: "balls won in play", km: "kilometres run", "Fast m": "metres above 20 km/h", Sprints: "sprints", "Top km/h": "top speed",
};
const DIGITS = { xG: 2, km: 1, "Top km/h": 1 };

export const figuresOf = (rows) => Object.keys(rows[0] || {}).filter((name) => !["player", "shirt", "name", "team", "rows"].includes(name));

export function players(rows, notes, context) {
  const figures = figuresOf(rows);
  const lines = rows.map((row) => ({
    values: [row.shirt, row.name, row.team, ...figures.map((name) => row[name])],
    line: element("tr", {},
      element("td", { class: "number" }, String(row.shirt ?? "")),
      element("th", { scope: "row" }, button(row.name, () => context.follow(row.player), "Follow " + row.name)),
      element("td", { class: row.team }, context.overview[row.team]),
      ...figures.map((name) => cell(row[name] === null ? "" : number(row[name], DIGITS[name] || 0), row.rows[name], context, `${name}, ${row.name}`))),
  }));
  return [{ node: sortable([["#", "shirt"], ["Name", "click: follow"], ["Team", ""], ...figures.map((name) => [name, HELP[name] || name])], lines, "Players") }];
}

export function duels(rows, notes, context) {
  const kinds = ["ground", "loose", "aerial", "take-on"];
  const lines = rows.map((row) => ({
    values: [row.shirt, row.name, row.team, row.n, row.won, row.won / row.n, ...kinds.map((kind) => row[kind])],
    line: element("tr", {}, element("td", { class: "number" }, String(row.shirt ?? "")), element("th", { scope: "row" }, row.name),
      element("td", { class: row.team }, context.overview[row.team]), cell(String(row.n), row.rows, context, "Duels, " + row.name),
      element("td", {}, String(row.won)), element("td", {}, number((100 * row.won) / row.n, 0) + " %"),
      ...kinds.map((kind) => element("td", {}, `${row[kind + " won"]} of ${row[kind]}`))),
  }));
  return [{ node: sortable([["#", "shirt"], ["Name", ""], ["Team", ""], ["Duels", "fought"], ["Won", ""], ["Share", "won of fought"], ...kinds.map((kind) => [kind, "won of fought"])], lines, "Duels by player") }];
}

export function passMatrix(rows, notes, context) {
  return context.teams.map((team) => {
    const mine = rows.filter((row) => row.team === team);
    const people = [...new Map(mine.flatMap((row) => [[row.player, [row.shirt, row.name]], [row.receiver, [row.receiver_shirt, row.receiver_name]]]))]
      .sort((a, b) => (a[1][0] ?? 999) - (b[1][0] ?? 999));
    const found = new Map(mine.map((row) => [row.player + " " + row.receiver, row]));
    const most = Math.max(1, ...mine.map((row) => row.n));
    const head = element("tr", {}, element("th", { scope: "col" }, "from \\ to"), ...people.map(([, [shirt, name]]) => element("th", { scope: "col", title: name }, String(shirt ?? "?"))), element("th", { scope: "col" }, "all"));
    const lines = people.map(([one, [shirt, name]]) => {
      const cells = people.map(([other, [, mate]]) => {
        const row = found.get(one + " " + other);
        if (!row) return element("td", { class: one === other ? "self" : "" }, "");
        const made = cell(String(row.n), row.rows, context, `${name} to ${mate}`);
        made.style.background = `color-mix(in srgb, ${token(team)} ${Math.round((55 * row.n) / most)}%, transparent)`;
        return made;
      });
      const all = mine.filter((row) => row.player === one);
      const sum = all.reduce((count, row) => count + row.n, 0);
      return element("tr", {}, element("th", { scope: "row" }, `${shirt ?? ""} ${name}`), ...cells, cell(String(sum), all.flatMap((row) => row.rows), context, "Complete passes, " + name));
    });
    const count = mine.reduce((sum, row) => sum + row.n, 0);
    return {
      node: element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Passes of " + context.overview[team] }, element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...lines))),
      title: context.overview[team], caption: `${count} complete passes`, team, stacked: context.whole < 1250,
    };
  });
}

export function sequences(rows, notes, context) {
  const lines = rows.map((row) => ({
    values: [row.ts_us, row.team, row.seconds, row.passes, row.begin, row.end, row.xg, row.gain_m],
    line: element("tr", {}, element("td", {}, context.play(row.ts_us, row.end_us, row.clock)), element("td", { class: row.team }, context.overview[row.team]),
      element("td", {}, number(row.seconds, 0) + " s"), cell(String(row.passes), row.rows, context, "Possession at " + row.clock),
      element("td", {}, (row.begin || "").replaceAll("_", " ")), element("td", {}, row.end || "–"),
      element("td", {}, row.shots ? number(row.xg, 2) : ""), element("td", {}, number(row.gain_m, 0))),
  }));
  const words = context.teams.map((team) => {
    const one = notes[team];
    return `${context.overview[team]}: ${one.n}, ${number(one.passes, 1)} passes and ${number(one.seconds, 1)} s on average, at most ${one.longest ?? 0} passes`;
  });
  return [{ node: sortable([["Begin", "click: play it"], ["Team", ""], ["Length", ""], ["Passes", "click: its actions"], ["From", "how it began"], ["To", "how it ended"], ["xG", ""], ["Gain m", "towards the goal"]], lines, "Possessions"), caption: words.join("; ") }];
}

export function playersWithBall(rows, notes, context) {
  const lines = rows.map((row) => ({
    values: [row.shirt, row.name, row.team, row.seconds, row.share, row.hit_s, row.hits, row.n],
    line: element("tr", {}, element("td", { class: "number" }, String(row.shirt ?? "")), element("th", { scope: "row" }, row.name),
      element("td", { class: row.team }, context.overview[row.team]), cell(number(row.seconds, 1) + " s", row.rows, context, "With the ball: " + row.name),
      element("td", {}, number(100 * row.share, 0) + " %"), element("td", {}, number(row.hit_s, 1) + " s"), element("td", {}, String(row.hits)), element("td", {}, String(row.n))),
  }));
  const heads = [["#", "shirt"], ["Name", ""], ["Team", ""], ["Time", "until another player's contact or a dead ball; click: what he did"], ["Share", "of his team"], ["To last contact", "from the first contact of each time to the last"], ["Contacts", ""], ["Times", "how often he had the ball"]];
  return [{ node: sortable(heads, lines, "Players with the ball"), caption: "By contacts, as DEBS 2013 Q2 and detector 14.2" }];
}

export function chains(rows, notes, context) {
  const lines = rows.map((row) => ({
    values: [row.begin_us, row.team, row.kind, row.passes, row.seconds],
    line: element("tr", {}, element("td", {}, context.play(row.begin_us, row.ts_us)), element("td", { class: row.team }, context.overview[row.team]),
      element("td", { class: "words" }, row.kind), cell(String(row.passes), row.rows, context, `Passes of a ${row.kind} at ${row.clock}`), element("td", {}, number(row.seconds, 1) + " s")),
  }));
  const words = context.teams.map((team) => {
    const one = notes[team];
    return `${context.overview[team]}: ${one.n} sequences, ${number(one.passes, 1)} passes on average, at most ${one.longest ?? 0}; ${one.doubles} double passes`;
  });
  return [{ node: sortable([["Begin", "click: play it"], ["Team", ""], ["Kind", "sequence of passes (11.1) or double pass (11.2)"], ["Passes", "click: its passes"], ["Length", ""]], lines, "Sequences"), caption: words.join("; ") }];
}

/* Counts of both teams by kind and outcome; below them each one, which can be played. */
export function transitions(rows, notes, context) {
  const kinds = [...new Set(notes.counts.map(([, kind]) => kind))];
  const kind = context.option("kind", "all kinds", ["all kinds", ...kinds]);
  const shown = (name) => kind === "all kinds" || kind === name;
  const sums = kinds.filter(shown).flatMap((name) => [...new Set(notes.counts.filter((one) => one[1] === name).map((one) => one[2]))].map((outcome) => {
    const cells = context.teams.map((team) => {
      const behind = rows.filter((row) => row.team === team && row.kind === name && (row.outcome || "") === outcome).flatMap((row) => row.rows);
      const [, , , n, seconds] = notes.counts.find((one) => one[0] === team && one[1] === name && one[2] === outcome) || [0, 0, 0, 0, null];
      const made = cell(String(n), behind, context, `${context.overview[team]}: ${name} ${outcome}`);
      if (seconds) made.append(" · " + number(seconds, 1) + " s");
      return made;
    });
    return element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "words" }, outcome), ...cells);
  }));
  const head = element("tr", {}, element("th", { scope: "col" }, "Kind"), element("th", { scope: "col" }, "Which"), ...context.teams.map((team) => element("th", { scope: "col", class: team }, context.overview[team])));
  const lines = rows.filter((row) => shown(row.kind)).map((row) => ({
    values: [row.ts_us, row.team, row.kind, row.outcome || "", [row.shirt, row.name].join(" "), row.seconds],
    line: element("tr", {}, element("td", {}, context.play(row.ts_us, row.end_us, row.clock)), element("td", { class: row.team }, context.overview[row.team]), element("td", { class: "words" }, row.kind),
      element("td", { class: "words" }, row.outcome || ""), element("td", { class: "words" }, [row.shirt, row.name].filter((part) => part !== null).join(" ")), element("td", {}, number(row.seconds, 1) + " s")),
  }));
  return [
    { node: element("div", { class: "scroll" }, element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...sums))), stacked: true, caption: "Number and mean length of each; click: the possessions in which they began" },
    { node: sortable([["Begin", "click: play it"], ["Team", ""], ["Kind", ""], ["Which", "what came of it, or which one it is"], ["Player", ""], ["Length", ""]], lines, "Transitions"), stacked: true },
  ];
}

/* A table with a line for each figure and a column for each of some players or teams; the longest bar of a line is the greatest.
   `heads` are [heading, team], `figures` [heading, help], `find(figure, column)` returns [value, its cell]. */
export function nextToEachOther(heads, figures, find) {
  const lines = figures.map(([name, help], figure) => {
    const found = heads.map((_, column) => find(figure, column));
    const most = Math.max(1e-9, ...found.map(([value]) => value || 0));
    const cells = found.map(([value, made], column) => {
      const filled = element("i", { class: heads[column][1] });
      filled.style.width = (100 * (value || 0)) / most + "%";
      made.append(element("span", { class: "bar", "aria-hidden": "true" }, filled));
      return made;
    });
    return element("tr", {}, element("th", { scope: "row", title: help }, name), ...cells);
  });
  const head = element("tr", {}, element("th"), ...heads.map(([name, team]) => element("th", { scope: "col", class: team }, name)));
  return element("div", { class: "scroll" }, element("table", { class: "versus" }, element("thead", {}, head), element("tbody", {}, ...lines)));
}

/* Numbers of the chosen players next to each other, whole or for 90 minutes. */
export function comparison(rows, notes, context) {
  if (rows.length < 2) return [{ empty: "Choose two or more players on the left to compare them." }];
  const basis = context.option("basis", "match", ["match", "90"], { match: "match", 90: "for 90 minutes" });
  const value = (row, name) => (row[name] === null ? null : basis === "90" && !["Top km/h", "Minutes"].includes(name) ? (row.Minutes ? (90 * row[name]) / row.Minutes : null) : row[name]);
  const names = figuresOf(rows);
  const find = (figure, column) => {
    const [name, row] = [names[figure], rows[column]];
    const found = value(row, name);
    return [found, cell(number(found, DIGITS[name] || (basis === "90" ? 1 : 0)), row.rows[name], context, `${name}, ${row.name}`)];
  };
  return [{ node: nextToEachOther(rows.map((row) => [`${row.shirt ?? ""} ${row.name}`, row.team]), names.map((name) => [name, HELP[name] || name]), find) }];
}
