/* The connection to the server: one WebSocket, what its messages say together, and its state. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const STALE_MS = 1000; // without new positions for this long the status is "stale"
  const LOST_MS = 1500; // without any message for this long it is "lost"; the server sends one at least every half second
  const SILENT_MS = 3000; // after this long the connection is given up
  const RETRY_MS = 500; // first wait before a new connection; each next one is twice as long
  const RETRY_MAX_MS = 8000;
  const ACKNOWLEDGE_EVERY = 10; // messages; the server stops after thirty without an answer

  const needed = new Map(); // kinds of other families, by the part of the page that needs them

  const link = {
    families: null, // null: the server's default
    units: false, // true: the figures of the engine list every unit
    heardAt: 0, // performance.now() of the newest message, 0 before the first
    dataAt: 0, // the same of the newest message that moved the stream's clock
    openedAt: performance.now(),
    progress: null, // newest event time of positions, or arrival time before the first
    hasView: false,
    version: 0, // of the events that the page has
    run: null, // name of the state that it has them from; null: nothing
    refusal: "", // why the server closed the connection, if it said so
    ended: false,
    nowUs: 0, // arrival time of the newest message
    socket: null,
    handlers: [],
  };

  let positions = null; // { ids, cm } of the newest message
  let received = 0; // messages of this connection
  let attempts = 0; // connections since the last message
  let retry = null; // timer of the next connection

  function connect() {
    clearTimeout(retry);
    retry = null;
    if (link.socket) link.socket.close();
    const query = new URLSearchParams();
    if (link.families !== null) query.set("families", link.families.join(","));
    if (link.kinds().length) query.set("kinds", link.kinds().join(","));
    if (link.units) query.set("units", "all");
    if (link.run !== null) {
      query.set("run", link.run);
      query.set("version", link.version);
    }
    const address = new URL("live/stream?" + query, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    link.socket = socket;
    link.openedAt = performance.now();
    received = 0;
    attempts += 1;
    socket.onmessage = function (event) {
      if (socket !== link.socket) return;
      received += 1;
      if (received % ACKNOWLEDGE_EVERY === 0) socket.send(String(received));
      attempts = 0;
      receive(JSON.parse(event.data));
    };
    socket.onclose = function (event) {
      if (socket !== link.socket) return;
      link.refusal = event.reason;
      later();
    };
  }

  /* Connects anew after a wait that doubles, with chance, so that many pages do not come back at once. */
  function later() {
    if (retry) return;
    const wait = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.max(0, attempts - 1));
    retry = setTimeout(connect, wait * (0.5 + 0.5 * Math.random()));
  }

  /* Connects at once, with a complete message to begin with: the page wants something else. */
  function begin() {
    link.run = null;
    attempts = 0;
    connect();
  }

  /* Gives the message its positions in metres: `ball` and `players`, each [object id, x, y, true if the position is old]. */
  function place(message) {
    if (message.cm === undefined) return;
    if (message.ids) positions = { ids: message.ids, cm: message.cm };
    else message.cm.forEach((cm, i) => (positions.cm[i] += cm));
    const { ids, cm } = positions;
    const old = new Set(message.old);
    const metres = (i) => cm[i] / 100;
    message.players = ids.map((id, i) => [id, metres(2 * i), metres(2 * i + 1), old.has(i)]);
    const at = 2 * ids.length;
    if (cm.length > at) message.ball = [metres(at), metres(at + 1), metres(at + 2)];
  }

  function receive(message) {
    const now = performance.now();
    place(message);
    link.refusal = "";
    link.heardAt = now;
    link.ended = message.ended;
    link.nowUs = message.now_us;
    link.version = message.version;
    if (message.sheet) {
      link.run = message.run;
      link.hasView = false;
      link.progress = null;
    }
    if (message.clock_us !== undefined) link.hasView = true;
    const progress = message.clock_us !== undefined ? message.clock_us : link.hasView ? link.progress : message.now_us;
    if (progress !== link.progress) link.dataAt = now;
    link.progress = progress;
    for (const handler of link.handlers) handler(message, now);
  }

  /* The browser cannot see a connection that is open and silent. */
  function watch() {
    const silent = performance.now() - Math.max(link.heardAt, link.openedAt);
    if (!link.socket || retry || silent <= SILENT_MS) return;
    const socket = link.socket;
    socket.onclose = null;
    socket.close();
    later();
  }

  /* One of: connecting, waiting, reading (a store has events, and its positions come last), live, stale, lost, ended. */
  link.status = function (now) {
    if (link.heardAt === 0) return link.refusal || now - link.openedAt > SILENT_MS || attempts > 1 ? "lost" : "connecting";
    if (link.ended) return "ended";
    if (now - link.heardAt > LOST_MS) return "lost";
    if (!link.hasView) return link.version ? "reading" : "waiting";
    return now - link.dataAt > STALE_MS ? "stale" : "live";
  };

  link.show = function (families) {
    const same = link.families !== null && link.families.join() === families.join();
    link.families = families;
    if (!same) begin();
  };

  /* Every unit is listed or not; the page keeps what it has. */
  link.list = function (units) {
    const same = link.units === units;
    link.units = units;
    if (link.socket && !same) connect();
  };

  /* All kinds that parts of the page need besides the families. */
  link.kinds = () => [...new Set([...needed.values()].flat())].sort();

  /* A part of the page needs events of some kinds, whatever families the list shows; `name.*` stands for all that begin so. */
  link.need = function (part, kinds) {
    const before = link.kinds().join();
    needed.set(part, kinds);
    if (link.socket && link.kinds().join() !== before) begin();
  };

  link.start = function () {
    setInterval(watch, 500);
  };

  T.link = link;
})();
