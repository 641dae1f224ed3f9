/* The time machine: what the system believed at an arrival time, and what has changed since. */
import { clock } from "/pages/shared/shell.js";

const AFTER_MS = 120; // a slider that moves asks once it rests

/* Events as believed at an arrival time, each with what became of it since (`change`), and those that had happened and
   were not known yet. Both lists are answers of the timeline, by event id. */
export function compared(believed, final, arrivalUs) {
  const now = new Map(final.map((event) => [event.id, event]));
  const then = new Set(believed.map((event) => event.id));
  const rows = believed.map((event) => {
    const later = now.get(event.id);
    const isWithdrawn = event.state !== "withdrawn" && later && later.state === "withdrawn";
    const isBack = event.state === "withdrawn" && later && later.state !== "withdrawn";
    const isAmended = later && later.revision > event.revision;
    return { ...event, change: isWithdrawn ? "withdrawn since" : isBack ? "returned since" : isAmended ? "amended since" : "" };
  });
  const unknown = final
    .filter((event) => !then.has(event.id) && event.ts_us <= arrivalUs && event.state !== "withdrawn")
    .map((event) => ({ ...event, state: "tentative", change: "not known yet" }));
  return [...rows, ...unknown].sort((a, b) => a.ts_us - b.ts_us);
}

/* In words how many events changed since. */
export function summary(events) {
  const counts = new Map();
  for (const event of events) if (event.change) counts.set(event.change, (counts.get(event.change) || 0) + 1);
  const changes = [...counts].map(([change, count]) => count.toLocaleString("en") + " " + change);
  return changes.length ? changes.join(", ") : "nothing changed since";
}

/* The controls: a slider of arrival time, which may follow the moment that is shown. */
export class Machine {
  constructor(view, player, timeline, nowUs, read) {
    this.view = view;
    this.player = player;
    this.timeline = timeline;
    this.read = read;
    this.slider = view.querySelector("input[type=range]");
    this.output = view.querySelector("output");
    [this.follow, this.only] = view.querySelectorAll("button");
    this.isFollowing = false;
    this.only.addEventListener("click", () => this.showOnly(!timeline.filter.changed));
    this.slider.min = player.beginUs / 1e6;
    this.reach(nowUs);
    this.slider.addEventListener("input", () => {
      this.setFollowing(false);
      this.go(1e6 * Number(this.slider.value));
    });
    this.follow.addEventListener("click", () => this.setFollowing(!this.isFollowing));
  }

  /* Sets the newest arrival time. */
  reach(nowUs) {
    this.slider.max = Math.max(nowUs, this.player.endUs) / 1e6;
  }

  get isOn() {
    return this.timeline.arrivalUs !== null;
  }

  /* Goes to an arrival time; null returns to the end. */
  go(us) {
    this.timeline.arrivalUs = us;
    this.view.hidden = us === null;
    if (us !== null) this.slider.value = us / 1e6;
    this.write();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(this.read, AFTER_MS);
  }

  /* Shows only events that changed since, or all. */
  showOnly(on) {
    this.timeline.filter.changed = on;
    this.only.setAttribute("aria-pressed", on);
    this.timeline.apply();
  }

  toggle() {
    this.setFollowing(false);
    this.showOnly(false);
    this.go(this.isOn ? null : this.player.us);
  }

  setFollowing(on) {
    this.isFollowing = on;
    this.follow.setAttribute("aria-pressed", on);
    this.step();
  }

  /* Called with every frame: follows the moment. */
  step() {
    if (!this.isOn) return;
    if (this.isFollowing && Math.abs(this.player.us - this.timeline.arrivalUs) > 250e3) {
      this.timeline.arrivalUs = this.player.us;
      this.slider.value = this.player.us / 1e6;
      if (!this.isReading) {
        this.isReading = true;
        this.read().finally(() => (this.isReading = false));
      }
    }
    this.write();
  }

  write() {
    if (!this.isOn) return;
    const lagS = (this.timeline.arrivalUs - this.player.us) / 1e6;
    const text = clock(this.timeline.arrivalUs, 1) + ", " + Math.abs(lagS).toFixed(1) + " s " + (lagS < 0 ? "before" : "after") + " this moment";
    if (this.output.textContent !== text) this.output.textContent = text;
  }
}
