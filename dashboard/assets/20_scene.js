/* The moving objects: their drawn positions between two messages, their trails, and what was seen in the last minutes.

   An object moves from its drawn position to its newest one within the usual time between two messages. So it is at
   most one message behind, moves evenly at any playback speed, and is never drawn beyond a known position. While a
   past moment is held, the scene shows that one; the live one goes on behind it. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const BALL_TRAIL_US = 3e6;
  const BODY_TRAIL_US = 1.2e6;
  const JUMP_M = 6; // farther within one message is a correction or a seek, not a movement
  const HISTORY_US = 90e6; // longer than a window takes until it is stored
  const PACE_US = 200e3; // time over which a velocity is measured

  const live = {
    clock: null, // event time of the newest positions
    arrived: 0,
    interval: 40, // ms between two messages that bring positions, smoothed
    ball: null,
    bodies: new Map(),
  };
  let held = null; // the same of a past moment

  const scene = {
    history: [], // [event time, ball, players] of messages, oldest first
    cameras: [],
    marks: [],
    players: new Map(), // sheet by object id
    get clock() {
      return (held || live).clock;
    },
    get ball() {
      return (held || live).ball;
    },
    get bodies() {
      return (held || live).bodies;
    },
    get liveClock() {
      return live.clock;
    },
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
    if (clock === live.clock) return;
    if (live.clock !== null && clock < live.clock) forget();
    if (live.arrived) {
      const gap = Math.min(200, Math.max(16, now - live.arrived));
      live.interval += 0.15 * (gap - live.interval);
    }
    step(now); // from where it is drawn, not from where it was to be
    live.clock = clock;
    live.arrived = now;
    if (message.ball) {
      live.ball = live.ball || {};
      move(live.ball, message.ball[0], message.ball[1], message.ball[2], clock, BALL_TRAIL_US);
    } else live.ball = null;
    for (const [id, x, y, old] of message.players) {
      if (!live.bodies.has(id)) live.bodies.set(id, {});
      const body = live.bodies.get(id);
      move(body, x, y, 0, clock, BODY_TRAIL_US);
      body.old = old;
    }
    for (const [id, body] of live.bodies) if (body.seen !== clock) live.bodies.delete(id);
    remember(clock, message);
  }

  function remember(clock, message) {
    const history = scene.history;
    history.push([clock, message.ball || null, message.players]);
    if (history[0][0] >= clock - 1.2 * HISTORY_US) return;
    history.splice(0, history.findIndex(([us]) => us >= clock - HISTORY_US));
  }

  function forget() {
    live.ball = null;
    live.bodies.clear();
    scene.history.length = 0;
  }

  function step(now) {
    const share = Math.min(1, (now - live.arrived) / live.interval);
    const place = function (object) {
      object.x = object.from[0] + (object.to[0] - object.from[0]) * share;
      object.y = object.from[1] + (object.to[1] - object.from[1]) * share;
      object.z = object.from[2] + (object.to[2] - object.from[2]) * share;
    };
    if (live.ball) place(live.ball);
    live.bodies.forEach(place);
  }

  scene.take = function (message, now) {
    if (message.sheet) {
      scene.players = new Map(message.sheet.players.map((player) => [player.object_id, player]));
    }
    if (message.clock_us !== undefined) takeView(message, now);
    if (message.cameras) scene.cameras = message.cameras;
    if (message.marks) scene.marks = message.marks;
  };

  /* Shows a past moment: its event time, and the positions of every object there, each with its trail; null: live. */
  scene.hold = function (us, objects) {
    if (us === null) {
      held = null;
      return;
    }
    held = { clock: us, ball: null, bodies: new Map() };
    for (const { id, x, y, z, trail } of objects) {
      const object = { x, y, z, to: [x, y, z], trail, old: false };
      if (id === "ball") held.ball = object;
      else held.bodies.set(id, object);
    }
  };

  /* Velocity of an object in metres a second, from its trail. */
  scene.velocity = function (object) {
    const last = object.trail[object.trail.length - 1];
    const first = object.trail.findLast(([us]) => us <= last[0] - PACE_US) || object.trail[0];
    const seconds = (last[0] - first[0]) / 1e6;
    return seconds > 0 ? [(last[1] - first[1]) / seconds, (last[2] - first[2]) / seconds] : [0, 0];
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
