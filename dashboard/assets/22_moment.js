/* A past moment on the pitch: from what this page has seen, else from the match store; and back to live. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const BALL_TRAIL_US = 3e6;
  const BODY_TRAIL_US = 1.2e6;
  const NEAR_US = 300e3; // a message this far from a moment still shows it
  const CHUNK_US = 10e6; // as in app/api/replay.py
  const ASK_AGAIN_MS = 3000;

  let stored = null; // Positions of the store, once they are needed
  let last = 0;
  let asking = null; // a timer: until then the store is not asked again

  const moment = {
    us: null, // null: live
    event: null, // the row that was chosen
    isPlaying: false,
    problem: "",
  };

  /* Index of the last message at or before a time; -1 before the first. */
  function before(us) {
    const history = T.scene.history;
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (history[middle][0] <= us) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  function seen(us) {
    const at = T.scene.history[before(us)];
    if (!at || us - at[0] > NEAR_US) return null;
    const objects = at[2].map(([id, x, y]) => ({ id, x, y, z: 0, trail: trail(us, BODY_TRAIL_US, placeOf(id)) }));
    const ball = at[1];
    if (ball) objects.push({ id: "ball", x: ball[0], y: ball[1], z: ball[2], trail: trail(us, BALL_TRAIL_US, (one) => one[1]) });
    return objects;
  }

  const placeOf = (id) => function (one) {
    const found = one[2].find((player) => player[0] === id);
    return found ? [found[1], found[2]] : null;
  };

  function trail(us, lengthUs, place) {
    const points = [];
    for (let i = before(us); i >= 0 && T.scene.history[i][0] >= us - lengthUs; i -= 2) {
      const at = place(T.scene.history[i]);
      if (at) points.unshift([T.scene.history[i][0], at[0], at[1]]);
    }
    return points;
  }

  function fromStore(us) {
    if (!stored) return null;
    const rows = stored.at(us);
    if (!rows) {
      stored.fetch(stored.number(us)).catch((error) => (moment.problem = "Positions of this moment: " + error.message));
      return null;
    }
    moment.problem = rows.length ? "" : "No positions of this moment are stored" + (T.link.ended ? "." : " yet.");
    if (!rows.length && !T.link.ended && !asking) {
      const number = stored.number(us);
      asking = setTimeout(function () {
        stored.forget(number);
        asking = null;
      }, ASK_AGAIN_MS);
    }
    return rows.map((row) => {
      const lengthUs = row.id === "ball" ? BALL_TRAIL_US : BODY_TRAIL_US;
      const points = stored.trail(row.id, us, lengthUs, 15);
      return { ...row, trail: points.map(([x, y], i) => [us - lengthUs + (lengthUs * (i + 1)) / points.length, x, y]) };
    });
  }

  async function openStore() {
    const { Positions } = await import("/pages/shared/positions.js");
    stored = stored || new Positions(T.words.sheet.match_id, CHUNK_US);
  }

  function show() {
    const objects = seen(moment.us);
    if (objects) moment.problem = "";
    const found = objects || fromStore(moment.us);
    if (found) T.scene.hold(moment.us, found);
    else openStore();
  }

  /* Holds an event time; `row` is the event that it is about. */
  moment.go = function (us, row) {
    moment.us = us;
    moment.event = row || null;
    moment.isPlaying = false;
    moment.problem = "";
    show();
    write();
  };

  moment.live = function () {
    moment.us = moment.event = null;
    moment.isPlaying = false;
    T.scene.hold(null);
    write();
  };

  moment.play = function () {
    if (moment.us === null) return;
    moment.isPlaying = !moment.isPlaying;
    write();
  };

  moment.by = function (us) {
    if (moment.us === null) return;
    moment.us += us;
    moment.isPlaying = false;
    write();
  };

  /* Called for each frame; a moment that plays has reached live when nothing newer is known. */
  moment.step = function (now) {
    const passed = Math.min(100, now - last);
    last = now;
    if (moment.us === null) return;
    if (moment.isPlaying) moment.us += 1000 * passed;
    if (T.scene.liveClock !== null && moment.us >= T.scene.liveClock && !T.link.ended) moment.live();
    else {
      show();
      write();
    }
  };

  function button(text, title, act) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: text, title, onclick: act });
    return made;
  }

  function write() {
    const view = document.getElementById("moment");
    view.hidden = moment.us === null;
    if (view.hidden) return;
    if (!view.childElementCount) {
      view.append(
        document.createElement("b"), document.createElement("span"), button("Play", "Play on from here (Space)", moment.play),
        button("Live", "Back to live (B)", () => T.list.select(null))
      );
    }
    const [time, problem, play] = view.children;
    time.textContent = T.words.clock(moment.us, 2);
    problem.textContent = moment.problem;
    play.textContent = moment.isPlaying ? "Pause" : "Play";
  }

  T.moment = moment;
})();
