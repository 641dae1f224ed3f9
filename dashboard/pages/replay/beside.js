/* A second match beside the first, in step: another match, or another run of the same one, whose events are compared. */
import { api, clock, element, load, of } from "/pages/shared/shell.js";
import { Positions } from "/pages/shared/positions.js";
import { Pitch } from "./pitch.js";
import { Timeline } from "./timeline.js";

const SHOWN_US = 30e6; // events of this long before the moment are listed
const SAME_US = 0.5e6; // two runs may date an event so differently
const NEITHER = { player: () => "", brief: () => "" }; // the search is not used here

/* Event time of the second match at one of the first: as far from the begin of the same period; without one, the same. */
export function inStep(us, first, second) {
  const period = Math.max(0, first.findLastIndex((begin) => begin <= us));
  if (first[period] === undefined || second[period] === undefined) return us;
  return us - first[period] + second[period];
}

/* Events of two runs that differ: [event, true if only the second has it], by event time. */
export function differing(first, second, shiftUs) {
  const same = (a, b, shift) => a.kind === b.kind && a.team === b.team && a.player === b.player && a.state === b.state && Math.abs(a.ts_us + shift - b.ts_us) <= SAME_US;
  const missing = (some, others, shift) => some.filter((one) => !others.some((other) => same(one, other, shift)));
  return [
    ...missing(first, second, shiftUs).map((one) => [one, false]),
    ...missing(second, first, -shiftUs).map((one) => [one, true]),
  ];
}

export class Beside {
  /* `replay` has the first match; `matches` are the rows of the API, of which the first match is one. */
  constructor(view, replay, matches) {
    Object.assign(this, { view, replay });
    this.others = matches.filter((one) => one.match !== replay.match);
    this.at = null; // event time that is drawn
    const shown = (one) => `${one.home} – ${one.away} · ${one.match}`;
    this.chooser = element("select", { "aria-label": "Match beside", onchange: () => this.choose() }, ...this.others.map((one) => element("option", { value: one.match }, shown(one))));
    this.step = element("select", { "aria-label": "In step", onchange: () => this.forget() },
      element("option", { value: "kick-off" }, "from kick-off"), element("option", { value: "time" }, "by event time"));
    this.shift = element("input", { type: "number", step: "0.1", value: "0", "aria-label": "Seconds later", title: "Seconds that the second match is shown later", onchange: () => this.forget() });
    this.head = element("output", { "aria-label": "Event time and score beside" });
    this.canvas = element("canvas", { "aria-label": "Pitch of the match beside" });
    this.rows = element("ul", { "aria-label": "Events beside" });
    this.counted = element("p", { role: "status" });
    view.append(
      element("header", {}, element("h2", {}, "Beside"), this.chooser, element("button", { onclick: () => this.close(), title: "Close (C)" }, "Close")),
      element("div", { class: "tools" }, this.step, this.shift, "s later", this.head), this.canvas, this.counted, this.rows);
  }

  get isOpen() {
    return !this.view.hidden;
  }

  open() {
    this.view.hidden = false;
    if (!this.others.length) this.counted.textContent = "Only one match is open. Open two: touchline open ONE TWO.";
    else if (!this.match) this.choose();
  }

  close() {
    this.view.hidden = true;
  }

  /* Draws again with the next frame. */
  forget() {
    this.at = null;
  }

  async choose() {
    const name = this.chooser.value;
    const read = await load(this.view, "Reading the match", async () => {
      const [sheet, span] = await Promise.all([api(of(name)), api(of(name, "/replay"))]);
      const timeline = new Timeline(name, span.families, NEITHER);
      timeline.filter.families = this.replay.timeline.filter.families;
      await timeline.read(span.begin_us);
      return { sheet, span, timeline };
    });
    if (!read || this.chooser.value !== name) return;
    this.match = name;
    this.timeline = read.timeline;
    this.families = [...read.timeline.filter.families].join();
    this.positions = new Positions(name, read.span.chunk_us);
    this.pitch = new Pitch(this.canvas, read.sheet, read.span.lines);
    this.pitch.layers = this.replay.pitch.layers;
    this.names = this.replay.namesOf(read.sheet);
    this.isRun = read.sheet.home === this.replay.sheet.home && read.sheet.away === this.replay.sheet.away;
    this.forget();
  }

  /* Event time of the second match at one of the first. */
  timeAt(us) {
    const same = this.step.value === "time" ? us : inStep(us, this.replay.timeline.periods, this.timeline.periods);
    return same + 1e6 * (Number(this.shift.value) || 0);
  }

  /* Called with every frame; `again` if the first match is drawn anew though its time is the same. */
  draw(again) {
    if (!this.isOpen || !this.match) return;
    const us = this.timeAt(this.replay.player.us);
    this.positions.ahead(us, Math.max(1, Math.ceil(this.replay.player.speed / 3)));
    if (us === this.at && !again) return;
    const bodies = this.positions.at(us);
    this.at = bodies ? us : null;
    this.pitch.readTheme();
    this.pitch.draw(us, bodies, this.positions, this.timeline.marks, this.timeline.attacker(us), null);
    const score = this.timeline.score(us);
    this.head.textContent = `${clock(us, 2)}  ${score.home} – ${score.away}`;
    this.list(us);
  }

  /* Of two runs what differs in the last half minute; of two matches the events of the second one. */
  list(us) {
    const families = [...this.timeline.filter.families].join();
    if (families !== this.families) {
      this.families = families;
      this.timeline.read(us).then(() => this.forget());
    }
    const newest = (events, end) => events.filter((one) => one.ts_us <= end && one.ts_us > end - SHOWN_US && one.state !== "withdrawn");
    const here = newest(this.timeline.shown, us);
    const { timeline, player } = this.replay;
    const found = this.isRun ? differing(newest(timeline.shown, player.us), here, us - player.us) : here.map((one) => [one, true]);
    const text = this.isRun ? `${found.length} events of the last half minute differ` : "Events of the last half minute";
    if (this.counted.textContent !== text) this.counted.textContent = text;
    const shown = JSON.stringify(found.map(([one, isTheirs]) => [one.id, isTheirs]));
    if (shown === this.listed) return;
    this.listed = shown;
    const when = (one, isTheirs) => one.ts_us + (isTheirs ? player.us - us : 0);
    found.sort((a, b) => when(...b) - when(...a));
    this.rows.replaceChildren(...found.map(([one, isTheirs]) => this.row(one, isTheirs, when(one, isTheirs))));
  }

  row(one, isTheirs, ts_us) {
    const players = [one.player, one.other].filter((id) => id);
    const words = [one.title, one.variety, (isTheirs ? this.names : this.replay.names).brief(players)].filter((part) => part).join(" ");
    const side = !this.isRun ? "" : isTheirs ? "only beside" : "only left";
    const seek = () => {
      this.replay.player.play(false);
      this.replay.player.seek(ts_us);
    };
    return element("li", { class: one.team }, element("button", { onclick: seek }, clock(one.ts_us, 1)), " " + words, element("small", {}, side ? " · " + side : ""));
  }
}
