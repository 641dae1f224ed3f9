/* Charts on the pitch: a drawing for each team, which attacks to the right. */
import "/pages/shared/models.js";
import { token } from "/pages/shared/shell.js";
import { arrow, disc, pitch, shape, text } from "./svg.js";

const { models } = window.touchline;
const LINK_MIN = 3;
const CELL_M = 3; // of pitch control
const who = (row) => [row.shirt, row.name || row.player].filter((part) => part !== null && part !== "").join(" ");
const ink = (team) => token(team + "-ink");
const part = (count, whole) => (whole ? " (" + Math.round((100 * count) / whole) + " %)" : "");

/* A drawing for each team of the selection: `draw(canvas, rows, team)` returns the line below it. */
function each(rows, context, draw, options = {}) {
  return context.teams.map((team) => {
    const mine = rows.filter((row) => row.team === team);
    // A half pitch stands upright, so it is taller for its width.
    const width = options.half ? Math.min(context.width, 0.87 * context.fit) : context.width;
    const canvas = pitch(width, context.overview, context.title + ", " + context.overview[team], options);
    const caption = draw(canvas, mine, team);
    return { svg: canvas.svg, title: context.overview[team], caption, team };
  });
}

const pick = (context, row, title) => () => context.pick(row.rows, title);

export function shotMap(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    for (const row of [...mine].sort((a, b) => (b.xg || 0) - (a.xg || 0))) {
      const goal = row.outcome === "goal";
      const label = `${row.clock} ${who(row)}: ${row.outcome || "shot"}${row.xg === null ? "" : ", xG " + row.xg.toFixed(2)}`;
      const r = 4 + 16 * Math.sqrt(row.xg || 0);
      canvas.svg.append(disc(canvas.at(row.x_m, row.y_m), r, r > 7 ? row.shirt : null, {
        fill: goal ? token(team) : token("grass"), "fill-opacity": 0.85, stroke: token(team), "stroke-width": goal ? 2 : 1.5,
        "stroke-dasharray": row.on_target ? undefined : "3 2", title: label, onpick: pick(context, row, label),
      }, goal ? ink(team) : token("text")));
    }
    const one = notes[team] || { shots: 0, goals: 0, xg: 0 };
    return `${one.shots} shots, ${one.goals} goals, ${one.xg.toFixed(2)} xG. Size: xG; filled: goal; dashed: not on target`;
  }, { half: true });
}

export function passNetwork(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    const links = mine.filter((row) => row.kind === "link" && row.n >= LINK_MIN);
    const nodes = mine.filter((row) => row.kind === "node");
    const most = Math.max(1, ...links.map((row) => row.n));
    for (const row of links) {
      const [from, to] = [canvas.at(row.x_m, row.y_m), canvas.at(row.end_x_m, row.end_y_m)];
      const far = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const [ux, uy] = [(to[0] - from[0]) / far, (to[1] - from[1]) / far];
      const shift = (point, along) => [point[0] + ux * along - uy * 2.5, point[1] + uy * along + ux * 2.5];
      const label = `${who(row)} to ${context.name(row.receiver)}: ${row.n}`;
      canvas.svg.append(arrow(shift(from, 12), shift(to, -12), {
        stroke: token(team), "stroke-width": 0.8 + (4 * row.n) / most, "stroke-opacity": 0.3 + (0.5 * row.n) / most,
        title: label, onpick: pick(context, row, label),
      }));
    }
    const busiest = Math.max(1, ...nodes.map((row) => row.n));
    for (const row of nodes) {
      const label = `${who(row)}: ${row.n} passes and receptions`;
      canvas.svg.append(disc(canvas.at(row.x_m, row.y_m), 8 + (7 * row.n) / busiest, row.shirt, {
        fill: token("panel"), stroke: token(team), "stroke-width": 2, title: label, onpick: pick(context, row, label),
      }));
    }
    const done = mine.filter((row) => row.kind === "link").reduce((sum, row) => sum + row.n, 0);
    return `${done} complete passes among these players; lines from ${LINK_MIN} on`;
  });
}

export function passSonar(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    const most = Math.max(1, ...mine.map((row) => row.n));
    const players = new Map();
    for (const row of mine) players.set(row.player, [...(players.get(row.player) || []), row]);
    const shown = [...players.values()].sort((a, b) => total(b) - total(a)).slice(0, 11);
    for (const sectors of shown) {
      const centre = canvas.at(sectors[0].x_m, sectors[0].y_m);
      for (const row of sectors) {
        const r = 30 * Math.sqrt(row.n / most);
        const half = Math.PI / notes.sectors;
        const point = (angle) => `${(centre[0] + r * Math.cos(angle)).toFixed(1)} ${(centre[1] - r * Math.sin(angle)).toFixed(1)}`;
        const label = `${who(row)}: ${row.n} passes, ${row.complete} complete, ${row.length_m === null ? "–" : row.length_m.toFixed(0)} m on average`;
        canvas.svg.append(shape("path", {
          d: `M${centre} L${point(row.angle_rad - half)} A${r} ${r} 0 0 0 ${point(row.angle_rad + half)} Z`,
          fill: token(team), "fill-opacity": 0.25 + 0.65 * (row.complete / row.n), stroke: token("grass"), "stroke-width": 0.5,
          title: label, onpick: pick(context, row, label),
        }));
      }
      canvas.svg.append(text(centre[0], centre[1] + 4, sectors[0].shirt ?? "", {
        "text-anchor": "middle", "font-size": 11, "font-weight": 700, stroke: token("grass"), "stroke-width": 3, "paint-order": "stroke",
      }));
    }
    return `${total(mine)} passes. Length of a sector: number; darkness: share complete; the eleven busiest`;
  });
}

const total = (rows) => rows.reduce((sum, row) => sum + row.n, 0);

export function passFlow(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    const [columns, lines] = notes.cells;
    const most = Math.max(1, ...mine.map((row) => row.n));
    const size = [context.overview.length_m / columns, context.overview.width_m / lines];
    for (const row of mine) {
      const corner = canvas.at(row.x_m - size[0] / 2, row.y_m + size[1] / 2);
      const label = `${row.n} passes begin here`;
      canvas.svg.append(shape("rect", {
        x: corner[0] + 0.5, y: corner[1] + 0.5, width: size[0] * canvas.scale - 1, height: size[1] * canvas.scale - 1,
        fill: token(team), "fill-opacity": (0.6 * row.n) / most, title: label, onpick: pick(context, row, label),
      }));
      const middle = canvas.at(row.x_m, row.y_m);
      const far = Math.hypot(row.dx_m, row.dy_m) || 1;
      const reach = Math.min(far, 9) / 2;
      const [dx, dy] = [(row.dx_m / far) * reach * canvas.scale, (-row.dy_m / far) * reach * canvas.scale];
      canvas.svg.append(arrow([middle[0] - dx, middle[1] - dy], [middle[0] + dx, middle[1] + dy], { stroke: token("text"), "stroke-width": 1.6, "pointer-events": "none" }));
      canvas.svg.append(text(corner[0] + 5, corner[1] + 14, row.n, { "font-size": 11, fill: token("text"), "pointer-events": "none" }));
    }
    return `${total(mine)} passes. Darkness and number: passes that begin in the cell; arrow: their mean direction`;
  });
}

export function passMap(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    for (const row of mine) {
      if (row.end_x_m === null || row.x_m === null) continue;
      const done = row.outcome === "complete";
      const label = `${row.clock} ${who(row)} to ${row.receiver_shirt ?? "–"}: ${row.outcome || "unknown"}`;
      canvas.svg.append(arrow(canvas.at(row.x_m, row.y_m), canvas.at(row.end_x_m, row.end_y_m), {
        stroke: done ? token(team) : token("faint"), "stroke-width": mine.length > 150 ? 0.9 : 1.5, "stroke-opacity": 0.8,
        "stroke-dasharray": done ? undefined : "4 3", title: label, onpick: pick(context, row, label),
      }));
    }
    const one = notes[team] || { passes: 0, complete: 0 };
    return `${one.passes} passes, ${one.complete} complete${part(one.complete, one.passes)}. Dashed: not complete`;
  });
}

export function regains(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    const third = context.overview.length_m / 6;
    for (const x of [-third, third]) {
      const [top, bottom] = [canvas.at(x, context.overview.width_m / 2), canvas.at(x, -context.overview.width_m / 2)];
      canvas.svg.append(shape("line", { x1: top[0], y1: top[1], x2: bottom[0], y2: bottom[1], stroke: token("faint"), "stroke-dasharray": "2 4" }));
    }
    for (const row of mine) {
      const label = `${row.clock} ${who(row)}: ${row.begin}`;
      canvas.svg.append(disc(canvas.at(row.x_m, row.y_m), 4.5, null, {
        fill: token(team), "fill-opacity": 0.75, stroke: token("grass"), title: label, onpick: pick(context, row, label),
      }));
    }
    const one = notes[team] || { own: 0, middle: 0, final: 0 };
    [["own", -2 * third], ["middle", 0], ["final", 2 * third]].forEach(([name, x]) => {
      const place = canvas.at(x, -context.overview.width_m / 2 + 3);
      canvas.svg.append(text(place[0], place[1], one[name], { "text-anchor": "middle", "font-weight": 700, "font-size": 13, stroke: token("grass"), "stroke-width": 3, "paint-order": "stroke" }));
    });
    return `${mine.length} balls won in play, by third below`;
  });
}

export function duelMap(rows, notes, context) {
  return context.teams.map((team) => {
    const canvas = pitch(context.width, context.overview, context.title + " won by " + context.overview[team]);
    const mine = rows.filter((row) => row.winner_team === team && row.x_m !== null);
    for (const row of mine) {
      // The place is as the team of the row attacks; the winner may be of the other one.
      const sign = row.team === team ? 1 : -1;
      const [x, y] = canvas.at(sign * row.x_m, sign * row.y_m);
      const label = `${row.clock} ${row.type}: ${who(row)} against ${row.opponent_shirt ?? "–"}`;
      canvas.svg.append(mark(row.type, x, y, { fill: token(team), "fill-opacity": 0.75, stroke: token("grass"), title: label, onpick: pick(context, row, label) }));
    }
    const one = notes[team];
    return { svg: canvas.svg, title: context.overview[team], team,
      caption: `${mine.length} won: ${one.ground} ground ●, ${one.loose} loose ■, ${one.aerial} aerial ▲, ${one["take-on"]} take-ons ◆` };
  });
}

function mark(kind, x, y, attributes) {
  if (kind === "ground") return shape("circle", { cx: x, cy: y, r: 4.5, ...attributes });
  const points = { loose: "-4,-4 4,-4 4,4 -4,4", aerial: "0,-5.5 5,4 -5,4", "take-on": "0,-6 5,0 0,6 -5,0" }[kind];
  return shape("polygon", { points, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, ...attributes });
}

export function runs(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    for (const row of mine) {
      if (row.x_m === null || row.end_x_m === null) continue;
      const label = `${row.clock} ${who(row)}: ${((row.top_m_s || 0) * 3.6).toFixed(1)} km/h`;
      canvas.svg.append(arrow(canvas.at(row.x_m, row.y_m), canvas.at(row.end_x_m, row.end_y_m), {
        stroke: token(team), "stroke-width": 1.3, "stroke-opacity": 0.7, title: label, onpick: pick(context, row, label),
      }));
    }
    return `${mine.length} sprints (24 km/h and more for a second)`;
  });
}

/* Cells of one picture for the selection: of the chosen team and players, or of everybody. */
export function heat(rows, notes, context) {
  const title = context.about();
  const canvas = pitch(Math.min(context.whole, context.fit), context.overview, context.title + ", " + title);
  const [columns, lines] = notes.cells;
  const [long, wide] = [context.overview.length_m / columns, context.overview.width_m / lines];
  const most = Math.max(1e-9, ...rows.map((row) => row.amount));
  const colour = token(context.teams.length === 1 ? context.teams[0] : "text");
  for (const row of rows) {
    const corner = canvas.at(row.x_m - long / 2, row.y_m + wide / 2);
    const unit = notes.seconds === undefined ? " actions" : " s";
    const label = `${Math.round(row.amount * 10) / 10}${unit}, ${(100 * row.share).toFixed(2)} %`;
    canvas.svg.append(shape("rect", {
      x: corner[0], y: corner[1], width: long * canvas.scale + 0.3, height: wide * canvas.scale + 0.3, fill: colour,
      "fill-opacity": 0.9 * Math.sqrt(row.amount / most), title: label,
      onpick: row.rows ? pick(context, row, label) : undefined,
    }));
  }
  const caption = notes.seconds === undefined
    ? `${notes.actions} passes, receptions, carries and shots; ${lines} by ${columns} cells`
    : `${Math.round(notes.seconds / 60)} minutes of players; ${lines} by ${columns} cells, darkness by the root of the time`;
  return [{ svg: canvas.svg, title, caption, wide: true }];
}

export function averagePositions(rows, notes, context) {
  return each(rows, context, (canvas, mine, team) => {
    for (const phase of ["out", "in"]) {
      for (const row of mine.filter((one) => one.phase === phase)) {
        const inside = phase === "in";
        const label = `${who(row)} ${inside ? "with" : "without"} the ball: ${Math.round(row.seconds / 60)} min`;
        canvas.svg.append(disc(canvas.at(row.x_m, row.y_m), 10, row.shirt, {
          fill: inside ? token(team) : token("grass"), stroke: token(team), "stroke-width": 1.8, "fill-opacity": 0.92,
          "stroke-dasharray": inside ? undefined : "3 2", title: label, onpick: () => context.follow(row.player),
        }, inside ? ink(team) : token("text")));
      }
    }
    const words = (name, one) => one && one.length_m !== undefined ? `${name}: ${one.length_m.toFixed(0)} m long, ${one.width_m.toFixed(0)} m wide` : "";
    const shapes = [words("with the ball (filled)", notes[team + " in"]), words("without (dashed)", notes[team + " out"])].filter(Boolean);
    const formations = (notes.formations || {})[team];
    return [formations ? "Formations: " + formations : "", ...shapes].filter(Boolean).join("; ");
  });
}

export function setPlays(rows, notes, context) {
  const kinds = [...new Set(rows.map((row) => row.restart))].sort();
  const wanted = context.option("kind", kinds.includes("corner") ? "corner" : kinds[0] || "corner", kinds);
  return each(rows.filter((row) => row.restart === wanted), context, (canvas, mine, team) => {
    for (const row of mine) {
      if (row.end_x_m === null || row.x_m === null) continue;
      const led = row.goals ? "goal" : row.shots ? "shot" : "";
      const label = `${row.clock} ${who(row)}: ${row.outcome || "unknown"}${led ? ", then a " + led : ""}`;
      canvas.svg.append(arrow(canvas.at(row.x_m, row.y_m), canvas.at(row.end_x_m, row.end_y_m), {
        stroke: led ? token(team) : token("soft"), "stroke-width": row.goals ? 3.5 : row.shots ? 2.4 : 1.2, "stroke-opacity": 0.85,
        title: label, onpick: pick(context, row, label),
      }));
    }
    const [n, shots, goals] = (notes[team] || {})[wanted] || [0, 0, 0];
    return `${n} of kind ${(wanted || "").replaceAll("_", " ")}: ${shots} shots and ${goals} goals within 10 s (thick)`;
  });
}

/* Pitch control of a moment (10.7) beneath its lines: each cell has the colour of the team that would control the ball there. */
function control(canvas, rows, notes, overview) {
  const player = (row) => ({
    x: row.x_m, y: row.y_m, vx: row.vx_m_s || 0, vy: row.vy_m_s || 0,
    rate: models.RATE_PER_S * (row.goalkeeper && row.team !== notes.team ? models.KEEPER_FACTOR : 1),
  });
  const other = notes.team === "home" ? "away" : "home";
  const [own, theirs] = [notes.team, other].map((team) => rows.filter((row) => row.team === team).map(player));
  if (!own.length || !theirs.length) return;
  const cells = shape("g", { class: "control" });
  const [columns, lines] = [Math.ceil(overview.length_m / CELL_M), Math.ceil(overview.width_m / CELL_M)];
  const [wide, high] = [overview.length_m / columns, overview.width_m / lines];
  for (let column = 0; column < columns; column += 1) {
    for (let line = 0; line < lines; line += 1) {
      const [x, y] = [(column + 0.5) * wide - overview.length_m / 2, (line + 0.5) * high - overview.width_m / 2];
      const share = models.controlAt(x, y, Math.hypot(x - notes.x_m, y - notes.y_m) / models.BALL_M_S, own, theirs);
      const corner = canvas.at(x - wide / 2, y + high / 2);
      cells.append(shape("rect", {
        x: corner[0], y: corner[1], width: wide * canvas.scale + 0.3, height: high * canvas.scale + 0.3,
        fill: token(share > 0.5 ? notes.team : other), "fill-opacity": 0.84 * Math.abs(share - 0.5),
      }));
    }
  }
  canvas.svg.firstChild.after(cells);
}

/* Everybody at the begin of a pass or shot. */
export function moment(rows, notes, context) {
  const canvas = pitch(context.width, context.overview, "Moment of the action");
  control(canvas, rows, notes, context.overview);
  const [from, to] = [[notes.x_m, notes.y_m], [notes.end_x_m, notes.end_y_m]];
  if (from[0] !== null && to[0] !== null) {
    canvas.svg.append(arrow(canvas.at(...from), canvas.at(...to), { stroke: token("text"), "stroke-width": 1.4, "stroke-dasharray": "5 3" }));
  }
  for (const row of rows) {
    const place = canvas.at(row.x_m, row.y_m);
    if (row.object_id === "ball") {
      canvas.svg.append(disc(place, 4, null, { fill: "#ffffff", stroke: "#000000" }));
      continue;
    }
    if (row.team !== "home" && row.team !== "away") continue;
    const ahead = canvas.at(row.x_m + (row.vx_m_s || 0) * 0.5, row.y_m + (row.vy_m_s || 0) * 0.5);
    canvas.svg.append(shape("line", { x1: place[0], y1: place[1], x2: ahead[0], y2: ahead[1], stroke: token(row.team), "stroke-width": 1.5 }));
    const acts = row.object_id === notes.player;
    canvas.svg.append(disc(place, 7.5, row.shirt, {
      fill: token(row.team), stroke: acts ? token("text") : token("grass"), "stroke-width": acts ? 2.5 : 1,
      "stroke-dasharray": row.goalkeeper ? "2 2" : undefined, title: who(row),
    }, ink(row.team)));
  }
  return canvas.svg;
}
