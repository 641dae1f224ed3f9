/* Positions of the match in chunks: fetched when they are needed, ahead of the player, and looked up by event time. */
import { of, request } from "/pages/shared/shell.js";

const CHUNKS_MAX = 90; // a quarter of an hour, some 5 MB
const NONE = -32768;
const GAP_US = 500e3; // an object without positions for longer is not drawn between them

/* Reads the bytes of a chunk; app/api/replay.py says how they are laid out. */
export function decoded(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const frames = header.frames;
  const width = header.objects.length;
  let at = 4 + size;
  const times = new Float64Array(buffer, at, frames);
  at += 8 * frames;
  const x = new Int16Array(buffer, at, frames * width);
  at += 2 * frames * width;
  const y = new Int16Array(buffer, at, frames * width);
  at += 2 * frames * width;
  const z = new Int16Array(buffer, at, width ? frames : 0);
  return { objects: header.objects, teams: header.teams, frames, width, times, x, y, z };
}

/* Index of the last frame at or before a time; -1 before the first. */
function frameAt(times, us) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= us) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class Positions {
  constructor(match, chunkUs) {
    this.match = match;
    this.chunkUs = chunkUs;
    this.chunks = new Map(); // number -> chunk, or a promise of one; the oldest use first
    this.failed = null; // the reason why the last request failed
  }

  number(us) {
    return Math.floor(us / this.chunkUs);
  }

  /* The chunk of a number if it is here. */
  ready(number) {
    const chunk = this.chunks.get(number);
    if (!chunk || chunk instanceof Promise) return null;
    this.chunks.delete(number);
    this.chunks.set(number, chunk);
    return chunk;
  }

  /* A promise of the chunk of a number. */
  async fetch(number) {
    const known = this.chunks.get(number);
    if (known) return known;
    const coming = request(of(this.match, "/replay/chunk?number=" + number)).then(async (answer) => {
      const chunk = decoded(await answer.arrayBuffer());
      if (this.chunks.get(number) === coming) this.chunks.set(number, chunk); // else it was forgotten on its way
      this.failed = null;
      while (this.chunks.size > CHUNKS_MAX) this.chunks.delete(this.chunks.keys().next().value);
      return chunk;
    });
    this.chunks.set(number, coming);
    try {
      return await coming;
    } catch (error) {
      if (this.chunks.get(number) === coming) this.chunks.delete(number);
      this.failed = error;
      throw error;
    }
  }

  /* Fetches a chunk anew when it is needed again: the store has grown. */
  forget(number) {
    this.chunks.delete(number);
  }

  /* Forgets the chunks that had no end when the store ended at a time. A chunk has half a second of its neighbour. */
  grown(us) {
    const first = this.number(us - 2 * GAP_US);
    for (const number of [...this.chunks.keys()]) if (number >= first) this.forget(number);
  }

  /* Fetches what the player will need next, without waiting for it. */
  ahead(us, count) {
    const first = this.number(us);
    for (let number = first; number <= first + count; number += 1) {
      if (!this.chunks.has(number)) this.fetch(number).catch(() => {});
    }
  }

  /* Where everybody is at a time: rows of { id, team, x, y, z } in metres; null while the chunk is on its way. */
  at(us) {
    const chunk = this.ready(this.number(us));
    if (!chunk) return null;
    const found = [];
    const before = frameAt(chunk.times, us);
    for (let column = 0; column < chunk.width; column += 1) {
      const place = this.place(chunk, before, column, us);
      if (place) found.push({ id: chunk.objects[column], team: chunk.teams[column], ...place });
    }
    return found;
  }

  /* The place of an object between the frames around a time; objects are not in every frame. */
  place(chunk, before, column, us) {
    const { times, x, y, z, width } = chunk;
    let a = before;
    while (a >= 0 && times[a] >= us - GAP_US && x[a * width + column] === NONE) a -= 1;
    let b = before + 1;
    while (b < times.length && times[b] <= us + GAP_US && x[b * width + column] === NONE) b += 1;
    const hasA = a >= 0 && times[a] >= us - GAP_US && x[a * width + column] !== NONE;
    const hasB = b < times.length && times[b] <= us + GAP_US && x[b * width + column] !== NONE;
    if (!hasA && !hasB) return null;
    if (!hasA) a = b;
    if (!hasB) b = a;
    if (times[b] - times[a] > GAP_US) return null;
    const share = a === b ? 0 : (us - times[a]) / (times[b] - times[a]);
    const i = a * width + column;
    const j = b * width + column;
    const mix = (from, to) => (from + (to - from) * share) / 100;
    const high = column === 0 && z[a] !== NONE && z[b] !== NONE;
    return { x: mix(x[i], x[j]), y: mix(y[i], y[j]), z: high ? mix(z[a], z[b]) : 0 };
  }

  /* Places of one object over the last seconds, oldest first; as far as they are here. */
  trail(id, us, lengthUs, steps) {
    const points = [];
    for (let step = 0; step <= steps; step += 1) {
      const then = us - lengthUs + (lengthUs * step) / steps;
      const chunk = this.chunks.get(this.number(then));
      if (!chunk || chunk instanceof Promise) continue;
      const column = chunk.objects.indexOf(id);
      const place = column < 0 ? null : this.place(chunk, frameAt(chunk.times, then), column, then);
      if (place) points.push([place.x, place.y]);
    }
    return points;
  }

  /* Time of the next (1) or the one before (-1) of the frames; null if it is not here. */
  neighbour(us, way) {
    const chunk = this.ready(this.number(us));
    if (!chunk || !chunk.frames) return null;
    const before = frameAt(chunk.times, us + 0.5);
    const index = way > 0 ? before + 1 : chunk.times[before] >= us - 0.5 ? before - 1 : before;
    return index >= 0 && index < chunk.frames ? chunk.times[index] : null;
  }
}
