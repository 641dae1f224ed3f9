/* The review of a close call: verdict, drawing, figures, and the sheet, beside the pitch. */
import { Refused, api, element, of } from "/pages/shared/shell.js";

const QUESTIONS = [
  ["", "What the event asks"],
  ["offside", "Offside"],
  ["line", "Ball over the line"],
  ["area", "Penalty area"],
  ["distance", "Too near at a restart"],
];

export class Review {
  /* `shown` is called with an answer of the server, or null, so that the pitch can draw it. */
  constructor(view, match, names, shown) {
    this.view = view;
    this.match = match;
    this.shown = shown;
    this.event = null;
    this.question = element("select", { "aria-label": "Question" }, ...QUESTIONS.map(([value, text]) => element("option", { value }, text)));
    this.player = element("select", { "aria-label": "Player in question" }, element("option", { value: "" }, "Player of the event"));
    this.player.append(...names.players.map((one) => element("option", { value: one.object_id }, names.player(one.object_id))));
    this.answer = element("div", { class: "answer", role: "status" });
    for (const choice of [this.question, this.player]) choice.addEventListener("change", () => this.ask());
    const close = element("button", { onclick: () => this.close(), title: "Close (Esc)" }, "Close");
    view.append(element("header", {}, element("h2", {}, "Review"), this.question, this.player, close), this.answer);
  }

  get isOpen() {
    return !this.view.hidden;
  }

  open(event) {
    this.event = event;
    this.question.value = this.player.value = "";
    this.view.hidden = false;
    this.ask();
  }

  close() {
    this.view.hidden = true;
    this.event = null;
    this.shown(null);
  }

  async ask() {
    const event = this.event;
    const values = new URLSearchParams({ event: event.id, question: this.question.value, player: this.player.value });
    this.answer.textContent = "Measuring";
    this.shown(null);
    try {
      const found = await api(of(this.match, "/review?" + values));
      if (this.event !== event) return;
      this.write(found, values);
      this.shown(found.review);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (this.event === event) this.answer.textContent = error.message;
    }
  }

  write(found, values) {
    const path = (end) => "/api/v1" + of(this.match, "/review." + end + "?" + values);
    this.answer.replaceChildren(
      element("p", { class: "verdict" }, found.verdict),
      element("img", { src: path("svg"), alt: "Drawing from above: " + found.verdict }),
      element("dl", {}, ...found.rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
      ...found.review.notes.map((note) => element("p", {}, note)),
      element("a", { href: path("pdf"), download: "review.pdf" }, "Sheet as PDF")
    );
  }
}
