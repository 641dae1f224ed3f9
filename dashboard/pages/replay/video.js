/* A video beside the pitch: a file of the viewer's own, which follows the player by one or two marks. */
import { Refused, api, clock, element, of } from "/pages/shared/shell.js";

const APART_US = 10e6; // as replay/video_marks.py has it
const NEAR_S = 0.02; // a video at rest shows the moment this well
const BEHIND_S = 0.12; // a video that plays may be off by so much, times the speed

/* The time of the video in seconds at an event time, by marks [{ event_us, video_us }]; null without any. */
export function videoTime(marks, us) {
  if (!marks.length) return null;
  const [first, last] = [marks[0], marks.at(-1)];
  const rate = marks.length > 1 ? (last.video_us - first.video_us) / (last.event_us - first.event_us) : 1;
  return (first.video_us + (us - first.event_us) * rate) / 1e6;
}

/* Marks with a further one: it replaces one that is too near, else the nearer of two; in order of event time. */
export function withMark(marks, mark) {
  const distance = (one) => Math.abs(one.event_us - mark.event_us);
  const kept = marks.filter((one) => distance(one) >= APART_US).sort((a, b) => distance(b) - distance(a));
  return [...kept.slice(0, 1), mark].sort((a, b) => a.event_us - b.event_us);
}

export class Video {
  constructor(view, match, player) {
    Object.assign(this, { view, match, player });
    this.marks = [];
    this.isFree = false; // a person has moved the video: it follows again once the pitch is moved
    this.isOwn = false; // the video seeks because it follows
    this.frozen = null; // time of the video in us that waits for its moment on the pitch
    this.file = element("input", { type: "file", accept: "video/*", "aria-label": "Video file" });
    this.screen = element("video", { playsinline: true, controls: true, tabindex: "-1" });
    this.screen.muted = true;
    this.mark = element("button", { title: "First the picture of the video, then the same moment on the pitch" }, "Mark this picture");
    this.cancel = element("button", { hidden: true }, "Cancel");
    this.forget = element("button", { title: "Forget the marks of this video" }, "Forget marks");
    this.said = element("p", { role: "status" });
    const close = element("button", { onclick: () => this.close(), title: "Close" }, "Close");
    view.append(element("header", {}, element("h2", {}, "Video"), this.file, close), this.screen, element("div", { class: "tools" }, this.mark, this.cancel, this.forget), this.said);
    this.file.addEventListener("change", () => this.choose(this.file.files[0]));
    this.mark.addEventListener("click", () => this.clicked());
    this.cancel.addEventListener("click", () => this.freeze(null));
    this.forget.addEventListener("click", () => this.keep([]));
    this.screen.addEventListener("seeking", () => (this.isFree = this.isFree || !this.isOwn));
    this.screen.addEventListener("seeked", () => (this.isOwn = false));
    player.changed(() => (this.isFree = false));
    this.screen.addEventListener("error", () => this.say("This browser cannot play the file."));
    this.write();
  }

  get isOpen() {
    return !this.view.hidden;
  }

  open() {
    this.view.hidden = false;
  }

  close() {
    this.view.hidden = true;
    this.screen.pause();
  }

  say(text) {
    this.said.textContent = text;
  }

  /* Shows a file of this machine. It is not sent anywhere. */
  async choose(file) {
    if (!file) return;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = URL.createObjectURL(file);
    this.name = file.name;
    this.screen.src = this.address;
    this.marks = [];
    this.freeze(null);
    try {
      const known = await api(of(this.match, "/video"));
      const own = known.find((one) => one.name === file.name);
      if (own && this.name === file.name) this.marks = own.marks;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    this.write();
  }

  /* The first click takes the picture, the second one its moment on the pitch. */
  clicked() {
    if (this.frozen === null) {
      this.screen.pause();
      this.freeze(Math.round(this.screen.currentTime * 1e6));
      return;
    }
    const mark = { event_us: Math.round(this.player.us), video_us: this.frozen };
    this.freeze(null);
    this.keep(withMark(this.marks, mark));
  }

  freeze(us) {
    this.frozen = us;
    this.cancel.hidden = us === null;
    this.write();
  }

  /* Keeps marks with the notes of the match; without the token of an operator they hold in this page only. */
  async keep(marks) {
    this.marks = marks;
    this.write();
    const headers = { Authorization: "Bearer " + (sessionStorage.getItem("token") || ""), "Content-Type": "application/json" };
    try {
      await api(of(this.match, "/video"), { method: "PUT", headers, body: JSON.stringify({ name: this.name, marks }) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const needsToken = error.status === 401 || error.status === 403;
      this.say(needsToken ? "The marks hold until this page is closed: to keep them takes the token of an operator (Notes)." : error.message);
    }
  }

  write() {
    const hasFile = Boolean(this.name);
    this.mark.disabled = !hasFile;
    this.forget.disabled = !this.marks.length;
    this.mark.textContent = this.frozen === null ? "Mark this picture" : "This is its moment on the pitch";
    if (!hasFile) this.say("Choose a file of this machine. It is not uploaded.");
    else if (this.frozen !== null) this.say("Go to the moment of this picture on the pitch, then click again.");
    else if (!this.marks.length) this.say("Two clicks: stop the video at a kick, mark the picture, then mark the same kick on the pitch.");
    else {
      const drift = videoTime(this.marks, 60e6) - videoTime(this.marks, 0) - 60;
      const offset = clock(videoTime(this.marks, 0) * 1e6, 2);
      const more = this.marks.length > 1 ? ", drift " + (1000 * drift).toFixed(0) + " ms a minute" : "; two more clicks, far from the first, correct the drift";
      this.say("Match time 0 is " + offset + " of the video" + more + ".");
    }
  }

  seek(seconds) {
    this.isOwn = true;
    this.screen.currentTime = seconds;
  }

  /* Called with every frame: follows play, seek and speed. */
  step() {
    if (!this.isOpen || !this.marks.length || this.frozen !== null || this.isFree || !this.screen.duration) return;
    const { screen, player } = this;
    const seconds = videoTime(this.marks, player.us);
    const isInside = seconds >= 0 && seconds <= screen.duration;
    this.view.classList.toggle("outside", !isInside);
    if (!isInside || !player.isPlaying) {
      if (!screen.paused) screen.pause();
      if (isInside && !screen.seeking && Math.abs(screen.currentTime - seconds) > NEAR_S) this.seek(seconds);
      return;
    }
    const rate = player.speed * (videoTime(this.marks, 1e6) - videoTime(this.marks, 0));
    if (screen.playbackRate !== rate) screen.playbackRate = Math.max(0.0625, Math.min(16, rate));
    if (screen.paused) screen.play().catch(() => {});
    if (!screen.seeking && Math.abs(screen.currentTime - seconds) > BEHIND_S * Math.max(1, player.speed)) this.seek(seconds);
  }
}
