/* The explanation of an event: what is known of it at once, then why it was reported, which takes the server a while. */
import { Refused, api, clock, element, of } from "/pages/shared/shell.js";

const BUSY_MS = 1500;
const STAY_MS = 700; // who leafs through the events asks for no explanation
const STORED_MS = 4000; // between two questions about an event that is not stored yet
const PLAYING = "Playing the match once more around this event";
const NOT_STORED = "Not stored yet; a window is stored each half minute";

export class Reason {
  /* `buttons` stand in its head; `isNew` says of an event that the store may not know it yet. */
  constructor(view, match, names, buttons, isNew = () => false) {
    this.view = view;
    this.match = match;
    this.names = names;
    this.buttons = buttons;
    this.isNew = isNew;
    this.known = new Map(); // event id -> lines
    this.event = null;
  }

  show(event) {
    this.view.hidden = !event;
    this.event = event;
    clearTimeout(this.staying);
    if (!event) return;
    const facts = [
      ["Time", clock(event.ts_us, 3)],
      ["Who", [event.player, event.other].filter((id) => id).map(this.names.player).join(" → ") || this.names.team(event.team) || "–"],
      ["State", event.state + (event.revision ? ", amended " + event.revision + " times" : "") + ", confidence " + event.confidence.toFixed(2)],
      ["Known", "since arrival time " + clock(event.emitted_us, 3) + ", " + Math.round((event.emitted_us - event.ts_us) / 1000) + " ms after it happened"],
    ];
    this.text = element("pre", {}, "");
    this.view.replaceChildren(
      element("header", {}, element("h2", {}, event.title + (event.variety ? ", " + event.variety : "")), ...this.buttons),
      element("dl", {}, ...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
      this.text
    );
    if (this.known.has(event.id)) this.write(event, this.known.get(event.id).join("\n"));
    else this.staying = setTimeout(() => this.explain(event), STAY_MS);
  }

  write(event, text) {
    if (this.event === event) this.text.textContent = text;
  }

  /* Asks until the server has time; stops when another event is chosen. */
  async explain(event) {
    const began = performance.now();
    let what = PLAYING;
    const waiting = setInterval(() => this.write(event, what + ": " + Math.round((performance.now() - began) / 1000) + " s"), 1000);
    try {
      while (this.event === event) {
        what = PLAYING;
        try {
          const found = await api(of(this.match, "/explanation?event=" + encodeURIComponent(event.id)));
          this.known.set(event.id, found.lines);
          break;
        } catch (error) {
          if (!(error instanceof Refused) || (error.status !== 503 && !this.isNew(event))) throw error;
          if (error.status !== 503) what = NOT_STORED;
          await new Promise((resume) => setTimeout(resume, error.status === 503 ? BUSY_MS : STORED_MS));
        }
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      clearInterval(waiting);
      this.write(event, error.message);
      return;
    }
    clearInterval(waiting);
    if (this.known.has(event.id)) this.write(event, this.known.get(event.id).join("\n"));
  }
}
