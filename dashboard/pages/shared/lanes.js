/* Events as dots in lanes by the level of their kind, over a stretch of event time: the part that the live page and the
   replay room have, too. Hollow is tentative, filled confirmed, a cross withdrawn; a thin line leads to older versions. */

export const LEVELS = [
  "Signals", "Ball", "Movement", "Proximity", "Contacts", "Actions", "Outcomes", "Passes & shots", "Restarts & Laws", "Pressure & space",
  "Combinations", "Attacks", "Phases", "Statistics", "Applications",
];
const REACH = 1.6; // radii around a dot in which the pointer means it
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300]; // between two lines of time

/* Minutes and seconds. */
const time = (us) => Math.floor(us / 60e6) + ":" + String(Math.floor((us / 1e6) % 60)).padStart(2, "0");

export class Lanes {
  constructor(pen) {
    this.pen = pen;
    this.levels = new Set();
    this.dots = []; // [event, x, y] of the last drawing
    this.radius = 0;
  }

  /* Only the lanes of these events, from now on; drawing adds those of further levels and takes none away. */
  reset(events = []) {
    this.levels = new Set(events.map((event) => event.level));
  }

  /* Draws a box from `fromUs` to `toUs`, with a line at `nowUs`. An event has its time, level, state, team, older versions
     and, if it is leaving, `fade` from 1 to 0. Dots pass beneath the names on the left. */
  draw(box, { events, fromUs, toUs, nowUs, size, colour, chosen = null }) {
    const { pen } = this;
    for (const event of events) this.levels.add(event.level);
    const levels = [...this.levels].sort((a, b) => b - a);
    const foot = 1.15 * size;
    const high = (box.height - foot) / Math.max(1, levels.length);
    const text = Math.min(0.85 * size, 0.9 * high);
    this.radius = Math.min(0.36 * high, 0.42 * size);
    this.dots = [];
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.font = text + 'px "Inter", sans-serif';
    const names = levels.map((level) => level + "  " + LEVELS[level - 1]);
    const wide = Math.max(0, ...names.map((name) => pen.measureText(name).width)) + 12;
    const begin = box.x + wide;
    const x = (us) => begin + ((us - fromUs) / (toUs - fromUs)) * (box.x + box.width - begin);
    this.time = (px) => fromUs + ((px - begin) / (box.x + box.width - begin)) * (toUs - fromUs);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y, box.width, box.height);
    pen.clip();
    this.times(box, x, fromUs, toUs, begin, size, colour);
    levels.forEach((level, i) => {
      const y = box.y + (i + 0.5) * high;
      this.stroke(colour.edge, 1, [box.x, y], [box.x + box.width, y]);
      for (const event of events) {
        if (event.level !== level || event.ts_us < fromUs - 1e6 || event.ts_us > toUs + 1e6) continue;
        this.dots.push([event, x(event.ts_us), y]);
        this.event(event, x, y, colour, event.id === chosen);
      }
      pen.fillStyle = colour.panel;
      pen.fillRect(box.x, box.y + i * high, wide, high);
      pen.fillStyle = colour.soft;
      pen.font = text + 'px "Inter", sans-serif';
      pen.fillText(names[i], box.x + 6, y);
    });
    pen.fillStyle = colour.text;
    pen.fillRect(x(nowUs) - 0.75, box.y, 1.5, box.height);
    pen.restore();
  }

  times(box, x, fromUs, toUs, begin, size, colour) {
    const { pen } = this;
    const room = ((x(toUs) - x(fromUs)) / (toUs - fromUs)) * 1e6; // pixels of a second
    const step = 1e6 * (SECONDS.find((seconds) => seconds * room > 4.5 * size) || SECONDS.at(-1));
    pen.font = 0.8 * size + 'px "Inter", sans-serif';
    for (let us = Math.max(0, Math.ceil(fromUs / step) * step); us <= toUs; us += step) {
      if (x(us) < begin) continue;
      this.stroke(colour.edge, 1, [x(us), box.y], [x(us), box.y + box.height]);
      pen.fillStyle = colour.soft;
      pen.fillText(time(us), x(us) + 3, box.y + box.height - 0.55 * size);
    }
  }

  event(event, x, y, colour, isChosen) {
    const { pen, radius } = this;
    const at = x(event.ts_us);
    pen.globalAlpha = event.fade === undefined ? 1 : Math.max(0, event.fade);
    const ink = event.state === "withdrawn" ? colour.withdrawn : colour[event.team] || colour.soft;
    (event.older || []).forEach((one, i, all) => {
      // A version of the same time stands beside the dot, so that it is seen.
      const before = Math.min(x(one.ts_us), at - 2.4 * radius * (all.length - i));
      this.stroke(ink, 1, [before, y], [at, y]);
      this.ring(before, y, 0.6 * radius, ink, 1);
    });
    if (isChosen) this.ring(at, y, 1.7 * radius, colour.text, 1.5);
    if (event.state === "withdrawn") {
      this.stroke(ink, 1.8, [at - radius, y - radius], [at + radius, y + radius]);
      this.stroke(ink, 1.8, [at - radius, y + radius], [at + radius, y - radius]);
    } else {
      this.ring(at, y, radius, ink, 1.8);
      pen.fillStyle = event.state === "confirmed" ? ink : colour.panel;
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  stroke(ink, width, from, to) {
    const { pen } = this;
    pen.strokeStyle = ink;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
  }

  ring(x, y, radius, ink, width) {
    const { pen } = this;
    pen.strokeStyle = ink;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  /* The event under a place of the canvas, the nearest one; null if there is none. */
  under(x, y) {
    const reach = Math.max(6, REACH * this.radius);
    const near = this.dots.filter(([, dotX, dotY]) => Math.hypot(dotX - x, dotY - y) <= reach);
    near.sort((a, b) => Math.hypot(a[1] - x, a[2] - y) - Math.hypot(b[1] - x, b[2] - y));
    return near.length ? near[0][0] : null;
  }
}
