/* What if: a stretch of the match is played again with a change; the events that differ stand side by side. */
import { Refused, api, clock, element, of } from "/pages/shared/shell.js";

const STRETCH_US = 30e6;
const STRETCH_MAX_US = 120e6;
const BUSY_MS = 1500;
const REST_MS = 400; // a stretch that rests so long is played ahead
const CHANGES = { gone: "gone", new: "new", moved: "moved", altered: "altered" };

/* The change that the fields ask for; fields that are empty change nothing. */
export function changeOf(stretch, fields) {
  const change = { begin_us: Math.round(stretch.from), end_us: Math.round(stretch.to) };
  if (fields.alpha !== "") change.alpha = Number(fields.alpha);
  if (fields.slack !== "") change.slack_ms = Number(fields.slack);
  if (fields.threshold && fields.value !== "") change.thresholds = { [fields.threshold]: Number(fields.value) };
  if (fields.detector) change.detectors = [fields.detector];
  const [x, y] = (fields.metres || "0 0").trim().split(/[ ,;]+/).map(Number);
  if (fields.act === "removed" && fields.object) change.removed = [fields.object];
  if (fields.act === "moved" && fields.object) change.moves = [{ object_id: fields.object, dx_m: x || 0, dy_m: y || 0 }];
  if (fields.act === "late") change.delays = [{ object_id: fields.object, by_ms: Number(fields.late) }];
  return change;
}

export class WhatIf {
  constructor(view, match, names, player, families, go) {
    Object.assign(this, { view, match, names, player, families, go });
    const option = (value, text) => element("option", { value }, text);
    const pick = (label, ...options) => element("select", { "aria-label": label }, ...options);
    const type = (label, width, kind = "number") => element("input", { type: kind, step: "any", "aria-label": label, placeholder: label, size: width });
    const objects = [option("", "All objects"), option("ball", "Ball"), ...names.players.map((one) => option(one.object_id, names.player(one.object_id)))];
    this.fields = {
      object: pick("Object", ...objects),
      act: pick("Change of its packets", option("", "as recorded"), option("removed", "removed"), option("moved", "moved by"), option("late", "late by")),
      metres: type("x y in m", 8, "text"),
      late: type("ms", 6),
      threshold: element("input", { type: "text", list: "thresholds", "aria-label": "Threshold", placeholder: "name, such as near.enter_m", autocomplete: "off" }),
      value: type("Value", 6),
      alpha: pick("Alpha", option("", "as recorded"), ...[0, 0.25, 0.5, 0.75, 1].map((alpha) => option(alpha, String(alpha)))),
      slack: type("Slack, ms", 6),
      detector: pick("Detector", option("", "no further one")),
    };
    this.thresholds = element("datalist", { id: "thresholds" });
    this.stretch = element("p", { class: "stretch" });
    this.begin = element("button", {}, "Play");
    this.answer = element("div", { class: "answer", role: "status" });
    const row = (name, ...fields) => element("div", { class: "row" }, element("span", {}, name), ...fields.map((one) => this.fields[one]));
    const form = element("form", {}, row("Packets", "object", "act", "metres", "late"), row("Threshold", "threshold", "value"),
      row("Alpha, slack", "alpha", "slack"), row("Detector", "detector"), this.thresholds, this.begin);
    form.addEventListener("submit", (event) => (event.preventDefault(), this.play()));
    this.fields.act.addEventListener("change", () => this.show());
    this.fields.threshold.addEventListener("change", () => this.showThreshold());
    const close = element("button", { onclick: () => this.close(), title: "Close (Esc)" }, "Close");
    view.append(element("header", {}, element("h2", {}, "What if"), close), this.stretch, form, this.answer);
    player.changed(() => this.show());
  }

  get isOpen() {
    return !this.view.hidden;
  }

  /* The loop if it is on or set, else half a minute around the moment. */
  span() {
    const { from, to } = this.player.loop;
    if (from !== null && to !== null) return { from, to };
    return { from: Math.max(this.player.beginUs, this.player.us - STRETCH_US / 2), to: Math.min(this.player.endUs, this.player.us + STRETCH_US / 2) };
  }

  /* Opens the panel; a moment that moves on would move the stretch, so the match pauses unless a loop holds it. */
  async open() {
    this.view.hidden = false;
    if (this.player.isPlaying && this.player.loop.to === null) this.player.play(false);
    this.show();
    if (this.choices) return;
    try {
      this.choices = await api(of(this.match, "/what-if/choices"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.answer.textContent = error.message;
      return;
    }
    this.thresholds.append(...this.choices.thresholds.map((one) => element("option", { value: one.path }, one.value + " " + one.unit)));
    this.fields.detector.append(...this.choices.detectors.map((name) => element("option", { value: name }, name)));
    if (!this.choices.permitted) {
      this.begin.disabled = true;
      this.answer.textContent = "A change is played for operators, and for viewers on the server's machine.";
    }
    this.playAhead();
  }

  close() {
    this.view.hidden = true;
    clearTimeout(this.resting);
  }

  /* Has the server play the stretch as recorded, so that a change of it waits for its own side only. */
  async playAhead() {
    clearTimeout(this.resting);
    const { from, to } = this.span();
    const stretch = "begin_us=" + Math.round(from) + "&end_us=" + Math.round(to);
    const isWanted = this.isOpen && this.choices && this.choices.permitted && (!this.player.isPlaying || this.player.loop.to !== null);
    if (!isWanted || stretch === this.ahead || to - from > STRETCH_MAX_US) return;
    this.ahead = stretch;
    try {
      const { is_done } = await api(of(this.match, "/what-if/unchanged?" + stretch));
      if (!is_done && this.ahead === stretch) this.ahead = null; // a change came between
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (this.ahead === stretch) this.ahead = null;
    }
  }

  show() {
    if (!this.isOpen) return;
    const { from, to } = this.span();
    const text = clock(from, 1) + " to " + clock(to, 1) + (this.player.loop.to === null ? "; a loop (I, O) chooses another stretch" : ", the loop");
    if (this.stretch.textContent !== text) {
      this.stretch.textContent = text;
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.playAhead(), REST_MS);
    }
    this.fields.metres.hidden = this.fields.act.value !== "moved";
    this.fields.late.hidden = this.fields.act.value !== "late";
  }

  showThreshold() {
    const found = this.choices && this.choices.thresholds.find((one) => one.path === this.fields.threshold.value);
    this.fields.value.placeholder = found ? found.value + " " + found.unit : "Value";
  }

  /* Plays the change; waits while the server plays another one. */
  async play() {
    const stretch = this.span();
    if (stretch.to - stretch.from > STRETCH_MAX_US) {
      this.answer.textContent = "A stretch has two minutes at most.";
      return;
    }
    const values = Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value]));
    const path = of(this.match, "/what-if?change=" + encodeURIComponent(JSON.stringify(changeOf(stretch, values))));
    const began = performance.now();
    this.begin.disabled = true;
    const waiting = setInterval(() => (this.answer.textContent = "Playing both sides: " + Math.round((performance.now() - began) / 1000) + " s"), 250);
    try {
      for (;;) {
        try {
          const found = await api(path);
          clearInterval(waiting);
          this.write(found);
          return;
        } catch (error) {
          if (!(error instanceof Refused) || error.status !== 503 || !this.isOpen) throw error;
          await new Promise((resume) => setTimeout(resume, BUSY_MS));
        }
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      clearInterval(waiting);
      this.answer.textContent = error.message;
    } finally {
      clearInterval(waiting);
      this.begin.disabled = false;
    }
  }

  /* Both sides: figures, then the differing events of the families that the list shows. */
  write(found) {
    const shown = found.differences.filter((one) => this.families().has(one.family));
    const figures = (name, side) => {
      const delay = side.delay_ms === null ? "" : ", first reported after " + side.delay_ms + " ms";
      return element("p", {}, element("strong", {}, name + ": "), side.events + " events, " + side.withdrawn + " withdrawn" + delay);
    };
    const cell = (one, us, variant) => (us === null ? element("td", {}, "–") : element("td", {}, element("button", { onclick: () => this.go(us) }, clock(us, 2)), " " + one.title + (variant ? ", " + variant : "") + " ", element("small", {}, this.names.brief(one.player ? [one.player] : []) || this.names.team(one.team))));
    const rows = shown.map((one) =>
      element("tr", { class: one.change }, cell(one, one.before_us, one.before_variety), cell(one, one.now_us, one.now_variety), element("td", {}, CHANGES[one.change] + (one.altered.length ? ": " + one.altered.join(", ") : "")))
    );
    const head = element("tr", {}, ...["As recorded", "With the change", ""].map((text) => element("th", { scope: "col" }, text)));
    const hidden = found.differences.length - shown.length;
    this.answer.replaceChildren(
      figures("As recorded", found.before),
      figures("With the change", found.now),
      element("p", {}, found.kept + " events are the same, " + found.differences.length + " differ" + (hidden ? ", " + hidden + " of them in families that the list does not show" : "") + ". " + found.took_s.toFixed(1) + " s."),
      ...(found.as_stored < 1 ? [element("p", {}, (100 * found.as_stored).toFixed(1) + " % of the events as recorded are those of the store: some detectors need a longer past.")] : []),
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))
    );
  }
}
