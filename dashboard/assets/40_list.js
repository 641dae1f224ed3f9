/* The event list: one line per event, a pass and its outcome on one, newest on top, kept as the messages change it.

   It is calm: a tentative event appears when it is likely to stand, and a withdrawn one is struck and leaves. The switch
   `everything` shows all of them at once, and for good. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const LINES_MAX = 200;
  const FADE_US = 250e3; // arrival time between two looks of an event that fades
  const STRUCK_US = 12e6; // arrival time for which a withdrawn event stays in the calm list
  const ATTEMPT = "pass.attempt";

  const lines = new Map(); // by the name of the line: { item, rows by id, head }
  const others = new Map(); // rows of kinds that a layer or an alert needs, and the list does not show
  let list = null;
  let chosen = null; // id of the selected event
  let everything = localStorage.getItem("everything") === "on";
  let families = new Set();
  let nowUs = 0;
  let states = new Set();
  let changes = 0; // counts what has changed the lines that are seen
  let isFading = false; // a withdrawn event is among those that were seen last

  function cell(className, text) {
    const span = document.createElement("span");
    span.className = className;
    span.textContent = text;
    return span;
  }

  /* The event for which a line stands: the newest outcome that stands, else the attempt; else the last that was withdrawn. */
  function headOf(rows) {
    const order = (row) => [row.state !== "withdrawn", row.kind !== ATTEMPT, row.changed_us];
    const later = (a, b) => {
      const [x, y] = [order(a), order(b)];
      const at = x.findIndex((value, i) => value !== y[i]);
      return at < 0 || x[at] > y[at] ? a : b;
    };
    return [...rows.values()].reduce(later);
  }

  /* What the line showed before: older versions of its event, and outcomes that were withdrawn. */
  function former(line) {
    const replaced = [...line.rows.values()].filter((row) => row !== line.head && row.state === "withdrawn" && row.kind !== ATTEMPT);
    return [...replaced, ...line.head.older];
  }

  /* When a line happened: a pass when it was played. */
  const timeOf = (line) => Math.min(...[...line.rows.values()].filter((row) => row === line.head || row.kind === ATTEMPT).map((row) => row.ts_us));

  function fill(line) {
    const { item, head } = line;
    const isNew = item.dataset.state === undefined;
    const amended = head.revision + (former(line).length > head.older.length ? 1 : 0);
    const changed = !isNew && (item.dataset.state !== head.state || item.dataset.revision !== String(amended) || item.dataset.id !== head.id);
    item.className = "event " + head.state + " " + (head.team || "neither") + " f-" + head.family;
    Object.assign(item.dataset, { id: head.id, kind: head.kind, state: head.state, revision: amended, ts: timeOf(line) });
    const people = T.words.people(head);
    const who = people.length ? T.words.brief(people) : T.words.team(head.team);
    const what = cell("what", "");
    what.append(cell("title", head.title));
    if (head.variety) what.append(cell("variant", head.variety));
    const state = cell("state", "");
    state.append(cell("word", head.state));
    if (amended) state.append(cell("revision", amended > 1 ? "amended ×" + amended : "amended"));
    item.replaceChildren(cell("dot", ""), cell("time", T.words.clock(Number(item.dataset.ts), 1)), what, cell("who", who), state);
    const before = former(line);
    if (before.length) item.append(cell("former", "was " + before.map((one) => one.title + (one.variety ? " " + one.variety : "") + ", " + (T.words.brief(T.words.people(one)) || "nobody") + (one.ts_us === head.ts_us ? "" : " at " + T.words.clock(one.ts_us, 1))).join("; ")));
    item.title =
      head.state + (amended ? ", amended" : "") + " · " + head.kind + (head.variety ? " (" + head.variety + ")" : "") + " · " + (people.map(T.words.player).join(" → ") || who) + " · known " +
      Math.round(head.latency_ms) + " ms after it happened";
    line.search = [head.title, head.kind, head.variety, ...people.map(T.words.player), T.words.team(head.team)].join(" ").toLowerCase();
    mark(line, line.rows.has(chosen));
    if (changed) {
      // Restart the animation, so that the eye is led to what has just been confirmed or taken back.
      void item.offsetWidth;
      item.classList.add("changed");
    }
  }

  function mark(line, is) {
    line.item.classList.toggle("chosen", is);
    if (is) line.item.setAttribute("aria-current", "true");
    else line.item.removeAttribute("aria-current");
  }

  const rowOf = (id) => {
    for (const line of lines.values()) if (line.rows.has(id)) return line.rows.get(id);
    return others.get(id) || null;
  };

  /* Selects an event, or none: the pitch goes to its moment and the explanation opens. */
  function select(id) {
    chosen = id;
    for (const line of lines.values()) {
      mark(line, line.rows.has(id));
      if (line.rows.has(id)) line.item.scrollIntoView({ block: "nearest" });
    }
    const row = id && rowOf(id);
    if (row) T.moment.go(row.ts_us, row);
    else T.moment.live();
    T.explain.show(row);
  }

  /* Moves the selection among the lines that are shown: 1 is down, to an older event. */
  function move(by) {
    const shown = [...list.children].filter((item) => item.offsetParent !== null);
    const at = shown.findIndex((item) => item.classList.contains("chosen"));
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) select(next.dataset.id);
  }

  /* Keeps the list sorted by event time, newest first. New lines nearly always belong near the top. */
  function place(item) {
    const ts = Number(item.dataset.ts);
    let next = list.firstElementChild;
    while (next && (next === item || Number(next.dataset.ts) > ts)) next = next.nextElementSibling;
    if (item.nextElementSibling !== next || item.parentNode !== list) list.insertBefore(item, next);
  }

  /* True if a line is to be seen now. A line that was once seen stays, whatever its doubt, until it is withdrawn. */
  function isCalm(line) {
    const { head } = line;
    if (everything || line.rows.has(chosen)) return true;
    if (head.state === "withdrawn") return line.seen && nowUs < head.changed_us + STRUCK_US;
    line.seen = line.seen || head.state === "confirmed" || nowUs >= head.likely_us;
    return line.seen;
  }

  function review(line) {
    const isHidden = !isCalm(line) || !T.find.takes(line);
    if (line.item.hidden === isHidden) return;
    line.item.hidden = isHidden;
    changes += 1;
    if (!isHidden) T.alerts.found(line.head, nowUs);
  }

  const reviewAll = () => lines.forEach(review);

  /* How much of a withdrawn event is left of its time: 1 to 0. */
  const left = (row) => Math.max(0, Math.min(1, 1 - (nowUs - row.changed_us) / STRUCK_US));

  /* The events of the lines that are seen; those that were withdrawn in calm leave with time. */
  function seen() {
    const found = [];
    isFading = false;
    for (const line of lines.values()) {
      if (line.item.hidden) continue;
      for (const row of line.rows.values()) {
        if (!states.has(row.state)) continue;
        if (row.state !== "withdrawn") found.push(row);
        else if (everything || row === line.head || left(row) > 0) {
          found.push({ ...row, fade: everything ? 0.6 : 0.2 + 0.8 * left(row) });
          isFading = true;
        }
      }
    }
    return found;
  }

  function clear() {
    lines.clear();
    others.clear();
    list.replaceChildren();
    T.lanes.reset();
    changes += 1;
  }

  function take(row) {
    if (!families.has(row.family) && !T.find.isFollowed(row.kind)) {
      others.delete(row.id);
      others.set(row.id, row);
      if (others.size > 4 * LINES_MAX) others.delete(others.keys().next().value);
      if (row.state === "confirmed" || nowUs >= row.likely_us) T.alerts.found(row, nowUs);
      return;
    }
    let line = lines.get(row.line);
    if (!line) {
      line = { item: document.createElement("li"), rows: new Map(), seen: false, search: "" };
      line.item.hidden = true;
      // A page that is opened has seen nothing: what was withdrawn long ago does not appear.
      line.seen = row.state === "withdrawn";
      lines.set(row.line, line);
    }
    line.rows.set(row.id, row);
    changes += 1;
    line.head = headOf(line.rows);
    const before = line.item.dataset.ts;
    fill(line);
    if (line.item.dataset.ts !== before) place(line.item);
    review(line);
  }

  function dropOldest() {
    const item = list.lastElementChild;
    for (const [name, line] of lines) if (line.item === item) lines.delete(name);
    item.remove();
  }

  T.list = {
    mount(element) {
      list = element;
      list.addEventListener("click", (event) => {
        const item = event.target.closest("li");
        if (item) select(item.classList.contains("chosen") ? null : item.dataset.id);
      });
      document.addEventListener("keydown", (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!by || event.target.closest("input, select, textarea, dialog")) return;
        event.preventDefault();
        move(by);
      });
      const button = document.getElementById("everything");
      button.setAttribute("aria-pressed", String(everything));
      button.onclick = T.list.everything;
    },
    /* Rows of the page that a test takes, newest first. */
    rows: (takes) => [...[...lines.values()].flatMap((line) => [...line.rows.values()]), ...others.values()].filter(takes).sort((a, b) => b.ts_us - a.ts_us),
    /* The row of the selected event, null without one. */
    selected: () => (chosen ? rowOf(chosen) : null),
    select,
    take(message) {
      nowUs = message.now_us;
      if (message.sheet) clear();
      for (const row of message.rows || []) take(row);
      while (list.childElementCount > LINES_MAX) dropOldest();
      reviewAll();
    },
    /* Switches between the calm list and all events. */
    everything() {
      everything = !everything;
      changes += 1;
      localStorage.setItem("everything", everything ? "on" : "");
      document.getElementById("everything").setAttribute("aria-pressed", String(everything));
      reviewAll();
    },
    /* Looks again which lines are to be seen: what is followed or searched has changed. */
    review: reviewAll,
    /* Events of the lines that are seen, each row of a line; withdrawn ones with `fade`. */
    seen,
    /* Another value once something has changed in what is seen, or has faded a little more. */
    look: () => changes + " " + (isFading ? Math.floor(nowUs / FADE_US) : 0),
    /* The families that the list shows. */
    families: (shown) => (families = new Set(shown)),
    /* Which states are shown. */
    states(shown) {
      states = new Set(shown);
      changes += 1;
      for (const state of ["tentative", "confirmed", "withdrawn"]) {
        list.classList.toggle("hide-" + state, !shown.includes(state));
      }
    },
  };

  T.link.handlers.push(T.list.take);
})();
