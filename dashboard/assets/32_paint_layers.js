/* Paints the layers beneath the players. Pictures that cover the pitch change some times a second and belong to the ground,
   which is painted when they do; lines are painted for each frame. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const CONTROL_MS = 250;
  const CELL_M = 3; // of pitch control
  const HEAT_M = 2;
  const HEAT_US = 100e3; // a position counts once in this time
  const KIND_US = 60e6; // events of the chosen kind stay this long
  const OPTION_LEAST = 0.7; // as passing_options.least_share

  const GAP_US = 500e3; // a clock that moves farther was moved: the path begins anew

  const run = { id: null, us: 0, points: [] };
  const images = {};
  let version = 0; // of the pictures
  let controlAt = 0;
  const heat = { counts: new Map(), at: null };

  const rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

  /* A picture of cells: `value` gives the colour and the opacity of each. */
  function picture(name, columns, rows, value) {
    const image = images[name] || (images[name] = document.createElement("canvas"));
    if (image.width !== columns) image.width = columns;
    if (image.height !== rows) image.height = rows;
    const pen = image.getContext("2d");
    const data = pen.createImageData(columns, rows);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const [colour, opacity] = value(column, row);
        data.data.set([...colour, Math.round(255 * opacity)], 4 * (row * columns + column));
      }
    }
    pen.putImageData(data, 0, 0);
    version += 1;
  }

  function spread(brush, name, field, opacity) {
    const { px, py } = T.draw.at;
    if (!images[name]) return;
    brush.globalAlpha = opacity;
    brush.drawImage(images[name], px(-field[0]), py(field[1]), px(field[0]) - px(-field[0]), py(-field[1]) - py(field[1]));
    brush.globalAlpha = 1;
  }

  /* Home's chance of control; the ball travels from where it is. */
  function control(now, field) {
    if (now - controlAt >= CONTROL_MS && T.scene.ball) {
      controlAt = now;
      const { teams, defenders } = situation();
      if (teams.home.length && teams.away.length) {
        const [columns, rows] = [Math.ceil((2 * field[0]) / CELL_M), Math.ceil((2 * field[1]) / CELL_M)];
        const [home, away] = [rgb(T.colours.home), rgb(T.colours.away)];
        const [attackers, against] = [teams.home, defenders("home")];
        picture("control", columns, rows, (column, row) => {
          const x = -field[0] + ((column + 0.5) * 2 * field[0]) / columns;
          const y = field[1] - ((row + 0.5) * 2 * field[1]) / rows;
          const ballS = Math.hypot(x - T.scene.ball.x, y - T.scene.ball.y) / T.models.BALL_M_S;
          const share = T.models.controlAt(x, y, ballS, attackers, against);
          return [share > 0.5 ? home : away, Math.abs(share - 0.5) * 2];
        });
      }
    }
  }

  /* The scene is read once a frame, however many layers need it. */
  let read = null;
  const situation = () => read || (read = T.models.situation());

  function hulls() {
    const { pen, path, wide } = T.draw.at;
    const { teams, keeper } = situation();
    for (const side of ["home", "away"]) {
      const field = teams[side].filter((one) => one !== keeper[side]);
      if (field.length < 3) continue;
      path(T.hull(field.map((one) => [one.x, one.y])), true);
      pen.globalAlpha = 0.14;
      pen.fillStyle = pen.strokeStyle = T.colours.team(side);
      pen.fill();
      pen.globalAlpha = 0.8;
      pen.lineWidth = wide(1.5);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  function lines() {
    const { pen, path, wide } = T.draw.at;
    const { teams, keeper } = situation();
    for (const side of ["home", "away"]) {
      pen.strokeStyle = T.colours.team(side);
      pen.lineWidth = wide(2);
      for (const part of T.models.unitLines(teams[side].filter((one) => one !== keeper[side]))) {
        path([...part].sort((a, b) => a.y - b.y).map((one) => [one.x, one.y]));
        pen.stroke();
      }
    }
  }

  function offside(field) {
    const { pen, path, wide } = T.draw.at;
    const { teams, sign, other, ball } = situation();
    for (const side of ["home", "away"]) {
      const x = T.offsideLine(teams[other[side]], ball ? ball.x : null, sign[side]);
      if (x === null) continue;
      path([[x, -field[1]], [x, field[1]]]);
      pen.setLineDash(side === "home" ? [] : [wide(9), wide(5)]);
      pen.lineWidth = wide(2);
      pen.strokeStyle = T.colours.team(side);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  /* Pressure on the team with the ball: a ring that grows with it, and its figure on the holder. */
  function pressure(field) {
    const { pen, px, py, scale, label, wide } = T.draw.at;
    const { teams, sign, other, holder } = situation();
    if (!holder) return;
    for (const one of teams[holder.team]) {
      const value = T.models.pressureOn(one, teams[other[holder.team]], field[0], sign[holder.team]);
      if (value < 0.05) continue;
      pen.beginPath();
      pen.arc(px(one.x), py(one.y), (1.6 + 1.6 * Math.min(1.5, value)) * scale, 0, 2 * Math.PI);
      pen.globalAlpha = 0.25 + 0.4 * Math.min(1, value);
      pen.lineWidth = wide(3);
      pen.strokeStyle = T.colours.withdrawn;
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillStyle = T.colours.text;
      if (one === holder) label("pressure " + value.toFixed(1), px(one.x), py(one.y) + 2.6 * scale, false);
    }
  }

  /* Mates of the holder: a line as wide as the chance of a pass; dashed if it is no option. */
  function options() {
    const { pen, path, wide } = T.draw.at;
    const { teams, holder, ball, defenders } = situation();
    if (!holder) return;
    const mates = teams[holder.team].filter((one) => one !== holder);
    const against = defenders(holder.team);
    pen.strokeStyle = T.colours.team(holder.team);
    for (const mate of mates) {
      const flightS = Math.hypot(mate.x - ball.x, mate.y - ball.y) / T.models.BALL_M_S;
      const [x, y] = [mate.x + mate.vx * flightS, mate.y + mate.vy * flightS];
      const chance = T.models.passChance(x, y, ball, mates, against);
      path([[ball.x, ball.y], [x, y]]);
      pen.globalAlpha = 0.25 + 0.6 * chance;
      pen.lineWidth = wide(0.5 + 3.5 * chance);
      pen.setLineDash(chance >= OPTION_LEAST ? [] : [4, 6]);
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /* Where the holder of the ball has run with it; the path stays until another player has it. */
  function follow(holder) {
    const clock = T.scene.clock;
    const isNext = clock >= run.us && clock - run.us < GAP_US;
    if (!isNext || (holder && holder.id !== run.id)) Object.assign(run, { id: holder ? holder.id : null, points: [] });
    if (holder && (clock > run.us || !run.points.length)) run.points.push([holder.x, holder.y]);
    run.us = clock;
  }

  function carried() {
    const { pen, path, wide } = T.draw.at;
    follow(situation().holder);
    if (run.points.length < 2) return;
    path(run.points);
    pen.lineWidth = wide(4);
    pen.lineJoin = "round";
    pen.strokeStyle = T.colours.team(T.scene.team(run.id));
    pen.globalAlpha = 0.9;
    pen.stroke();
    pen.globalAlpha = 1;
    pen.lineJoin = "miter";
  }

  /* A line over two chosen players, a hull over three and more. */
  function group() {
    const { pen, path, wide } = T.draw.at;
    const places = [...T.find.group].map((id) => T.scene.bodies.get(id)).filter((one) => one).map((one) => [one.x, one.y]);
    if (places.length < 2) return;
    path(places.length > 2 ? T.hull(places) : places, true);
    pen.fillStyle = pen.strokeStyle = T.colours.text;
    pen.globalAlpha = 0.12;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = wide(2);
    pen.stroke();
  }

  /* Where everybody has been since the page opened: of the followed player, else of the ball. */
  function warm(field) {
    const clock = T.scene.liveClock;
    if (clock === null || (heat.at !== null && Math.abs(clock - heat.at) < HEAT_US)) return;
    heat.at = clock;
    const columns = Math.ceil((2 * field[0]) / HEAT_M);
    const rows = Math.ceil((2 * field[1]) / HEAT_M);
    const [, ball, players] = T.scene.history[T.scene.history.length - 1] || [0, null, []];
    const objects = ball ? [["ball", ball[0], ball[1]], ...players] : players;
    for (const [id, x, y] of objects) {
      const column = Math.floor((x + field[0]) / HEAT_M);
      const row = Math.floor((field[1] - y) / HEAT_M);
      if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
      if (!heat.counts.has(id)) heat.counts.set(id, { columns, rows, cells: new Uint32Array(columns * rows), most: 0 });
      const one = heat.counts.get(id);
      one.most = Math.max(one.most, (one.cells[row * columns + column] += 1));
    }
  }

  function heatMap(now, field) {
    const id = T.find.player || "ball";
    const one = heat.counts.get(id);
    if (!one) return;
    const colour = rgb(id === "ball" ? T.colours.withdrawn : T.colours.team(T.scene.team(id)));
    if (now - (heat.painted || 0) > 500 || heat.of !== id) {
      heat.painted = now;
      heat.of = id;
      picture("heat", one.columns, one.rows, (column, row) => [colour, Math.sqrt(one.cells[row * one.columns + column] / one.most)]);
    }
  }

  /* Events of the chosen kind: where they happened. */
  function kind() {
    const { pen, px, py, scale, wide } = T.draw.at;
    const events = T.list.rows((row) => T.find.isOf(row.kind, T.layers.kind) && row.x_m !== null);
    for (const row of events) {
      const age = T.scene.clock - row.ts_us;
      if (age < 0 || age > KIND_US) continue;
      pen.globalAlpha = 1 - (0.8 * age) / KIND_US;
      pen.beginPath();
      pen.arc(px(row.x_m), py(row.y_m), 0.8 * scale, 0, 2 * Math.PI);
      pen.lineWidth = wide(2);
      pen.strokeStyle = pen.fillStyle = row.state === "withdrawn" ? T.colours.withdrawn : T.colours.team(row.team);
      if (row.state === "confirmed") pen.fill();
      else pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  T.pathWithBall = { follow, run };

  /* Pictures of the ground: brings them up to date, and returns their version; `field` is half the length and half the
     width of the pitch. */
  T.groundLayers = function (now, field) {
    read = null;
    warm(field);
    if (T.layers.on.heat) heatMap(now, field);
    if (T.layers.on.control) control(now, field);
    return [version, T.layers.on.heat, T.layers.on.control].join();
  };

  /* Paints the pictures with the brush of the ground. */
  T.paintGround = function (brush, field) {
    if (T.layers.on.heat) spread(brush, "heat", field, 0.75);
    if (T.layers.on.control) spread(brush, "control", field, 0.42);
  };

  /* The chosen layers of lines and rings. */
  T.paintLayers = function (field) {
    const on = T.layers.on;
    if (on.hulls) hulls();
    if (on.lines) lines();
    if (on.offside) offside(field);
    if (on.options) options();
    if (on.pressure) pressure(field);
    if (on.carried) carried();
    if (T.layers.kind) kind();
    group();
  };
})();
