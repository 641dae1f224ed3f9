/* Paints the pitch once, and the scene over it: one canvas, cleared and painted anew for each frame. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const FONT = '"Inter",sans-serif';
  const MARGIN_M = 4; // as in dashboard/pitch.py
  const STRIPES = 14;

  let canvas, pen, width, height, halfX, halfY, scale;
  let ground = null; // what the pitch was painted for

  function fit(now) {
    const box = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    width = box.width;
    height = box.height;
    scale = width / (2 * halfX); // pixels a metre
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(T.draw.at, { pen, width, height, scale });
    const field = [halfX - MARGIN_M, halfY - MARGIN_M];
    const wanted = [canvas.width, canvas.height, T.colours.grass, T.colours.line, T.groundLayers(now, field)].join();
    if (wanted !== ground) paintGround(ratio, field);
    ground = wanted;
  }

  /* Mown stripes, which let the eye judge distance and speed, and the lines. */
  function paintGround(ratio, field) {
    const under = document.getElementById("pitch");
    if (under.width !== canvas.width) under.width = canvas.width;
    if (under.height !== canvas.height) under.height = canvas.height;
    const brush = under.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.fillStyle = T.colours.surround;
    brush.fillRect(0, 0, width, height);
    const [length, side] = field;
    for (let i = 0; i < STRIPES; i += 1) {
      brush.fillStyle = i % 2 ? T.colours.grass : T.colours["grass-light"];
      brush.fillRect(px(-length + (2 * length * i) / STRIPES), py(side), (2 * length * scale) / STRIPES + 0.5, 2 * side * scale);
    }
    T.paintGround(brush, field);
    brush.strokeStyle = brush.fillStyle = T.colours.line;
    brush.lineWidth = Math.max(1.2, 0.12 * scale);
    for (const line of JSON.parse(under.dataset.lines)) {
      brush.beginPath();
      line.forEach(([x, y], i) => (i ? brush.lineTo(px(x), py(y)) : brush.moveTo(px(x), py(y))));
      brush.stroke();
    }
    for (const [x, y] of JSON.parse(under.dataset.spots)) {
      brush.beginPath();
      brush.arc(px(x), py(y), 0.25 * scale, 0, 2 * Math.PI);
      brush.fill();
    }
  }

  const px = (x) => (x + halfX) * scale;
  const wide = (pixels) => pixels * Math.max(1, scale / 9); // lines grow with the pitch, up to 4K
  const py = (y) => (halfY - y) * scale;

  function path(points, closed) {
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(px(x), py(y)) : pen.moveTo(px(x), py(y))));
    if (closed) pen.closePath();
  }

  function camera(pose) {
    const planned = pose.planned && pose.planned.footprint;
    if (planned && planned.length > 2) {
      path(planned, true);
      pen.setLineDash([wide(3), wide(5)]);
      pen.lineWidth = wide(1.2);
      pen.strokeStyle = T.colours.camera;
      pen.stroke();
      pen.setLineDash([]);
    }
    if (pose.achieved && pose.achieved.footprint.length > 2) {
      path(pose.achieved.footprint, true);
      pen.fillStyle = T.colours.camera;
      pen.globalAlpha = 0.09;
      pen.fill();
      pen.globalAlpha = 1;
      pen.lineWidth = wide(1.6);
      pen.strokeStyle = T.colours.camera;
      pen.stroke();
    }
  }

  /* 1 while a mark is fresh, falling to 0 over its last third. */
  function strength(mark) {
    const left = (mark.until_us - T.scene.clock) / (mark.until_us - mark.ts_us);
    return Math.max(0, Math.min(1, left * 3));
  }

  function arrow(x0, y0, x1, y1, size) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - size * Math.cos(angle - 0.42), y1 - size * Math.sin(angle - 0.42));
    pen.lineTo(x1 - size * Math.cos(angle + 0.42), y1 - size * Math.sin(angle + 0.42));
    pen.closePath();
  }

  function cross(x, y, size) {
    pen.beginPath();
    pen.moveTo(x - size, y - size);
    pen.lineTo(x + size, y + size);
    pen.moveTo(x - size, y + size);
    pen.lineTo(x + size, y - size);
    pen.stroke();
  }

  /* Passes and shots. Tentative: dashed with hollow ends; confirmed: solid; withdrawn: faint and crossed out. */
  function stroke(mark) {
    const end = strokeEnd(mark);
    const [x0, y0] = [px(mark.x_m), py(mark.y_m)];
    const hollow = mark.state === "tentative";
    const gone = mark.state === "withdrawn";
    const lost = mark.outcome === "pass.intercepted" || mark.outcome === "pass.out";
    const shot = mark.shape === "shot";
    pen.globalAlpha = strength(mark) * (gone ? 0.75 : shot ? 1 : lost ? 0.6 : 0.85);
    pen.strokeStyle = pen.fillStyle = gone ? T.colours.withdrawn : T.colours.team(mark.team);
    pen.lineWidth = wide(shot ? 3.2 : 1.8);
    if (end) {
      const [x1, y1] = [px(end[0]), py(end[1])];
      pen.setLineDash(hollow || gone ? [wide(7), wide(6)] : []);
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.setLineDash([]);
      if (mark.to_x_m !== undefined && mark.to_x_m !== null) {
        if (lost && !gone) cross(x1, y1, wide(4));
        else {
          pen.lineWidth = wide(1.5);
          arrow(x0, y0, x1, y1, wide(shot ? 13 : 10));
          if (hollow || gone) pen.stroke();
          else pen.fill();
        }
      }
      if (gone) cross((x0 + x1) / 2, (y0 + y1) / 2, wide(6));
    }
    pen.lineWidth = wide(1.6);
    pen.beginPath();
    pen.arc(x0, y0, wide(shot ? 6 : 3.5), 0, 2 * Math.PI);
    if (hollow || gone) pen.stroke();
    else pen.fill();
    if (gone && !end) cross(x0, y0, wide(6));
    if (shot) label(mark.label, x0, y0 - wide(12), gone);
    pen.globalAlpha = 1;
  }

  /* A stroke without an outcome follows the ball while it may be in flight. */
  function strokeEnd(mark) {
    if (mark.to_x_m !== undefined && mark.to_x_m !== null) return [mark.to_x_m, mark.to_y_m];
    const ball = T.scene.ball;
    const inFlight = mark.state === "tentative" && T.scene.clock - mark.ts_us < 4e6;
    return ball && inFlight ? [ball.x, ball.y] : null;
  }

  /* Words lie above everything, so they are kept until all else is painted. */
  const words = [];

  function label(text, x, y, struck) {
    words.push([text, x, y, struck, pen.fillStyle, pen.globalAlpha]);
  }

  function paintWords() {
    for (const [text, x, y, struck, colour, alpha] of words) {
      pen.globalAlpha = alpha;
      pen.fillStyle = colour;
      write(text, x, y, struck);
    }
    pen.globalAlpha = 1;
    words.length = 0;
  }

  function write(text, x, y, struck) {
    const size = Math.max(11, Math.round(0.95 * scale));
    pen.font = "600 " + size + "px " + FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const half = pen.measureText(text).width / 2;
    const inside = Math.max(half + 6, Math.min(width - half - 6, x));
    const level = Math.max(size, Math.min(height - size, y));
    const colour = pen.fillStyle;
    const alpha = pen.globalAlpha;
    pen.fillStyle = T.colours.ground;
    pen.globalAlpha = 0.8 * alpha;
    pen.fillRect(inside - half - 5, level - 0.75 * size, 2 * half + 10, 1.5 * size);
    pen.globalAlpha = alpha;
    pen.fillStyle = colour;
    pen.fillText(text, inside, level + 0.5);
    if (struck) pen.fillRect(inside - half, level, 2 * half, 1.4);
  }

  function restart(mark) {
    const [x, y] = [px(mark.x_m), py(mark.y_m)];
    const gone = mark.state === "withdrawn";
    pen.globalAlpha = strength(mark) * (gone ? 0.75 : 1);
    pen.strokeStyle = pen.fillStyle = gone ? T.colours.withdrawn : T.colours.team(mark.team);
    pen.lineWidth = wide(2);
    pen.beginPath();
    const half = wide(7);
    pen.moveTo(x, y - half);
    pen.lineTo(x + half, y);
    pen.lineTo(x, y + half);
    pen.lineTo(x - half, y);
    pen.closePath();
    if (mark.state === "confirmed") pen.fill();
    else pen.stroke();
    if (gone) cross(x, y, wide(6));
    label(mark.label, x, y + wide(y > height / 2 ? -17 : 17), gone);
    pen.globalAlpha = 1;
  }

  /* A broken line of the opponents: the line where the ball went past it, and the way of the ball. */
  function lineBreak(mark) {
    const share = (mark.line_x_m - mark.x_m) / (mark.to_x_m - mark.x_m);
    const [x, y] = [px(mark.line_x_m), py(mark.y_m + share * (mark.to_y_m - mark.y_m))];
    const [x0, y0, x1, y1] = [px(mark.x_m), py(mark.y_m), px(mark.to_x_m), py(mark.to_y_m)];
    const gone = mark.state === "withdrawn";
    pen.globalAlpha = strength(mark) * (gone ? 0.75 : 1);
    pen.setLineDash(mark.state === "confirmed" ? [] : [wide(7), wide(6)]);
    pen.lineWidth = wide(3);
    pen.strokeStyle = pen.fillStyle = gone ? T.colours.withdrawn : T.colours.team(mark.team);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.setLineDash([]);
    arrow(x0, y0, x1, y1, wide(13));
    pen.fill();
    label(mark.label, x, y - 8.5 * scale, gone);
    pen.strokeStyle = gone ? T.colours.withdrawn : T.colours.team(mark.team === "home" ? "away" : "home");
    pen.beginPath();
    pen.moveTo(x, y - 7 * scale);
    pen.lineTo(x, y + 7 * scale);
    pen.stroke();
    if (gone) cross(x, y, wide(6));
    pen.globalAlpha = 1;
  }

  function ballTrail(ball) {
    const trail = ball.trail;
    pen.strokeStyle = T.colours.text;
    pen.lineCap = "round";
    for (let i = 1; i < trail.length; i += 1) {
      const age = (T.scene.clock - trail[i][0]) / 3e6;
      pen.globalAlpha = 0.55 * (1 - age);
      pen.lineWidth = wide(1 + 2 * (1 - age));
      pen.beginPath();
      pen.moveTo(px(trail[i - 1][1]), py(trail[i - 1][2]));
      pen.lineTo(px(trail[i][1]), py(trail[i][2]));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.lineCap = "butt";
  }

  function bodyTrails() {
    pen.globalAlpha = 0.4;
    pen.lineWidth = wide(1.5);
    for (const team of ["home", "away", ""]) {
      pen.strokeStyle = T.colours.team(team);
      pen.beginPath();
      for (const [id, body] of T.scene.bodies) {
        if (T.scene.team(id) !== team) continue;
        body.trail.forEach(([, x, y], i) => (i ? pen.lineTo(px(x), py(y)) : pen.moveTo(px(x), py(y))));
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  function body(id, object, radius) {
    const team = T.scene.team(id);
    const player = T.scene.players.get(id);
    const [x, y] = [px(object.x), py(object.y)];
    pen.globalAlpha = object.old ? 0.45 : 1; // not heard of for a second
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = T.colours.team(team);
    pen.fill();
    pen.lineWidth = wide(1.5);
    pen.strokeStyle = "rgba(4, 10, 8, 0.85)";
    pen.stroke();
    if (player && player.goalkeeper) {
      pen.beginPath();
      pen.arc(x, y, radius + wide(2.5), 0, 2 * Math.PI);
      pen.strokeStyle = T.colours.team(team);
      pen.stroke();
    }
    pen.fillStyle = T.colours.ink(team);
    pen.fillText(T.scene.shirt(id), x, y + 0.5);
    pen.globalAlpha = 1;
    if (id === T.find.player) ring(x, y, 1.7 * radius, T.colours.text);
    if (!T.layers.on.names && id !== T.find.player) return;
    pen.fillStyle = T.colours.text;
    label(T.words.last(id), x, y + 2 * radius, false);
  }

  function ring(x, y, radius, colour) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.lineWidth = wide(2.5);
    pen.strokeStyle = colour;
    pen.stroke();
  }

  /* The chosen event: where it happened. */
  function chosen(row) {
    if (row.x_m !== null) ring(px(row.x_m), py(row.y_m), 1.8 * scale, T.colours.camera);
  }

  function bodies() {
    const radius = Math.max(8, 1.12 * scale);
    pen.font = "700 " + Math.round(radius * 1.08) + "px " + FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [id, object] of T.scene.bodies) body(id, object, radius);
  }

  function ball(object) {
    const [x, ground] = [px(object.x), py(object.y)];
    const { radius, lift } = T.ballShape(pen, x, ground, object.z, scale);
    if (object.z >= 0.8) {
      pen.fillStyle = T.colours.text;
      label(object.z.toFixed(1) + " m", x + radius + wide(24), ground - lift, false);
    }
  }

  T.draw = function (now) {
    fit(now);
    pen.clearRect(0, 0, width, height);
    const scene = T.scene;
    const on = T.layers.on;
    if (scene.clock === null) return;
    const isLive = T.moment.us === null;
    T.paintLayers([halfX - MARGIN_M, halfY - MARGIN_M]);
    if (on.cameras && isLive) scene.cameras.forEach(camera);
    const shown = (mark) => (mark.shape === "break" ? on.breaks : on.strokes);
    const fresh = scene.marks.filter((mark) => shown(mark) && mark.ts_us <= scene.clock && strength(mark) > 0);
    for (const mark of fresh) {
      if (mark.shape === "break") lineBreak(mark);
      else if (mark.shape !== "restart") stroke(mark);
    }
    if (on.trails) bodyTrails();
    if (on.trails && scene.ball) ballTrail(scene.ball);
    bodies();
    for (const mark of fresh) if (mark.shape === "restart") restart(mark);
    if (T.moment.event) chosen(T.moment.event);
    if (scene.ball) ball(scene.ball);
    paintWords();
  };

  /* The pen and the measures of the pitch, for what paints upon it. */
  T.draw.at = { px, py, path, label, wide };

  /* The player under the mouse, null without one. */
  function under(mx, my) {
    let best = null;
    let least = Math.max(16, 1.6 * scale);
    for (const [id, object] of T.scene.bodies) {
      const distance = Math.hypot(px(object.x) - mx, py(object.y) - my);
      if (distance < least) [best, least] = [id, distance];
    }
    return best;
  }

  const mouse = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /* Name and team of the player under the mouse. */
  function point(event) {
    const tip = document.getElementById("tip");
    const [mx, my] = mouse(event);
    const best = under(mx, my);
    tip.hidden = best === null;
    if (best === null) return;
    tip.textContent = T.words.player(best) + " · " + T.words.team(T.scene.team(best));
    tip.style.left = Math.min(mx + 14, width - tip.offsetWidth - 6) + "px";
    tip.style.top = Math.max(my - 30, 4) + "px";
  }

  T.draw.mount = function (element) {
    canvas = element;
    pen = canvas.getContext("2d");
    halfX = Number(canvas.dataset.halfX);
    halfY = Number(canvas.dataset.halfY);
    canvas.addEventListener("mousemove", point);
    canvas.addEventListener("click", function (event) {
      const player = under(...mouse(event));
      if (event.shiftKey) T.find.gather(player);
      else T.find.follow("player", player);
    });
    canvas.addEventListener("mouseleave", () => (document.getElementById("tip").hidden = true));
  };
})();
