/* The replay room: puts pitch, player, timeline and explanation together, and keeps the address. */
import { Refused, api, clock, element, follow, keys, load, of, open, query, state } from "/pages/shared/shell.js";
import { Beside } from "./beside.js";
import { Compared } from "./compared.js";
import { Machine, summary } from "./machine.js";
import { Notes, csv, save } from "./notes.js";
import { LAYERS, Pitch } from "./pitch.js";
import { Player, SPEEDS } from "./player.js";
import { Positions } from "/pages/shared/positions.js";
import { Reason } from "/pages/shared/reason.js";
import { Review } from "./review.js";
import { List, STATES, Timeline, Track } from "./timeline.js";
import { Video } from "./video.js";
import { WhatIf } from "./what_if.js";

const byId = (id) => document.getElementById(id);
const STEP_US = 5e6;
const LAYERS_KEY = "replay layers";
const ADDRESS_MS = 400;
const GROWN_MS = 4000; // a window is committed every half minute

/* Names of teams and players by their ids. */
function namesOf(sheet) {
  const players = new Map(sheet.players.map((player) => [player.object_id, player]));
  const shirt = (id) => (players.get(id) && players.get(id).shirt !== null ? players.get(id).shirt + " " : "");
  return {
    team: (side) => ({ home: sheet.home, away: sheet.away })[side] || "",
    player: (id) => (id ? (shirt(id) + ((players.get(id) || {}).name || id)).trim() : ""),
    /* Last names for narrow lines; one name has its shirt number, two have none, as in the live page. */
    brief: (ids) => ids.map((id) => (ids.length > 1 ? "" : shirt(id)) + ((players.get(id) || {}).name || id).split(" ").pop()).join(" → "),
    players: sheet.players,
  };
}

/* A time of the address: seconds, or minutes and seconds with colons. */
export function timeOf(text) {
  const parts = text.split(":").map(Number);
  if (!text || parts.some((part) => !Number.isFinite(part))) return null;
  return parts.reduce((sum, part) => 60 * sum + part, 0) * 1e6;
}

function seekTo(player, us) {
  player.play(false);
  player.seek(us);
}

class Replay {
  constructor(match, sheet, span, matches) {
    Object.assign(this, { match, sheet, namesOf });
    this.names = namesOf(sheet);
    this.player = new Player(span.begin_us, span.end_us);
    this.player.grows = !span.ended;
    this.windows = span.windows;
    this.positions = new Positions(match, span.chunk_us);
    this.pitch = new Pitch(byId("pitch"), sheet, span.lines);
    this.timeline = new Timeline(match, span.families, this.names);
    this.list = new List(byId("list"), this.timeline, (event) => this.choose(event));
    this.track = new Track(byId("track"), this.timeline, this.player, (event) => this.choose(event));
    this.machine = new Machine(byId("machine"), this.player, this.timeline, span.now_us, () => this.read());
    this.notes = new Notes(byId("notes"), match, this.player, (clips) => {
      this.track.notes = clips;
      this.isDirty = true;
    });
    this.reason = new Reason(byId("reason"), match, this.names, [
      element("button", { onclick: () => this.openReview(), title: "Margin and probability of a close call (R)" }, "Review"),
      element("button", { onclick: () => this.choose(null), title: "Close (Esc)" }, "Close"),
    ]);
    this.review = new Review(byId("review"), match, this.names, (found) => this.reviewed(found));
    this.compared = new Compared(byId("compared"), match, this.names, (one) => this.goTo(one));
    this.video = new Video(byId("video"), match, this.player);
    this.beside = new Beside(byId("beside"), this, matches);
    const seek = (us) => seekTo(this.player, us);
    this.whatIf = new WhatIf(byId("what-if"), match, this.names, this.player, () => this.timeline.filter.families, seek);
    this.chosen = null;
    this.bodies = null;
    this.shownAt = "";
    this.stats = { frames: 0, seekMs: null, soughtAt: null };
    this.player.changed(() => this.sought());
    this.timeline.changed(() => this.counted());
    this.isDirty = true; // something to draw has changed; while the match plays, everything has
    const redraw = () => (this.isDirty = true);
    addEventListener("themechange", () => this.pitch.readTheme());
    for (const name of ["themechange", "resize", "click", "keyup"]) addEventListener(name, redraw);
    new ResizeObserver(redraw).observe(byId("view"));
  }

  begin() {
    this.controls();
    this.tabs();
    this.notes.read();
    this.filters();
    this.keys();
    const asked = timeOf(query().get("t") || "");
    const wanted = query().get("event"); // the address is written anew before slow events are there
    this.player.seek(asked === null ? this.player.beginUs : asked);
    const known = timeOf(query().get("known") || "");
    if (known !== null) this.machine.go(known);
    requestAnimationFrame((ms) => this.frame(ms));
    return this.read().then(() => {
      const event = this.timeline.events.find((one) => one.id === wanted);
      if (event) this.choose(event, asked === null);
      else this.list.follow(this.player.us);
    });
  }

  /* Takes in what was committed since; true if nothing more will be. */
  async grow() {
    const span = await api(of(this.match, "/replay"));
    if (span.windows !== this.windows) {
      this.windows = span.windows;
      this.positions.grown(this.player.endUs);
      this.player.endUs = span.end_us;
      this.timeline.grown();
      this.isDirty = true;
      await this.read();
    }
    this.machine.reach(span.now_us);
    this.player.grows = !span.ended;
    return span.ended;
  }

  async read() {
    try {
      await this.timeline.read(this.player.us);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      byId("count").textContent = "The events cannot be read: " + error.message;
    }
  }

  /* After a seek: positions of this moment and of the next ones. */
  sought() {
    this.stats.soughtAt = performance.now();
    this.isDirty = true;
    const us = this.player.us;
    this.positions.fetch(this.positions.number(us)).then(() => this.positions.ahead(us, 1), () => {});
    byId("play").textContent = this.player.isPlaying ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", this.player.isPlaying);
    byId("speed").value = this.player.speed;
    byId("loop").setAttribute("aria-pressed", this.player.loop.on);
    this.list.follow(us);
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => this.remember(), ADDRESS_MS);
  }

  /* Keeps the moment in the address, without a new entry in the history of the browser. */
  remember() {
    const values = new URLSearchParams({ match: this.match, t: (this.player.us / 1e6).toFixed(2) });
    if (this.chosen) values.set("event", this.chosen.id);
    if (this.machine.isOn) values.set("known", (this.timeline.arrivalUs / 1e6).toFixed(2));
    history.replaceState(null, "", "?" + values);
  }

  frame(ms) {
    const player = this.player;
    const isReady = this.positions.ready(this.positions.number(player.us)) !== null;
    player.step(ms, isReady);
    if (player.isPlaying) this.positions.ahead(player.us, Math.max(1, Math.ceil(player.speed / 3)));
    const bodies = this.positions.at(player.us);
    if (bodies) {
      this.bodies = bodies;
      if (this.stats.soughtAt !== null) this.stats.seekMs = performance.now() - this.stats.soughtAt;
      this.stats.soughtAt = null;
    }
    this.say(bodies);
    this.notes.step();
    this.video.step();
    this.stats.frames += 1;
    requestAnimationFrame((next) => this.frame(next));
    this.beside.draw(this.isDirty);
    if (!this.isDirty && !player.isPlaying) return;
    this.isDirty = !bodies;
    this.pitch.draw(player.us, this.bodies, this.positions, this.timeline.marks, this.timeline.attacker(player.us), this.chosen);
    this.track.draw();
    this.head();
    this.machine.step();
    byId("known").setAttribute("aria-pressed", this.machine.isOn);
    if (this.timeline.isFar(player.us) && !this.isReading) {
      this.isReading = true;
      this.read().finally(() => (this.isReading = false));
    }
  }

  /* Says what is missing from the picture, once it has been missing for a moment. */
  say(bodies) {
    let text = "";
    if (!bodies && this.positions.failed) {
      text = this.positions.failed.message + " Trying again.";
      if (performance.now() - (this.triedAt || 0) > 1000) {
        this.triedAt = performance.now();
        this.positions.ahead(this.player.us, 0);
      }
    } else if (!bodies && this.stats.soughtAt !== null && performance.now() - this.stats.soughtAt > 250) text = "Reading positions";
    else if (this.player.grows && this.player.us >= this.player.endUs) text = "As far as the match is stored. More follows.";
    else if (bodies && !bodies.length) text = "No positions at this time";
    byId("banner").hidden = !text;
    if (byId("banner").textContent !== text) byId("banner").textContent = text;
  }

  head() {
    const text = clock(this.player.us, 2);
    if (text === this.shownAt) return;
    this.shownAt = text;
    byId("clock").textContent = text;
    const score = this.timeline.score(this.player.us);
    byId("score").textContent = score.home + " – " + score.away;
  }

  counted() {
    const { shown, events } = this.timeline;
    const then = this.machine.isOn ? " · " + summary(shown) : "";
    byId("count").textContent = shown.length.toLocaleString("en") + " of " + events.length.toLocaleString("en") + " events" + then;
    this.shownAt = "";
    this.isDirty = true;
    this.list.draw();
  }

  /* Chooses an event: the pitch jumps there, and its explanation opens. */
  choose(event, jump = true) {
    this.chosen = event;
    this.list.mark(event);
    this.track.chosen = event && event.id;
    this.isDirty = true;
    if (event && jump) {
      this.player.play(false);
      this.player.seek(event.ts_us);
    }
    this.reason.show(event);
    if (this.review.isOpen) event ? this.review.open(event) : this.review.close();
    this.remember();
  }

  openReview() {
    this.whatIf.close();
    this.beside.close();
    if (this.chosen) this.review.open(this.chosen);
  }

  toggleVideo() {
    if (this.video.isOpen) this.video.close();
    else this.video.open();
    this.beside.close();
    this.isDirty = true;
  }

  /* A second match takes the half of the pitch, so what else stands beside it closes. */
  toggleBeside() {
    if (this.beside.isOpen) this.beside.close();
    else {
      for (const panel of [this.review, this.whatIf, this.video]) panel.close();
      this.beside.open();
    }
    this.isDirty = true;
  }

  openWhatIf() {
    this.review.close();
    this.beside.close();
    this.whatIf.open();
    this.isDirty = true;
  }

  /* Goes to the instant of a review, and draws its line on the pitch. */
  reviewed(found) {
    this.pitch.review = found;
    this.isDirty = true;
    if (found) this.player.seek(found.call.instant_us);
  }

  /* Goes to a disagreement; of an event that the list has, the explanation opens, too. */
  goTo(one) {
    const event = this.timeline.events.find((known) => known.id === one.ours);
    if (event) this.choose(event);
    else seekTo(this.player, one.event_us);
  }

  toEvent(way) {
    const event = this.timeline.neighbour(this.player.us, way, this.chosen);
    if (event) this.choose(event);
  }

  /* Steps come one after the other, each once the positions of its moment are here. */
  toFrame(way) {
    this.player.play(false);
    this.stepping = (this.stepping || Promise.resolve()).then(async () => {
      await this.positions.fetch(this.positions.number(this.player.us)).catch(() => {});
      const at = this.positions.neighbour(this.player.us, way);
      if (at !== null) this.player.seek(at);
    });
  }

  tabs() {
    for (const name of ["events", "notes", "compared"]) byId("tab-" + name).addEventListener("click", () => this.showTab(name));
    byId("csv").addEventListener("click", () => save(this.match + ".csv", csv(this.timeline.shown), "text/csv"));
  }

  showTab(name) {
    for (const one of ["events", "notes", "compared"]) {
      byId(one).hidden = one !== name;
      byId("tab-" + one).setAttribute("aria-selected", one === name);
    }
    if (name === "compared") this.compared.read();
    else if (name === "notes") byId("note-text").focus();
    else this.list.draw();
  }

  toggleMachine() {
    this.machine.toggle();
    this.isDirty = true;
    this.remember();
  }

  async share() {
    this.remember();
    try {
      await navigator.clipboard.writeText(location.href);
      byId("share").textContent = "Copied";
    } catch {
      byId("share").textContent = "In the address bar";
    }
    setTimeout(() => (byId("share").textContent = "Copy link"), 1500);
  }

  toggleLayer(name) {
    this.pitch.layers[name] = !this.pitch.layers[name];
    localStorage.setItem(LAYERS_KEY, JSON.stringify(this.pitch.layers));
    for (const button of byId("layers").children) button.setAttribute("aria-pressed", this.pitch.layers[button.dataset.layer]);
  }

  controls() {
    const player = this.player;
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("play", () => player.play(!player.isPlaying));
    on("back", () => this.toFrame(-1));
    on("forth", () => this.toFrame(1));
    on("before", () => this.toEvent(-1));
    on("after", () => this.toEvent(1));
    on("in", () => player.setLoop({ from: player.us }));
    on("out", () => player.setLoop({ to: player.us, on: player.loop.from !== null }));
    on("loop", () => player.setLoop({ on: !player.loop.on }));
    on("known", () => this.toggleMachine());
    on("film", () => this.toggleVideo());
    on("second", () => this.toggleBeside());
    on("whatif", () => this.openWhatIf());
    on("share", () => this.share());
    byId("speed").append(...SPEEDS.map((speed) => element("option", { value: speed, selected: speed === 1 }, speed + "×")));
    byId("speed").addEventListener("change", (event) => {
      player.speed = Number(event.target.value);
      player.notify();
      event.target.blur();
    });
    Object.assign(this.pitch.layers, JSON.parse(localStorage.getItem(LAYERS_KEY) || "{}"));
    byId("layers").append(
      ...LAYERS.map(([name, label, key]) =>
        element("button", { dataset: { layer: name }, title: label + " (" + key + ")", "aria-pressed": this.pitch.layers[name], onclick: () => this.toggleLayer(name) }, label)
      )
    );
    byId("pitch").addEventListener("mousemove", (event) => this.point(event));
    byId("pitch").addEventListener("mouseleave", () => (byId("tip").hidden = true));
  }

  point(event) {
    const body = this.pitch.under(event.offsetX, event.offsetY, this.bodies);
    const tip = byId("tip");
    tip.hidden = !body;
    if (!body) return;
    tip.textContent = body.id === "ball" ? "Ball" : this.names.player(body.id) + " · " + (this.names.team(body.team) || "no team");
    tip.style.left = Math.min(event.offsetX + 14, this.pitch.width - tip.offsetWidth - 4) + "px";
    tip.style.top = Math.max(0, event.offsetY - 30) + "px";
  }

  filters() {
    const { filter } = this.timeline;
    const option = (value, text) => element("option", { value }, text);
    byId("team").append(option("", "Both teams"), option("home", this.names.team("home")), option("away", this.names.team("away")));
    byId("player").append(option("", "All players"), ...this.names.players.map((one) => option(one.object_id, this.names.player(one.object_id))));
    byId("level").append(...[0, 5, 6, 7, 8, 9, 10, 11].map((level) => option(level, level ? "Level " + level + " and up" : "All levels")));
    const read = (id, name, value = (text) => text) =>
      byId(id).addEventListener("input", (event) => {
        filter[name] = value(event.target.value);
        this.timeline.apply();
        byId("list").scrollTop = 0;
      });
    read("search", "text", (text) => text.trim().toLowerCase());
    read("team", "team");
    read("player", "player");
    read("level", "level", Number);
    this.chips("states", STATES.map((name) => [name, name]), filter.states, () => this.timeline.apply());
    this.chips("families", this.timeline.families, filter.families, () => this.read());
    byId("search").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
  }

  /* Buttons that put names into a set and take them out. */
  chips(id, rows, chosen, changed) {
    const toggle = (event, name) => {
      if (!chosen.delete(name)) chosen.add(name);
      event.currentTarget.setAttribute("aria-pressed", chosen.has(name));
      changed();
    };
    byId(id).append(...rows.map(([name, label]) => element("button", { "aria-pressed": chosen.has(name), onclick: (event) => toggle(event, name) }, label)));
  }

  keys() {
    const player = this.player;
    const is = (key, act) => (event) => event.key === key && (act(event), true);
    const letter = (key, act) => (event) => event.key.toLowerCase() === key && (act(event), true);
    const move = (us) => player.seek(player.us + us);
    keys(
      ["Space", "play or pause", is(" ", () => player.play(!player.isPlaying))],
      ["← →", "5 seconds back or forward; with Shift one second", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return false;
        move((event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 1e6 : STEP_US));
        return true;
      }],
      [", .", "one frame back or forward", (event) => (event.key === "," || event.key === ".") && (this.toFrame(event.key === "," ? -1 : 1), true)],
      ["N P", "next event, event before (of those shown)", (event) => /^[np]$/i.test(event.key) && (this.toEvent(event.key.toLowerCase() === "n" ? 1 : -1), true)],
      ["[ ]", "slower, faster", (event) => (event.key === "[" || event.key === "]") && (player.faster(event.key === "[" ? -1 : 1), true)],
      ["Home End", "begin, end", (event) => (event.key === "Home" || event.key === "End") && (player.seek(event.key === "Home" ? player.beginUs : player.endUs), true)],
      ["I O", "loop from here, to here", (event) => /^[io]$/i.test(event.key) && (byId(event.key.toLowerCase() === "i" ? "in" : "out").click(), true)],
      ["L", "loop on or off", letter("l", () => player.setLoop({ on: !player.loop.on }))],
      ["/", "search", is("/", () => byId("search").focus())],
      ["Esc", "back to the events, without explanation", is("Escape", () => (this.showTab("events"), this.whatIf.close(), this.choose(null)))],
      ["M", "note on this moment, or on the loop", letter("m", () => this.showTab("notes"))],
      ["K", "time machine: what was known at an arrival time", letter("k", () => this.toggleMachine())],
      ["R", "review of a close call", letter("r", () => this.openReview())],
      ["X", "a video beside the pitch", letter("x", () => this.toggleVideo())],
      ["C", "a second match beside, in step", letter("c", () => this.toggleBeside())],
      ["W", "what if: play a stretch with a change", letter("w", () => this.openWhatIf())],
      ["Y", "copy the address of this moment", letter("y", () => this.share())],
      ...LAYERS.map(([name, label, key]) => [key, "layer: " + label.toLowerCase(), letter(key.toLowerCase(), () => this.toggleLayer(name))])
    );
  }
}

function title(sheet) {
  byId("title").replaceChildren(
    element("span", { class: "team home" }, sheet.home), element("span", { id: "score" }, "0 – 0"), element("span", { class: "team away" }, sheet.away)
  );
}

const view = byId("replay");
const isEmpty = (span) => span.begin_us === span.end_us;

open("replay", view, async (match, matches) => {
  const read = () => Promise.all([api(of(match.match)), api(of(match.match, "/replay"))]);
  let [sheet, span] = (await load(view, "Reading the match", read)) || [];
  if (!span) return;
  if (isEmpty(span)) {
    state(view, "empty", span.ended ? "This match has no positions and no events." : "Nothing of this match is stored yet. The first half minute follows when it is over.");
    await follow(GROWN_MS, async () => {
      [sheet, span] = await read();
      return span.ended || !isEmpty(span);
    });
    if (isEmpty(span)) return;
    state(view, "ready");
  }
  title(sheet);
  window.replay = new Replay(match.match, sheet, span, matches);
  await window.replay.begin();
  if (!span.ended) await follow(GROWN_MS, () => window.replay.grow());
});
