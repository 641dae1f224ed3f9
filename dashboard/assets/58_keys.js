/* The keys of the page, its panels, and what the browser remembers of them. Letters of decisions belong to the officials' panel. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const STEP_US = 100e3;
  const byId = (id) => document.getElementById(id);
  const PANELS = ["layers", "alerts", "strip", "lanes"];
  const REMEMBERED = { strip: "engine", lanes: "timeline" }; // panels that take no focus

  /* Opens or closes a panel; of the popovers one at a time. */
  function toggle(name) {
    const panel = byId(name);
    const isOpen = panel.hidden;
    const kept = REMEMBERED[name];
    for (const other of ["layers", "alerts"]) if (isOpen && !kept) set(other, false);
    set(name, isOpen);
    if (kept) localStorage.setItem(kept, isOpen ? "open" : "closed");
    if (name === "strip" && isOpen && !byId("officials").hidden) T.officials.toggle();
    if (name === "alerts") T.alerts.toggled();
    if (isOpen && !kept) panel.querySelector("input, button").focus();
  }

  const isKept = (name) => localStorage.getItem(REMEMBERED[name]) === "open";

  function set(name, isOpen) {
    byId(name).hidden = !isOpen;
    byId(name + "-toggle").setAttribute("aria-expanded", String(isOpen));
    if (name === "strip") T.link.list(isOpen);
  }

  /* Closes what is open, nearest first: a popover, the card of the end, then the chosen event. */
  function back() {
    const open = ["layers", "alerts"].find((name) => !byId(name).hidden);
    if (open) toggle(open);
    else if (T.head.dismiss()) return true;
    else if (T.list.selected() || T.moment.us !== null) T.list.select(null);
    else return false;
    return true;
  }

  function followPlayer() {
    const row = T.list.selected();
    T.find.follow("player", row && row.player !== T.find.player ? row.player : null);
    return true;
  }

  function gather() {
    const row = T.list.selected();
    if (row && row.player) T.find.gather(row.player);
  }

  function followKind() {
    const row = T.list.selected();
    T.find.follow("kind", row && row.kind !== T.find.kind ? row.kind : null);
    return true;
  }

  const letter = (name, act) => (event) => event.key.toLowerCase() === name && !event.shiftKey && (act(), true);

  async function mount() {
    for (const name of PANELS) byId(name + "-toggle").onclick = () => toggle(name);
    const { help, keys, listen, theme } = await import("/pages/shared/shell.js");
    byId("help").onclick = help;
    keys(
      ["?", "show the keys", (event) => event.key === "?" && (help(), true)],
      ["↑ ↓", "choose an event: the pitch goes to its moment, and its explanation opens"],
      ["B Esc", "back to live", (event) => (event.key === "Escape" ? back() : letter("b", () => T.list.select(null))(event))],
      ["Space", "play on from the moment, or pause", (event) => event.key === " " && event.target === document.body && (T.moment.play(), true)],
      [", .", "a tenth of a second back, forward", (event) => [",", "."].includes(event.key) && (T.moment.by(event.key === "," ? -STEP_US : STEP_US), true)],
      ["/", "search", (event) => event.key === "/" && (byId("search").focus(), true)],
      ["T", "follow the player of the chosen event, or no longer", letter("t", followPlayer)],
      ["Shift+T", "line or hull over players: takes the player of the chosen event in, or out (Shift and a click on a disc)", (event) => event.key === "T" && event.shiftKey && (gather(), true)],
      ["J", "follow the kind of the chosen event, or no longer", letter("j", followKind)],
      ["H", "the timeline by level", letter("h", () => toggle("lanes"))],
      ["C", "the calm list, or everything at once", letter("c", T.list.everything)],
      ["K", "layers of the pitch", letter("k", () => toggle("layers"))],
      ["Z", "alerts", letter("z", () => toggle("alerts"))],
      ["M", "figures of the engine", letter("m", () => toggle("strip"))],
      ["O", "decisions of the officials"],
      ["D", "dark or light", letter("d", theme)]
    );
    listen();
  }

  T.keys = {
    mount() {
      mount();
      if (isKept("strip") && byId("officials").hidden) set("strip", true);
      if (localStorage.getItem("timeline") === "closed") set("lanes", false);
    },
    /* The officials' panel takes the place of the figures of the engine. */
    officials: (isOpen) => set("strip", !isOpen && isKept("strip")),
  };
})();
