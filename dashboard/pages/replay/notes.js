/* Bookmarks, clips and playlists: made at the moment or over the loop, played one after the other, exported. */
import { Refused, api, clock, element, of } from "/pages/shared/shell.js";

const FILM_US_MAX = 60e6;
const MOMENT_US = 3e6; // a bookmark in a playlist is played for so long

/* Saves a text as a file. */
export function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Events as lines of CSV. */
export function csv(events) {
  const columns = ["id", "kind", "variant", "level", "ts_us", "team", "player", "other", "x_m", "y_m", "state", "confidence", "emitted_us"];
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return [columns, ...events.map((event) => columns.map((name) => event[name]))].map((row) => row.map(cell).join()).join("\n") + "\n";
}

export class Notes {
  constructor(view, match, player, changed) {
    this.match = match;
    this.player = player;
    this.changed = changed;
    this.notes = [];
    this.edited = null;
    this.queue = [];
    this.playing = null;
    const part = (id) => view.querySelector("#" + id);
    const parts = ["note-text", "note-playlist", "note-token", "note-answer", "note-rows", "playlists"];
    [this.text, this.playlist, this.token, this.answer, this.rows, this.known] = parts.map(part);
    this.token.value = sessionStorage.getItem("token") || "";
    this.token.addEventListener("change", () => sessionStorage.setItem("token", this.token.value));
    part("note-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.write();
    });
    part("note-play").addEventListener("click", () => this.play(this.chosen()));
    part("note-edl").addEventListener("click", () => {
      location.assign("/api/v1" + of(match, "/playlist.edl?name=" + encodeURIComponent(this.playlist.value.trim())));
    });
  }

  async read() {
    try {
      this.take(await api(of(this.match, "/notes")));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.say(error.message);
    }
  }

  take(notes) {
    this.notes = notes;
    const names = new Set(notes.map((note) => note.clip.playlist).filter((name) => name));
    this.known.replaceChildren(...[...names].map((value) => element("option", { value })));
    this.draw();
    this.changed(notes.map((note) => note.clip));
  }

  say(text) {
    this.answer.textContent = text;
  }

  /* The clip that the form describes: the loop if it has both ends, else the moment. */
  clip() {
    const { from, to } = this.player.loop;
    const [begin, end] = from !== null && to !== null ? [from, to] : [this.player.us, this.player.us];
    return { begin_us: Math.round(begin), end_us: Math.round(end), text: this.text.value.trim(), playlist: this.playlist.value.trim() };
  }

  /* Adds a note, or replaces the one that is edited. */
  async write() {
    const same = this.edited && { begin_us: this.edited.clip.begin_us, end_us: this.edited.clip.end_us };
    const [method, path] = this.edited ? ["PUT", "/notes/" + this.edited.id] : ["POST", "/notes"];
    if (!(await this.send(method, path, { ...this.clip(), ...same }))) return;
    this.edited = null;
    this.text.value = "";
    await this.read();
  }

  async remove(note) {
    if (await this.send("DELETE", "/notes/" + note.id)) await this.read();
  }

  /* Sends a change; true if it was made. */
  async send(method, path, body) {
    const headers = { Authorization: "Bearer " + this.token.value, "Content-Type": "application/json" };
    try {
      await api(of(this.match, path), { method, headers, body: body && JSON.stringify(body) });
      this.say("");
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const needsToken = error.status === 401 || error.status === 403;
      this.say(needsToken ? "Notes need the token of an operator, in the field above." : error.message);
      return false;
    }
  }

  /* The notes of the playlist in the form; all without one. */
  chosen() {
    const name = this.playlist.value.trim();
    return this.notes.filter((note) => !name || note.clip.playlist === name);
  }

  /* Plays notes one after the other. */
  play(notes) {
    this.queue = notes.map((note) => note.clip);
    this.player.setLoop({ on: false });
    this.next();
  }

  next() {
    this.playing = this.queue.shift() || null;
    if (this.playing) this.player.seek(this.playing.begin_us);
    this.player.play(this.playing !== null);
  }

  /* Called with every frame: goes on to the next note of a playlist; a pause by a person ends it. */
  step() {
    if (!this.playing) return;
    const { begin_us, end_us } = this.playing;
    if (!this.player.isPlaying) this.playing = null;
    else if (this.player.us >= (end_us > begin_us ? end_us : begin_us + MOMENT_US)) this.next();
  }

  draw() {
    this.rows.replaceChildren(...this.notes.map((note) => this.row(note)));
    this.rows.classList.toggle("none", !this.notes.length);
  }

  row(note) {
    const { begin_us, end_us, text, playlist } = note.clip;
    const isFilm = end_us > begin_us && end_us - begin_us <= FILM_US_MAX;
    const address = "/api/v1" + of(this.match, "/film?begin_us=" + begin_us + "&end_us=" + end_us + "&form=");
    const film = (form) => element("a", { href: address + form, download: "" }, form.toUpperCase());
    const button = (label, title, onclick) => element("button", { title, onclick }, label);
    const when = clock(begin_us, 1) + (end_us > begin_us ? " – " + clock(end_us, 1) : "");
    const small = [playlist, note.author].filter((part) => part).join(" · ");
    return element(
      "li", {},
      element("div", {}, element("b", {}, when), " " + (text || "(no text)") + " ", element("small", {}, small)),
      element(
        "span", { class: "tools" }, button("Play", "Play this note", () => this.play([note])), ...(isFilm ? [film("mp4"), film("gif")] : []),
        button("Edit", "Change text and playlist", () => this.edit(note)), button("Remove", "Remove this note", () => this.remove(note))
      )
    );
  }

  edit(note) {
    this.edited = note;
    this.text.value = note.clip.text;
    this.playlist.value = note.clip.playlist;
    this.say("Change text and playlist of the note at " + clock(note.clip.begin_us, 1) + ".");
    this.text.focus();
  }
}
