/* The events of the match: filters, the list, the track under the pitch, and the jump from event to event. */
import { api, clock, element, of, token } from "/pages/shared/shell.js";
import { Lanes } from "/pages/shared/lanes.js";
import { compared } from "./machine.js";

const ROW = 2.05; // height of a row of the list, in em
const MORE = 12; // rows beyond the visible ones
const DENSE_US = 30e6; // a dense family is shown this long before and after the playhead
const ATTEMPT = "pass.attempt";
const OUTCOMES = ["pass.complete", "pass.intercepted", "pass.out"]; // as in dashboard/marks.py
const DENSE = ["ball", "space", "players", "areas"];

export const STATES = ["tentative", "confirmed", "withdrawn"];

/* True if an event meets the filter. */
export function meets(event, filter) {
  return (
    filter.states.has(event.state) &&
    (!filter.changed || event.change) &&
    event.level >= filter.level &&
    (!filter.team || event.team === filter.team) &&
    (!filter.player || event.player === filter.player || event.other === filter.player) &&
    (!filter.text || event.search.includes(filter.text))
  );
}

export class Timeline {
  constructor(match, families, names) {
    this.match = match;
    this.families = families;
    this.names = names;
    this.filter = {
      families: new Set(families.filter(([, , shown]) => shown).map(([name]) => name)),
      states: new Set(STATES), changed: false, level: 0, team: "", player: "", text: "",
    };
    this.arrivalUs = null;
    this.marks = [];
    this.directions = [];
    this.events = []; // of the chosen families, by event time
    this.shown = []; // those that meet the filter
    this.goals = [];
    this.periods = []; // event times of their begins
    this.denseUs = null;
    this.end = null; // answers of the end
    this.asked = 0;
    this.listeners = [];
  }

  changed(listener) {
    this.listeners.push(listener);
  }

  /* Reads the events of the chosen families, dense ones around a time only. */
  async read(us) {
    const asked = (this.asked += 1);
    const chosen = [...this.filter.families];
    const sparse = chosen.filter((name) => !DENSE.includes(name));
    const dense = chosen.filter((name) => DENSE.includes(name));
    const always = [...new Set([...sparse, "passes", "shots", "restarts"])];
    const then = this.arrivalUs;
    const [first, second] = await this.answers(always, dense, us, then);
    if (then !== null) {
      const [last, lastDense] = await this.answers(always, dense, us, null);
      first.events = compared(first.events, last.events, then);
      second.events = compared(second.events, lastDense.events, then);
    }
    if (asked !== this.asked) return;
    this.denseUs = dense.length ? us : null;
    this.marks = first.marks;
    this.directions = first.directions;
    this.goals = first.events.filter((event) => /^goal\.(scored|own|disallowed)$/.test(event.kind) && event.change !== "not known yet");
    this.periods = first.events.filter((event) => event.kind === "period.start" && event.state !== "withdrawn").map((event) => event.ts_us);
    this.events = [...first.events.filter((event) => this.filter.families.has(event.family)), ...second.events];
    if (dense.length) this.events.sort((a, b) => a.ts_us - b.ts_us);
    for (const event of this.events) {
      event.search = [event.title, event.kind, event.variety, this.names.player(event.player), this.names.player(event.other)].join(" ").toLowerCase();
    }
    this.apply();
  }

  /* Answers of the server for both kinds of families, as believed at an arrival time; those of the end are remembered. */
  async answers(always, dense, us, arrivalUs) {
    const arrival = arrivalUs === null ? "" : "&arrival_us=" + Math.round(arrivalUs);
    const around = "&begin_us=" + Math.round(us - DENSE_US) + "&end_us=" + Math.round(us + DENSE_US);
    const path = (families, more) => of(this.match, "/replay/timeline?families=" + families.join() + arrival + more);
    const nothing = { events: [] };
    const paths = [path(always, ""), dense.length ? path(dense, around) : ""];
    if (arrivalUs === null && this.end && this.end.key === paths.join()) return this.end.answers;
    const answers = await Promise.all(paths.map((one) => (one ? api(one) : nothing)));
    if (arrivalUs === null) this.end = { key: paths.join(), answers };
    return answers;
  }

  /* Forgets the answers of the end: the store has grown. */
  grown() {
    this.end = null;
  }

  /* True if the dense events that are here lie too far from a time. */
  isFar(us) {
    return this.denseUs !== null && Math.abs(us - this.denseUs) > DENSE_US / 2;
  }

  /* A pass and its outcome are one line; a search finds both. */
  apply() {
    const anchor = (event) => event.id.slice(event.id.indexOf("#"));
    const found = this.events.filter((event) => meets(event, this.filter));
    const ended = new Set(found.filter((event) => OUTCOMES.includes(event.kind) && event.state !== "withdrawn" && !event.change).map(anchor));
    this.shown = found.filter((event) => event.kind !== ATTEMPT || event.change || this.filter.text || !ended.has(anchor(event)));
    for (const listener of this.listeners) listener();
  }

  /* The next (1) or the one before (-1) of the shown events. */
  neighbour(us, way, chosen) {
    const at = chosen ? this.shown.findIndex((event) => event.id === chosen.id) : -1;
    if (at >= 0 && Math.abs(this.shown[at].ts_us - us) < 1) return this.shown[at + way] || null;
    if (way > 0) return this.shown.find((event) => event.ts_us > us + 1) || null;
    return this.shown.findLast((event) => event.ts_us < us - 1) || null;
  }

  /* Goals that stood at an event time, by team. */
  score(us) {
    const annulled = this.goals.filter((event) => event.kind === "goal.disallowed" && event.state !== "withdrawn" && event.ts_us <= us).length;
    const count = (side) => this.goals.filter((event) => event.kind !== "goal.disallowed" && event.team === side && event.state !== "withdrawn" && event.ts_us <= us).length;
    return { home: count("home"), away: count("away"), annulled };
  }

  /* The team that attacks towards +x at a time. */
  attacker(us) {
    const known = this.directions.findLast((one) => one.from_us <= us) || this.directions[0];
    return known ? known.team : "";
  }
}

/* The list: only rows that are visible exist. */
export class List {
  constructor(view, timeline, choose) {
    this.view = view;
    this.timeline = timeline;
    this.choose = choose;
    this.rows = element("div", { class: "rows" });
    view.replaceChildren(this.rows);
    view.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(view);
    this.chosen = null;
    this.now = -1;
  }

  height() {
    return ROW * parseFloat(getComputedStyle(this.view).fontSize);
  }

  draw() {
    const events = this.timeline.shown;
    const height = this.height();
    const first = Math.max(0, Math.floor(this.view.scrollTop / height) - MORE);
    const last = Math.min(events.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / height) + MORE);
    this.rows.style.height = events.length * height + "px";
    this.rows.replaceChildren(...events.slice(first, last).map((event, i) => this.row(event, (first + i) * height)));
    this.view.classList.toggle("none", !events.length);
  }

  row(event, top) {
    const names = this.timeline.names;
    const said = (one) => one.title + (one.variety ? " " + one.variety : "") + ", " + (names.brief([one.player, one.other].filter((id) => id)) || "nobody") + " at " + clock(one.ts_us, 1);
    const people = names.brief([event.player, event.other].filter((id) => id)) || names.team(event.team);
    const looks = ["event", event.state, event.team || "neither", event.id === this.chosen ? "chosen" : "", event.change ? "changed" : "", event.revision ? "amended" : ""];
    const state = event.change || event.state + (event.revision ? " ↺" : "");
    const row = element(
      "button", { class: looks.join(" "), dataset: { id: event.id }, title: event.state + " · " + event.kind + (event.variant ? " (" + event.variant + ")" : "") + " · level " + event.level + (event.revision ? " · amended " + event.revision + "×, was " + event.older.map(said).join("; ") : ""), onclick: () => this.choose(event) },
      element("span", { class: "dot" }), element("span", { class: "time" }, clock(event.ts_us, 1)),
      element("span", { class: "what" }, event.title, event.variety ? element("small", {}, " " + event.variety) : ""),
      element("span", { class: "who" }, people), element("span", { class: "state" }, element("span", { class: event.change ? "" : "word" }, state))
    );
    row.style.top = top + "px";
    return row;
  }

  /* Marks the chosen event, and brings it into the view if it is not there. */
  mark(event) {
    this.chosen = event ? event.id : null;
    if (event) this.reveal(this.timeline.shown.findIndex((one) => one.id === event.id));
    this.draw();
  }

  /* Brings the last event before a time into the view, while none is chosen. */
  follow(us) {
    if (this.chosen) return;
    this.reveal(this.timeline.shown.findLastIndex((event) => event.ts_us <= us));
  }

  reveal(index) {
    if (index < 0) return;
    const height = this.height();
    const top = index * height;
    if (top < this.view.scrollTop || top + height > this.view.scrollTop + this.view.clientHeight) {
      this.view.scrollTop = Math.max(0, top - this.view.clientHeight / 3);
    }
  }
}

/* The track: the whole match above, half a minute around the playhead in lanes by level below. */
export class Track {
  constructor(canvas, timeline, player, choose) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.lanes = new Lanes(this.pen);
    this.timeline = timeline;
    this.player = player;
    this.notes = [];
    this.chosen = null;
    let held = false;
    const whole = (event) => player.beginUs + (event.offsetX / canvas.clientWidth) * (player.endUs - player.beginUs);
    canvas.addEventListener("pointerdown", (event) => {
      held = event.offsetY <= this.split;
      if (held) {
        canvas.setPointerCapture(event.pointerId);
        player.seek(whole(event));
        return;
      }
      const found = this.lanes.under(event.offsetX, event.offsetY);
      if (found) choose(found);
      else player.seek(this.lanes.time(event.offsetX));
    });
    canvas.addEventListener("pointermove", (event) => held && player.seek(whole(event)));
    canvas.addEventListener("pointerup", () => (held = false));
    timeline.changed(() => this.lanes.reset(timeline.shown));
    this.nearUs = 20e6;
    this.split = 0;
  }

  draw() {
    const { canvas, pen, player, timeline } = this;
    const box = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    const size = parseFloat(getComputedStyle(canvas).fontSize);
    this.split = 2.2 * size;
    const colour = Object.fromEntries(["text", "soft", "edge", "raised", "panel", "home", "away", "withdrawn", "camera"].map((name) => [name, token(name)]));
    const whole = (us) => ((us - player.beginUs) / (player.endUs - player.beginUs)) * box.width;
    pen.fillStyle = colour.raised;
    pen.fillRect(0, 0, box.width, this.split - 4);
    const { from, to, on } = player.loop;
    if (from !== null && to !== null) {
      pen.globalAlpha = on ? 0.5 : 0.25;
      pen.fillStyle = colour.camera;
      pen.fillRect(whole(from), 0, Math.max(2, whole(to) - whole(from)), this.split - 4);
      pen.globalAlpha = 1;
    }
    for (const event of timeline.shown) {
      pen.fillStyle = event.state === "withdrawn" ? colour.withdrawn : colour[event.team] || colour.soft;
      const isBig = event.family === "shots";
      pen.globalAlpha = isBig ? 1 : 0.45;
      pen.fillRect(whole(event.ts_us), isBig ? 0 : this.split * 0.45, isBig ? 2 : 1, isBig ? this.split - 4 : this.split * 0.35);
    }
    pen.globalAlpha = 1;
    for (const note of this.notes) {
      pen.fillStyle = colour.camera;
      pen.fillRect(whole(note.begin_us) - 1, 0, 3, this.split * 0.4);
    }
    pen.fillStyle = colour.text;
    pen.fillRect(whole(player.us) - 1, 0, 2, this.split);
    const [fromUs, toUs] = [player.us - this.nearUs, player.us + this.nearUs];
    const events = timeline.shown.filter((event) => event.ts_us > fromUs - 1e6 && event.ts_us < toUs + 1e6);
    const near = { x: 0, y: this.split, width: box.width, height: box.height - this.split };
    this.lanes.draw(near, { events, fromUs, toUs, nowUs: player.us, size, colour, chosen: this.chosen });
  }
}
