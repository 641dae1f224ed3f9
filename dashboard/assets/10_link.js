/* The connection to the server: one stream of messages, and its state. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const STALE_MS = 1000; // without new positions for this long the status is "stale"
  const LOST_MS = 1500; // without any message for this long it is "lost"; the server sends one at least every half second
  const RETRY_MS = 1500;

  const needed = new Map(); // kinds of other families, by the part of the page that needs them

  const link = {
    families: null, // null: the server's default
    heardAt: 0, // performance.now() of the newest message, 0 before the first
    dataAt: 0, // the same of the newest message that moved the stream's clock
    openedAt: performance.now(),
    progress: null, // newest event time of positions, or arrival time before the first
    hasView: false,
    version: 0, // of the events that the page has
    ended: false,
    nowUs: 0, // arrival time of the newest message
    source: null,
    handlers: [],
  };

  function connect() {
    if (link.source) link.source.close();
    const query = new URLSearchParams();
    if (link.families !== null) query.set("families", link.families.join(","));
    if (link.kinds().length) query.set("kinds", link.kinds().join(","));
    const source = new EventSource("live/stream" + (query.size ? "?" + query : ""));
    link.source = source;
    link.openedAt = performance.now();
    source.onmessage = function (event) {
      if (source === link.source) receive(JSON.parse(event.data));
    };
  }

  function receive(message) {
    const now = performance.now();
    link.heardAt = now;
    link.ended = message.ended;
    link.nowUs = message.now_us;
    link.version = message.version;
    link.hasView = message.clock_us !== undefined;
    const progress = link.hasView ? message.clock_us : message.now_us;
    if (progress !== link.progress || message.sheet) link.dataAt = now;
    link.progress = progress;
    for (const handler of link.handlers) handler(message, now);
  }

  /* The browser reconnects by itself after a broken stream, but not after a refused one, and it cannot see a
     stream that is open and silent. */
  function watch() {
    const now = performance.now();
    const silent = now - Math.max(link.heardAt, link.openedAt);
    if (link.source && silent > LOST_MS + RETRY_MS) connect();
  }

  /* One of: connecting, waiting, reading (a store has events, and its positions come last), live, stale, lost, ended. */
  link.status = function (now) {
    if (link.heardAt === 0) return now - link.openedAt > LOST_MS + RETRY_MS ? "lost" : "connecting";
    if (link.ended) return "ended";
    if (now - link.heardAt > LOST_MS) return "lost";
    if (!link.hasView) return link.version ? "reading" : "waiting";
    return now - link.dataAt > STALE_MS ? "stale" : "live";
  };

  link.show = function (families) {
    const same = link.families !== null && link.families.join() === families.join();
    link.families = families;
    if (!same) connect();
  };

  /* All kinds that parts of the page need besides the families. */
  link.kinds = () => [...new Set([...needed.values()].flat())].sort();

  /* A part of the page needs events of some kinds, whatever families the list shows; `name.*` stands for all that begin so. */
  link.need = function (part, kinds) {
    const before = link.kinds().join();
    needed.set(part, kinds);
    if (link.source && link.kinds().join() !== before) connect();
  };

  link.start = function () {
    setInterval(watch, 500);
  };

  T.link = link;
})();
