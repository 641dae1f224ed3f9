/* The event list: one line per event, newest on top, kept as the messages change it. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const LINES_MAX = 200;

  const words = {
    sheet: null,
    team: (side) => (side && words.sheet ? words.sheet[side] : ""),
    player(id) {
      const player = T.scene.players.get(id);
      return (T.scene.shirt(id) + " " + (player && player.name ? player.name : id)).trim();
    },
    /* Last names for narrow lines; one name has its shirt number, two names have none. */
    last: (id) => words.player(id).split(" ").pop(),
    brief: (ids) => (ids.length > 1 ? ids.map(words.last).join(" → ") : shirtAndLast(ids[0])),
    /* Event time as minutes and seconds from the source's own zero. */
    clock(us, digits) {
      const sign = us < 0 ? "-" : "";
      const total = Math.abs(us) / 1e6;
      const minutes = Math.floor(total / 60);
      const factor = 10 ** digits;
      const seconds = Math.floor((total - 60 * minutes) * factor) / factor;
      return sign + String(minutes).padStart(2, "0") + ":" + seconds.toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
    },
  };

  function shirtAndLast(id) {
    const last = words.last(id);
    const shirt = T.scene.shirt(id);
    return shirt && last !== shirt ? shirt + " " + last : last;
  }

  const lines = new Map();
  let list = null;

  function cell(className, text) {
    const span = document.createElement("span");
    span.className = className;
    span.textContent = text;
    return span;
  }

  function fill(line, row) {
    const isNew = line.dataset.state === undefined;
    const changed = !isNew && (line.dataset.state !== row.state || line.dataset.revision !== String(row.revision));
    line.className = "event " + row.state + " " + (row.team || "neither") + " f-" + row.family;
    line.dataset.id = row.id;
    line.dataset.kind = row.kind;
    line.dataset.state = row.state;
    line.dataset.revision = row.revision;
    line.dataset.ts = row.ts_us;
    const what = document.createElement("span");
    what.className = "what";
    what.append(cell("title", row.title));
    if (row.variant) what.append(cell("variant", row.variant.replaceAll("_", " ")));
    const people = [row.player, row.other].filter((id) => id);
    const who = people.length ? words.brief(people) : words.team(row.team);
    const state = cell("state", row.state);
    if (row.revision) state.append(cell("revision", row.revision > 1 ? "amended ×" + row.revision : "amended"));
    line.replaceChildren(cell("dot", ""), cell("time", words.clock(row.ts_us, 1)), what, cell("who", who), state);
    line.title =
      row.kind + (row.variant ? " (" + row.variant + ")" : "") + " · " + (people.map(words.player).join(" → ") || who) + " · known " +
      Math.round(row.latency_ms) + " ms after it happened";
    if (changed) {
      // Restart the animation, so that the eye is led to what has just been confirmed or taken back.
      void line.offsetWidth;
      line.classList.add("changed");
    }
  }

  /* Keeps the list sorted by event time, newest first. New lines nearly always belong near the top. */
  function place(line) {
    const ts = Number(line.dataset.ts);
    let next = list.firstElementChild;
    while (next && (next === line || Number(next.dataset.ts) > ts)) next = next.nextElementSibling;
    if (line.nextElementSibling !== next || line.parentNode !== list) list.insertBefore(line, next);
  }

  T.list = {
    mount(element) {
      list = element;
    },
    take(message) {
      if (message.sheet) {
        words.sheet = message.sheet;
        lines.clear();
        list.replaceChildren();
      }
      for (const row of message.rows || []) {
        const known = lines.get(row.id);
        const line = known || document.createElement("li");
        const moved = !known || line.dataset.ts !== String(row.ts_us);
        fill(line, row);
        lines.set(row.id, line);
        if (moved) place(line);
      }
      while (list.childElementCount > LINES_MAX) {
        lines.delete(list.lastElementChild.dataset.id);
        list.lastElementChild.remove();
      }
    },
    /* Which states are shown; those of the families come from the server. */
    states(shown) {
      for (const state of ["tentative", "confirmed", "withdrawn"]) {
        list.classList.toggle("hide-" + state, !shown.includes(state));
      }
    },
  };

  T.words = words;
  T.link.handlers.push(T.list.take);
})();
