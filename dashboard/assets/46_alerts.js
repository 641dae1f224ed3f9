/* Alerts: rules on events, a list of what they have found, and a sound. Rules stay in the browser. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const KEY = "alerts";
  const FRESH_US = 5e6; // arrival time after which a change is history, such as that of a page that is opened
  const FOUND_MAX = 40;
  const LINE_MS = 8000;
  // Patterns of the match are alerts that somebody has written already (docs/patterns.md).
  const FIRST_RULES = ["goal.scored", "goal.own", "goal.disallowed", "official.var", "official.card", "sendoff", "pattern.*"];

  const byId = (id) => document.getElementById(id);
  const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
  const state = { rules: kept.rules || FIRST_RULES, sound: kept.sound || false };
  const found = new Map(); // newest last, by event id
  let unseen = 0;
  let hiding = null;
  let speaker = null;

  function remember() {
    localStorage.setItem(KEY, JSON.stringify(state));
    T.link.need("alerts", state.rules);
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
    const rules = make("ul", "", { className: "rules" });
    for (const rule of state.rules) {
      const item = make("li", rule + " ");
      const remove = make("button", "×", { type: "button", title: "Remove this rule", onclick: () => change(state.rules.filter((one) => one !== rule)) });
      remove.setAttribute("aria-label", "Remove the rule " + rule);
      item.append(remove);
      rules.append(item);
    }
    byId("alerts-found").replaceChildren(found.size ? list : make("p", "Nothing yet."));
    byId("alerts-rules").replaceChildren(rules);
  }

  function change(rules) {
    state.rules = rules;
    remember();
  }

  function controls() {
    const form = make("form", "");
    const kind = make("input", "", { type: "text", placeholder: "kind, or name.*", autocomplete: "off" });
    kind.setAttribute("list", "kinds");
    kind.setAttribute("aria-label", "Kind of a new rule");
    form.append(kind, make("button", "Add"));
    form.onsubmit = function (event) {
      event.preventDefault();
      const rule = kind.value.trim();
      kind.value = "";
      if (rule && !state.rules.includes(rule)) change([...state.rules, rule]);
    };
    const sound = make("input", "", { type: "checkbox", checked: state.sound });
    sound.onchange = function () {
      state.sound = sound.checked;
      if (state.sound) beep();
      remember();
    };
    const label = make("label", "");
    label.append(sound, " Sound");
    return [make("h2", "Alerts"), make("div", "", { id: "alerts-found" }), make("h3", "Rules"), make("div", "", { id: "alerts-rules" }), form, label];
  }

  const alerts = {
    /* An event has appeared, or changed: an alert if a rule names its kind, and if it is new. */
    found(row, nowUs) {
      const known = found.get(row.id);
      if (!known && (nowUs - row.changed_us > FRESH_US || row.state === "withdrawn" || !state.rules.some((rule) => T.find.isOf(row.kind, rule)))) return;
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
      T.link.need("alerts", state.rules);
    },
    /* Alerts whose event has changed since. */
    take(message) {
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
