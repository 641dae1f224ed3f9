/* The pitch on a canvas: lines, players, ball with its height, trails, events, and layers that can be chosen. */
import { token } from "/pages/shared/shell.js";

const MARGIN_M = 4;
const STRIPES = 14;
const BALL_TRAIL_US = 3e6;
const BODY_TRAIL_US = 1.5e6;

export const LAYERS = [
  ["labels", "Names", "B", false],
  ["trails", "Trails", "T", true],
  ["events", "Events", "V", true],
  ["hulls", "Team shapes", "H", false],
  ["offside", "Offside lines", "F", false],
];

const { hull, offsideLine } = window.touchline;

export class Pitch {
  constructor(canvas, sheet, lines) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.lines = lines;
    this.halfX = sheet.length_m / 2 + MARGIN_M;
    this.halfY = sheet.width_m / 2 + MARGIN_M;
    this.field = [sheet.length_m / 2, sheet.width_m / 2];
    this.players = new Map(sheet.players.map((player) => [player.object_id, player]));
    this.layers = Object.fromEntries(LAYERS.map(([name, , , on]) => [name, on]));
    this.review = null; // a reviewed call, drawn over the rest
    this.readTheme();
  }

  readTheme() {
    const names = ["home", "away", "home-ink", "away-ink", "grass", "grass-light", "surround", "line", "text", "ground", "soft", "withdrawn", "camera"];
    this.colour = Object.fromEntries(names.map((name) => [name, token(name)]));
  }

  team(side) {
    return this.colour[side] || this.colour.soft;
  }

  shirt(id) {
    const player = this.players.get(id);
    if (player && player.shirt !== null) return String(player.shirt);
    const digits = /(\d{1,2})$/.exec(id);
    return digits ? digits[1] : "";
  }

  fit() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.width = box.width;
    this.height = box.height;
    this.scale = Math.min(box.width / (2 * this.halfX), box.height / (2 * this.halfY));
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  px(x) {
    return this.width / 2 + x * this.scale;
  }

  py(y) {
    return this.height / 2 - y * this.scale;
  }

  path(points, closed = false) {
    this.pen.beginPath();
    points.forEach(([x, y], i) => (i ? this.pen.lineTo(this.px(x), this.py(y)) : this.pen.moveTo(this.px(x), this.py(y))));
    if (closed) this.pen.closePath();
  }

  ground() {
    const { pen, colour } = this;
    const [halfX, halfY] = this.field;
    pen.fillStyle = colour.surround;
    pen.fillRect(this.px(-this.halfX), this.py(this.halfY), 2 * this.halfX * this.scale, 2 * this.halfY * this.scale);
    for (let i = 0; i < STRIPES; i += 1) {
      const x = -halfX + (2 * halfX * i) / STRIPES;
      pen.fillStyle = i % 2 ? colour.grass : colour["grass-light"];
      pen.fillRect(this.px(x), this.py(halfY), (2 * halfX * this.scale) / STRIPES + 0.5, 2 * halfY * this.scale);
    }
    pen.strokeStyle = colour.line;
    pen.lineWidth = Math.max(1, 0.13 * this.scale);
    for (const line of this.lines) {
      this.path(line);
      pen.stroke();
    }
  }

  /* Draws an instant: bodies with the ball among them, their trails, marks of events, who attacks towards +x. */
  draw(us, bodies, positions, marks, attacker, chosen) {
    this.fit();
    this.pen.clearRect(0, 0, this.width, this.height);
    this.ground();
    if (!bodies) return;
    const ball = bodies.find((one) => one.id === "ball") || null;
    const people = bodies.filter((one) => one.team === "home" || one.team === "away");
    if (this.layers.hulls) this.hulls(people);
    if (this.layers.offside && attacker) this.offside(people, ball, attacker);
    if (this.layers.events) marks.forEach((mark) => this.mark(mark, us, ball));
    if (this.layers.trails) this.trails(us, bodies, positions);
    for (const body of bodies) if (body.id !== "ball") this.body(body);
    if (chosen && chosen.x_m !== null) this.spot(chosen);
    if (this.review) this.reviewed(this.review.call);
    if (ball) this.ball(ball);
  }

  /* The line of a reviewed call, and who decides it. */
  reviewed(call) {
    const { pen } = this;
    pen.strokeStyle = this.colour.camera;
    pen.lineWidth = 2;
    this.path(call.line);
    pen.stroke();
    for (const point of call.points.filter((one) => one.role === "subject" || one.role === "line")) {
      pen.beginPath();
      pen.arc(this.px(point.x_m), this.py(point.y_m), Math.max(6, 1.4 * this.scale), 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  hulls(people) {
    const { pen } = this;
    for (const side of ["home", "away"]) {
      const field = people.filter((one) => one.team === side && !(this.players.get(one.id) || {}).goalkeeper);
      if (field.length < 3) continue;
      this.path(hull(field.map((one) => [one.x, one.y])), true);
      pen.globalAlpha = 0.14;
      pen.fillStyle = this.team(side);
      pen.fill();
      pen.globalAlpha = 0.8;
      pen.lineWidth = 1.5;
      pen.strokeStyle = this.team(side);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  offside(people, ball, attacker) {
    const { pen } = this;
    for (const side of ["home", "away"]) {
      const sign = side === attacker ? 1 : -1;
      const x = offsideLine(people.filter((one) => one.team !== side), ball ? ball.x : null, sign);
      if (x === null) continue;
      this.path([[x, -this.field[1]], [x, this.field[1]]]);
      pen.setLineDash(side === "home" ? [] : [9, 5]);
      pen.lineWidth = 2;
      pen.strokeStyle = this.team(side);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  mark(mark, us, ball) {
    if (us < mark.ts_us || us > mark.until_us) return;
    const { pen } = this;
    const isGone = mark.state === "withdrawn";
    pen.globalAlpha = Math.min(1, (3 * (mark.until_us - us)) / (mark.until_us - mark.ts_us)) * 0.85;
    pen.strokeStyle = pen.fillStyle = isGone ? this.colour.withdrawn : this.team(mark.team);
    pen.lineWidth = Math.max(1.5, (mark.shape === "shot" ? 0.36 : 0.2) * this.scale);
    pen.setLineDash(mark.state === "confirmed" ? [] : [7, 5]);
    const [x, y] = [this.px(mark.x_m), this.py(mark.y_m)];
    const to = mark.to_x_m === null || mark.to_x_m === undefined ? ball && us - mark.ts_us < 4e6 && mark.shape !== "restart" ? [ball.x, ball.y] : null : [mark.to_x_m, mark.to_y_m];
    pen.beginPath();
    if (mark.shape === "restart") pen.rect(x - 0.7 * this.scale, y - 0.7 * this.scale, 1.4 * this.scale, 1.4 * this.scale);
    else if (to) {
      pen.moveTo(x, y);
      pen.lineTo(this.px(to[0]), this.py(to[1]));
    }
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    pen.arc(x, y, 0.45 * this.scale, 0, 2 * Math.PI);
    if (mark.state === "confirmed") pen.fill();
    else pen.stroke();
    if (mark.shape !== "pass") this.write(mark.label, x, y - 1.9 * this.scale, isGone);
    pen.globalAlpha = 1;
  }

  trails(us, bodies, positions) {
    const { pen } = this;
    for (const body of bodies) {
      const isBall = body.id === "ball";
      const points = positions.trail(body.id, us, isBall ? BALL_TRAIL_US : BODY_TRAIL_US, isBall ? 45 : 8);
      pen.strokeStyle = isBall ? this.colour.text : this.team(body.team);
      pen.lineWidth = Math.max(1.2, 0.16 * this.scale);
      for (let i = 1; i < points.length; i += 1) {
        pen.globalAlpha = (0.55 * i) / points.length;
        this.path([points[i - 1], points[i]]);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  body(body) {
    const { pen } = this;
    const radius = Math.max(7, 1.1 * this.scale);
    const [x, y] = [this.px(body.x), this.py(body.y)];
    const player = this.players.get(body.id);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = this.team(body.team);
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = "rgba(4, 10, 8, 0.8)";
    pen.stroke();
    if (player && player.goalkeeper) {
      pen.beginPath();
      pen.arc(x, y, radius + 0.22 * this.scale, 0, 2 * Math.PI);
      pen.strokeStyle = this.team(body.team);
      pen.stroke();
    }
    pen.font = "700 " + Math.round(radius * 1.05) + 'px "Inter", sans-serif';
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = this.colour[body.team + "-ink"] || this.colour.ground;
    pen.fillText(this.shirt(body.id), x, y + 0.5);
    if (this.layers.labels && player && player.name) this.write(player.name.split(" ").pop(), x, y + 1.9 * this.scale, false);
  }

  spot(event) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(this.px(event.x_m), this.py(event.y_m), 1.8 * this.scale, 0, 2 * Math.PI);
    pen.lineWidth = 2.5;
    pen.strokeStyle = this.colour.camera;
    pen.stroke();
  }

  ball(ball) {
    const [x, ground] = [this.px(ball.x), this.py(ball.y)];
    const { radius, lift } = window.touchline.ballShape(this.pen, x, ground, ball.z, this.scale);
    if (ball.z >= 0.8) this.write(ball.z.toFixed(1) + " m", x + radius + 2.2 * this.scale, ground - lift, false);
  }

  write(text, x, y, isStruck) {
    const { pen } = this;
    const size = Math.max(10, Math.round(0.95 * this.scale));
    pen.font = "600 " + size + 'px "Inter", sans-serif';
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const half = pen.measureText(text).width / 2;
    const inside = Math.max(half + 6, Math.min(this.width - half - 6, x));
    const level = Math.max(size, Math.min(this.height - size, y));
    pen.fillStyle = this.colour.ground;
    pen.globalAlpha *= 0.85;
    pen.fillRect(inside - half - 4, level - 0.7 * size, 2 * half + 8, 1.4 * size);
    pen.globalAlpha /= 0.85;
    pen.fillStyle = isStruck ? this.colour.withdrawn : this.colour.text;
    pen.fillText(text, inside, level + 0.5);
    if (isStruck) pen.fillRect(inside - half, level, 2 * half, 1.4);
  }

  /* The player under a point of the canvas, among bodies. */
  under(x, y, bodies) {
    const near = (bodies || [])
      .map((one) => [Math.hypot(this.px(one.x) - x, this.py(one.y) - y), one])
      .filter(([distance]) => distance < Math.max(12, 1.6 * this.scale));
    near.sort((a, b) => a[0] - b[0]);
    return near.length ? near[0][1] : null;
  }
}
