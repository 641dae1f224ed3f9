/* The moving objects: their drawn positions between two messages, and their trails.

   An object moves from its drawn position to its newest one within the usual time between two messages. So it is at
   most one message behind, moves evenly at any playback speed, and is never drawn beyond a known position. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const BALL_TRAIL_US = 3e6;
  const BODY_TRAIL_US = 1.2e6;
  const JUMP_M = 6; // farther within one message is a correction or a seek, not a movement

  const scene = {
    clock: null, // event time of the newest positions
    arrived: 0,
    interval: 40, // ms between two messages that bring positions, smoothed
    ball: null,
    bodies: new Map(),
    cameras: [],
    marks: [],
    players: new Map(), // sheet by object id
  };

  function move(object, x, y, z, clock, trailUs) {
    if (object.seen === undefined || Math.hypot(x - object.x, y - object.y) > JUMP_M) {
      object.x = x;
      object.y = y;
      object.z = z;
      object.trail = [];
    }
    object.seen = clock;
    object.from = [object.x, object.y, object.z];
    object.to = [x, y, z];
    object.trail.push([clock, x, y]);
    let old = 0;
    while (object.trail[old][0] < clock - trailUs) old += 1;
    if (old) object.trail.splice(0, old);
  }

  function takeView(message, now) {
    const clock = message.clock_us;
    if (clock === scene.clock) return;
    if (scene.clock !== null && clock < scene.clock) forget();
    if (scene.arrived) {
      const gap = Math.min(200, Math.max(16, now - scene.arrived));
      scene.interval += 0.15 * (gap - scene.interval);
    }
    step(now); // from where it is drawn, not from where it was to be
    scene.clock = clock;
    scene.arrived = now;
    if (message.ball) {
      scene.ball = scene.ball || {};
      move(scene.ball, message.ball[0], message.ball[1], message.ball[2], clock, BALL_TRAIL_US);
    } else scene.ball = null;
    for (const [id, x, y, old] of message.players) {
      if (!scene.bodies.has(id)) scene.bodies.set(id, {});
      const body = scene.bodies.get(id);
      move(body, x, y, 0, clock, BODY_TRAIL_US);
      body.old = old;
    }
    for (const [id, body] of scene.bodies) if (body.seen !== clock) scene.bodies.delete(id);
  }

  function forget() {
    scene.ball = null;
    scene.bodies.clear();
  }

  function step(now) {
    const share = Math.min(1, (now - scene.arrived) / scene.interval);
    const place = function (object) {
      object.x = object.from[0] + (object.to[0] - object.from[0]) * share;
      object.y = object.from[1] + (object.to[1] - object.from[1]) * share;
      object.z = object.from[2] + (object.to[2] - object.from[2]) * share;
    };
    if (scene.ball) place(scene.ball);
    scene.bodies.forEach(place);
  }

  scene.take = function (message, now) {
    if (message.sheet) {
      scene.players = new Map(message.sheet.players.map((player) => [player.object_id, player]));
    }
    if (message.clock_us !== undefined) takeView(message, now);
    scene.cameras = message.cameras || [];
    if (message.marks) scene.marks = message.marks;
  };

  /* What is written on a disc: the sheet's shirt, else the number that usual ids end with. */
  scene.shirt = function (id) {
    const player = scene.players.get(id);
    if (player && player.shirt !== null) return String(player.shirt);
    const digits = /(\d{1,2})$/.exec(id);
    return digits ? digits[1] : "";
  };

  scene.team = function (id) {
    const player = scene.players.get(id);
    if (player) return player.team;
    return id.startsWith("home_") ? "home" : id.startsWith("away_") ? "away" : "";
  };

  scene.step = step;
  T.scene = scene;
  T.link.handlers.push(scene.take);
})();
