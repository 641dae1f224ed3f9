/* The clock of the replay: event time, speed, loop. It moves only while the positions that it shows are here. */

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Player {
  constructor(beginUs, endUs) {
    this.beginUs = beginUs;
    this.endUs = endUs;
    this.us = beginUs;
    this.grows = false; // the match is still played: the end waits for more
    this.speed = 1;
    this.isPlaying = false;
    this.loop = { from: null, to: null, on: false };
    this.at = null; // time of the last step, ms
    this.listeners = [];
  }

  /* Calls a function after every change by a person: seek, speed, play, loop. */
  changed(listener) {
    this.listeners.push(listener);
  }

  notify() {
    for (const listener of this.listeners) listener();
  }

  seek(us) {
    this.us = Math.max(this.beginUs, Math.min(this.endUs, us));
    this.at = null;
    this.notify();
  }

  play(on) {
    this.isPlaying = on;
    this.at = null;
    if (on && this.us >= this.endUs && !this.grows) this.us = this.beginUs;
    this.notify();
  }

  faster(step) {
    const index = SPEEDS.indexOf(this.speed) + step;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index))];
    this.notify();
  }

  setLoop(changes) {
    Object.assign(this.loop, changes);
    const { from, to } = this.loop;
    if (from !== null && to !== null && from >= to) this.loop = { from: to, to: from, on: this.loop.on };
    this.notify();
  }

  /* Moves on to a time of the screen; `isReady` says whether positions are here. */
  step(ms, isReady) {
    const passedMs = this.at === null ? 0 : Math.min(250, ms - this.at);
    this.at = ms;
    if (!this.isPlaying || !isReady) return;
    this.us += passedMs * 1000 * this.speed;
    const { from, to, on } = this.loop;
    if (on && from !== null && to !== null && (this.us >= to || this.us < from)) this.us = from;
    if (this.us >= this.endUs) {
      this.us = this.endUs;
      if (!this.grows) this.play(false);
    }
  }
}
