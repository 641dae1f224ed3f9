/* Alerts: the matches of the patterns that the match plays, a list of them, and a sound. Which are off stays in the browser. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const KEY = "alerts";
  const FRESH_US = 5e6; // arrival time after which a change is history, such as that of a page that is opened
  const FOUND_MAX = 40;
  const LINE_MS = 8000;
  const PATTERNS = "pattern.*";

  const byId = (id) => document.getElementById(id);
  const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
  const state = { off: kept.off || [], sound: kept.sound || false };
  let patterns = []; // kind and name of each pattern
  const found = new Map(); // newest last, by event id
  let unseen = 0;
  let hiding = null;
  let speaker = null;

  function remember() {
    localStorage.setItem(KEY, JSON.stringify(state));
    write();
  }

  /* Two short tones; a browser plays none before the page was used. */
  function beep() {
    speaker = speaker || new AudioContext();
    [880, 1175].forEach((pitch, i) => {
      const tone = speaker.createOscillator();
      const volume = speaker.createGain();
      const at = speaker.currentTime + 0.16 * i;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.15, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.15);
      tone.connect(volume).connect(speaker.destination);
      tone.start(at);
      tone.stop(at + 0.16);
    });
  }

  const make = function (tag, text, properties) {
    return Object.assign(document.createElement(tag), { textContent: text, ...properties });
  };

  function write() {
    const toggle = byId("alerts-toggle");
    toggle.textContent = unseen ? "Alerts " + unseen : "Alerts";
    const view = byId("alerts");
    if (view.hidden) return;
    const list = make("ol", "", { className: "found" });
    for (const row of [...found.values()].reverse()) {
      const item = make("li", "", { className: row.state });
      item.append(make("button", T.words.event(row), { type: "button", onclick: () => T.list.select(row.id) }));
      list.append(item);
    }
    byId("alerts-found").replaceChildren(found.size ? list : make("p", "Nothing yet."));
  }

  function ticked(text, isOn, changed) {
    const box = make("input", "", { type: "checkbox", checked: isOn });
    box.onchange = function () {
      changed(box.checked);
      remember();
    };
    const label = make("label", "");
    label.append(box, " " + text);
    return label;
  }

  /* A box for each pattern of the match. */
  function writePatterns() {
    const list = make("ul", "", { className: "patterns" });
    for (const [kind, name] of patterns) {
      const item = make("li", "");
      item.append(ticked(name, !state.off.includes(kind), (isOn) => (state.off = isOn ? state.off.filter((one) => one !== kind) : [...state.off, kind])));
      list.append(item);
    }
    byId("alerts-patterns").replaceChildren(patterns.length ? list : make("p", "The match plays none."));
  }

  function controls() {
    const sound = ticked("Sound", state.sound, function (isOn) {
      state.sound = isOn;
      if (isOn) beep();
    });
    return [make("h2", "Alerts"), make("div", "", { id: "alerts-found" }), make("h3", "Patterns"), make("div", "", { id: "alerts-patterns" }), sound];
  }

  const alerts = {
    /* An event has appeared, or changed: an alert if it is a match of a pattern that is on, and new. */
    found(row, nowUs) {
      const known = found.get(row.id);
      if (!known && (nowUs - row.changed_us > FRESH_US || row.state === "withdrawn" || !T.find.isOf(row.kind, PATTERNS) || state.off.includes(row.kind))) return;
      found.set(row.id, row);
      if (found.size > FOUND_MAX) found.delete(found.keys().next().value);
      if (!known) announce(row);
      write();
    },
    toggled() {
      unseen = 0;
      write();
    },
    mount() {
      byId("alerts").replaceChildren(...controls());
      T.link.need("alerts", [PATTERNS]);
    },
    /* The patterns of the match, and alerts whose event has changed since. */
    take(message) {
      if (message.kinds) {
        patterns = message.kinds.filter(([kind]) => T.find.isOf(kind, PATTERNS));
        writePatterns();
      }
      for (const row of message.rows || []) if (found.has(row.id)) alerts.found(row, message.now_us);
    },
  };

  function announce(row) {
    if (byId("alerts").hidden) unseen += 1;
    const line = byId("alert-line");
    line.textContent = T.words.event(row);
    line.className = "alert-line " + (row.team || "");
    clearTimeout(hiding);
    hiding = setTimeout(() => (line.textContent = ""), LINE_MS);
    if (state.sound) beep();
  }

  T.alerts = alerts;
  T.link.handlers.push(alerts.take);
})();
