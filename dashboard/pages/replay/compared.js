/* The disagreements with another provider's event data, as a list that can be played. */
import { Refused, api, clock, element, of } from "/pages/shared/shell.js";

export class Compared {
  constructor(view, match, names, go) {
    Object.assign(this, { view, match, names, go });
  }

  async read() {
    if (this.found) return;
    this.view.textContent = "Reading the comparison";
    try {
      this.found = await api(of(this.match, "/comparison"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.view.textContent = error.message;
      return;
    }
    const { provider, agreeing, disagreements, kinds } = this.found;
    const figures = Object.entries(kinds).map(([kind, row]) => kind.replaceAll("_", " ") + " " + row.paired + " of " + row.ours + " and " + row.theirs);
    this.view.replaceChildren(
      element("p", {}, provider + ": " + agreeing + " pairs agree, " + disagreements.length + " disagreements. Paired: " + figures.join(", ") + "."),
      element("ul", {}, ...disagreements.map((one) => this.row(one)))
    );
  }

  row(one) {
    const apart = [one.seconds === null ? "" : one.seconds.toFixed(1) + " s", one.metres === null ? "" : one.metres.toFixed(1) + " m"].filter((text) => text);
    const who = [this.names.player(one.our_player), one.their_player].filter((text) => text).join(" / ");
    const text = one.kind.replaceAll("_", " ") + ", " + one.about.join(", ") + (apart.length ? " (" + apart.join(", ") + ")" : "");
    return element("li", {}, element("button", { onclick: () => this.go(one), title: "Play it" }, clock(one.event_us, 1)), " ", element("b", {}, text), " ", element("small", {}, who));
  }
}
