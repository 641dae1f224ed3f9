/* Paints the scene over the pitch: one canvas, cleared and painted anew for each frame. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const TEAM = { home: "#f2b23e", away: "#5db2f5", "": "#c9d3da" };
  const INK = { home: "#241800", away: "#04192b", "": "#10161b" };
  const CAMERA = "#d9a7ff";
  const WITHDRAWN = "#ff8a80";
  const FONT = '"Inter",sans-serif';

  let canvas, pen, width, height, halfX, halfY, scale;

  function fit() {
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
  }

  const px = (x) => (x + halfX) * scale;
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
      pen.setLineDash([3, 5]);
      pen.lineWidth = 1.2;
      pen.strokeStyle = CAMERA;
      pen.stroke();
      pen.setLineDash([]);
    }
    if (pose.achieved && pose.achieved.footprint.length > 2) {
      path(pose.achieved.footprint, true);
      pen.fillStyle = "rgba(217, 167, 255, 0.09)";
      pen.fill();
      pen.lineWidth = 1.6;
      pen.strokeStyle = CAMERA;
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
    pen.strokeStyle = pen.fillStyle = gone ? WITHDRAWN : TEAM[mark.team] || TEAM[""];
    pen.lineWidth = shot ? 3.2 : 1.8;
    if (end) {
      const [x1, y1] = [px(end[0]), py(end[1])];
      pen.setLineDash(hollow || gone ? [7, 6] : []);
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.setLineDash([]);
      if (mark.to_x_m !== undefined && mark.to_x_m !== null) {
        if (lost && !gone) cross(x1, y1, 4);
        else {
          pen.lineWidth = 1.5;
          arrow(x0, y0, x1, y1, shot ? 13 : 10);
          if (hollow || gone) pen.stroke();
          else pen.fill();
        }
      }
      if (gone) cross((x0 + x1) / 2, (y0 + y1) / 2, 6);
    }
    pen.lineWidth = 1.6;
    pen.beginPath();
    pen.arc(x0, y0, shot ? 6 : 3.5, 0, 2 * Math.PI);
    if (hollow || gone) pen.stroke();
    else pen.fill();
    if (gone && !end) cross(x0, y0, 6);
    if (shot) label(mark.label, x0, y0 - 12, gone);
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
    pen.font = "600 11px " + FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const half = pen.measureText(text).width / 2;
    const inside = Math.max(half + 6, Math.min(width - half - 6, x));
    const level = Math.max(10, Math.min(height - 10, y));
    const colour = pen.fillStyle;
    pen.fillStyle = "rgba(9, 18, 15, 0.78)";
    pen.fillRect(inside - half - 5, level - 8, 2 * half + 10, 16);
    pen.fillStyle = colour;
    pen.fillText(text, inside, level + 0.5);
    if (struck) pen.fillRect(inside - half, level, 2 * half, 1.4);
  }

  function restart(mark) {
    const [x, y] = [px(mark.x_m), py(mark.y_m)];
    const gone = mark.state === "withdrawn";
    pen.globalAlpha = strength(mark) * (gone ? 0.75 : 1);
    pen.strokeStyle = pen.fillStyle = gone ? WITHDRAWN : TEAM[mark.team] || TEAM[""];
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, y - 7);
    pen.lineTo(x + 7, y);
    pen.lineTo(x, y + 7);
    pen.lineTo(x - 7, y);
    pen.closePath();
    if (mark.state === "confirmed") pen.fill();
    else pen.stroke();
    if (gone) cross(x, y, 6);
    label(mark.label, x, y > height / 2 ? y - 17 : y + 17, gone);
    pen.globalAlpha = 1;
  }

  function ballTrail(ball) {
    const trail = ball.trail;
    pen.strokeStyle = "#ffffff";
    pen.lineCap = "round";
    for (let i = 1; i < trail.length; i += 1) {
      const age = (T.scene.clock - trail[i][0]) / 3e6;
      pen.globalAlpha = 0.55 * (1 - age);
      pen.lineWidth = 1 + 2 * (1 - age);
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
    pen.lineWidth = 1.5;
    for (const team of Object.keys(TEAM)) {
      pen.strokeStyle = TEAM[team];
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
    pen.fillStyle = TEAM[team];
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = "rgba(4, 10, 8, 0.85)";
    pen.stroke();
    if (player && player.goalkeeper) {
      pen.beginPath();
      pen.arc(x, y, radius + 2.5, 0, 2 * Math.PI);
      pen.strokeStyle = TEAM[team];
      pen.stroke();
    }
    pen.fillStyle = INK[team];
    pen.fillText(T.scene.shirt(id), x, y + 0.5);
    pen.globalAlpha = 1;
  }

  function bodies() {
    const radius = Math.max(8, 1.12 * scale);
    pen.font = "700 " + Math.round(radius * 1.08) + "px " + FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [id, object] of T.scene.bodies) body(id, object, radius);
  }

  /* Height: the shadow stays on the ground, the ball rises above it on a stem and grows, with its height in metres. */
  function ball(object) {
    const [x, ground] = [px(object.x), py(object.y)];
    const lift = Math.min(90, object.z * scale * 0.8);
    const radius = Math.max(4.5, 0.5 * scale) * (1 + Math.min(1, object.z / 12));
    pen.fillStyle = "rgba(0, 0, 0, 0.55)";
    pen.beginPath();
    pen.ellipse(x + 1, ground + 2, radius, radius * 0.6, 0, 0, 2 * Math.PI);
    pen.fill();
    if (lift > 2) {
      pen.strokeStyle = "rgba(255, 255, 255, 0.5)";
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x, ground);
      pen.lineTo(x, ground - lift);
      pen.stroke();
    }
    pen.beginPath();
    pen.arc(x, ground - lift, radius, 0, 2 * Math.PI);
    pen.fillStyle = "#ffffff";
    pen.fill();
    pen.lineWidth = 1.6;
    pen.strokeStyle = "#10161b";
    pen.stroke();
    if (object.z >= 0.8) {
      pen.fillStyle = "#ffffff";
      label(object.z.toFixed(1) + " m", x + radius + 24, ground - lift, false);
    }
  }

  T.draw = function () {
    fit();
    pen.clearRect(0, 0, width, height);
    const scene = T.scene;
    if (scene.clock === null) return;
    scene.cameras.forEach(camera);
    const fresh = scene.marks.filter((mark) => strength(mark) > 0);
    for (const mark of fresh) if (mark.shape !== "restart") stroke(mark);
    bodyTrails();
    if (scene.ball) ballTrail(scene.ball);
    bodies();
    for (const mark of fresh) if (mark.shape === "restart") restart(mark);
    if (scene.ball) ball(scene.ball);
    paintWords();
  };

  /* The object under the mouse: name and team in words. */
  function point(event) {
    const tip = document.getElementById("tip");
    const box = canvas.getBoundingClientRect();
    const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = 16;
    for (const [id, object] of T.scene.bodies) {
      const distance = Math.hypot(px(object.x) - mx, py(object.y) - my);
      if (distance < least) [best, least] = [id, distance];
    }
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
    canvas.addEventListener("mouseleave", () => (document.getElementById("tip").hidden = true));
  };
})();
