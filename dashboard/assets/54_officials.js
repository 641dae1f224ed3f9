/* The officials' panel: keys, questions, the form of a correction, and what was entered. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const US = 1e6;
  const REFRESH_MS = 4000;

  const byId = (id) => document.getElementById(id);
  let pending = null;
  let kinds = null;
  let corrected = null; // the row that the form is about

  const panel = { entered: [] };

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function say(text, failed) {
    const line = byId("officials-answer");
    line.textContent = text;
    line.classList.toggle("failed", Boolean(failed));
  }

  panel.words = function (one) {
    const { kind, variant, player, other, team, event, at_s } = one.decision;
    const who = [player, other].filter((id) => id).map(T.words.last).join(" for ") || T.words.team(team);
    const about = event ? event.split("#")[0] : "";
    const what = [kind.replace("_", " "), variant, about, who].filter((part) => part).join(", ");
    return "#" + one.number + " " + (at_s === undefined || at_s === null ? "" : T.words.clock(at_s * US, 0) + " ") + what;
  };

  /* ---- what was entered ---- */

  function showEntered() {
    const shown = panel.entered.filter((one) => one.decision.undoes === undefined).slice(-5).reverse();
    byId("officials-entered").replaceChildren(
      ...shown.map((one) => {
        const line = make("li", one.undone ? "undone" : "", panel.words(one));
        const when = one.decision.entered ? new Date(one.decision.entered).toLocaleTimeString("en-GB") : "";
        line.append(make("small", "", " " + one.by + (when ? " " + when : "") + (one.undone ? ", undone" : "")));
        return line;
      })
    );
  }

  async function refresh() {
    const view = byId("officials");
    if (!T.words.sheet || !view || view.hidden) return;
    try {
      panel.entered = await T.decisions.list();
      kinds = kinds || (await T.decisions.kinds());
      showEntered();
    } catch (error) {
      say(error.message, true);
    }
  }

  async function submit(work) {
    cancel();
    say("Sending");
    try {
      const entered = await work();
      await refresh();
      say("Entered " + entered.map((one) => panel.words(one)).join("; "));
    } catch (error) {
      say(error.message, true);
    }
  }

  /* ---- questions ---- */

  function cancel() {
    pending = corrected = null;
    byId("officials-ask").replaceChildren(make("p", "hint", "A letter, then a digit. Escape cancels."));
    for (const button of byId("officials-keys").children) button.removeAttribute("aria-pressed");
  }

  function ask() {
    const { question, options } = T.decisions.choices(pending);
    if (!options.length && !T.decisions.takesPlayer(pending)) {
      const none = pending.command.none || "Nothing to choose from.";
      cancel();
      say(none, true);
      return;
    }
    const at = pending.at_us === null ? "" : " at " + T.words.clock(pending.at_us, 0);
    const typed = T.decisions.takesPlayer(pending) ? " Or h/a, shirt, Enter: " + (pending.typed || "…") : "";
    const list = make("div", "choices");
    options.forEach((option, index) => {
      const button = make("button", "choice " + (option.team || ""));
      button.type = "button";
      button.append(make("kbd", "", String(index + 1)), " " + option.text);
      button.onclick = () => choose(option);
      list.append(button);
    });
    byId("officials-ask").replaceChildren(make("p", "hint", pending.command.label + at + ". " + question + typed), list);
  }

  function choose(option) {
    Object.assign(pending.chosen, option.values);
    pending.step += 1;
    pending.typed = "";
    if (pending.step < pending.command.steps.length) return ask();
    const done = pending;
    const work = done.command.undo ? () => T.decisions.undo(option.number) : () => T.decisions.enter(T.decisions.made(done));
    return submit(work);
  }

  function start(command) {
    cancel();
    if (command.form) return correct(T.list.selected(), command);
    const button = [...byId("officials-keys").children].find((one) => one.dataset.key === command.key);
    if (button) button.setAttribute("aria-pressed", "true");
    pending = T.decisions.begin(command);
    say("");
    if (!command.steps.length) {
      const done = pending;
      return submit(() => T.decisions.enter(T.decisions.made(done)));
    }
    return ask();
  }

  /* ---- correction ---- */

  function field(label, input) {
    const wrapped = make("label", "", label + " ");
    wrapped.append(input);
    return wrapped;
  }

  function chooser(options, value) {
    const select = make("select");
    for (const [name, text] of options) {
      const option = make("option", "", text);
      option.value = name;
      option.selected = name === value;
      select.append(option);
    }
    return select;
  }

  async function correct(row, command) {
    if (!row) return say(command.none, true);
    if (!kinds) {
      say("Reading what can be corrected");
      try {
        kinds = await T.decisions.kinds();
      } catch (error) {
        return say(error.message, true);
      }
    }
    if (!kinds.correctable.includes(row.kind)) return say("A " + row.kind + " cannot be corrected.", true);
    corrected = row;
    const form = make("form", "correction");
    const named = new Set([row.kind, ...kinds.right_kinds]);
    const kind = chooser([...named].map((one) => [one, one]), row.kind);
    const ids = [...new Set([...T.scene.players.keys(), ...T.scene.bodies.keys()])].filter((id) => T.scene.team(id));
    const player = chooser([["", "–"], ...ids.map((id) => [id, T.words.team(T.scene.team(id)) + " " + T.words.player(id)])], row.player);
    const time = make("input");
    Object.assign(time, { type: "number", step: "0.1", value: (row.ts_us / US).toFixed(1) });
    const button = make("button", "", "Correct (Enter)");
    form.append(make("p", "hint", T.words.event(row)), field("Kind", kind), field("Player", player), field("Second", time), button);
    form.onsubmit = function (event) {
      event.preventDefault();
      const right = { kind: "correction", event: row.id };
      if (kind.value !== row.kind) right.right_kind = kind.value;
      if (player.value && player.value !== row.player) Object.assign(right, { player: player.value, team: T.scene.team(player.value) });
      if (time.value !== (row.ts_us / US).toFixed(1)) right.right_s = Number(time.value);
      if (Object.keys(right).length === 2) return say("Nothing is different.", true);
      return submit(() => T.decisions.enter(right));
    };
    byId("officials-ask").replaceChildren(form);
    kind.focus();
    return say("");
  }

  /* ---- keys ---- */

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !T.words.sheet) return;
    const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape" && (pending || corrected)) {
      if (typing) event.target.blur();
      cancel();
      say("");
    } else if (typing) return;
    else if (event.key === "o") panel.toggle();
    else if (byId("officials").hidden || !act(event)) return;
    event.preventDefault();
  }

  /* Does what a key means in the open panel; false if it means nothing. */
  function act(event) {
    if (pending) return answered(event.key);
    const command = T.decisions.COMMANDS.find((one) => one.key === event.key);
    if (command) start(command);
    return Boolean(command);
  }

  function answered(pressed) {
    const option = /^[1-9]$/.test(pressed) && !pending.typed && T.decisions.choices(pending).options[Number(pressed) - 1];
    if (option) choose(option);
    else if (T.decisions.takesPlayer(pending) && pressed === "Enter") {
      const player = T.decisions.named(pending);
      if (player) choose(player);
      else say("No player " + (pending.typed || "typed") + ".", true);
    } else if (T.decisions.takesPlayer(pending) && (pending.typed ? /^\d$/ : /^[ha]$/).test(pressed)) {
      pending.typed += pressed;
      ask();
    } else if (T.decisions.takesPlayer(pending) && pressed === "Backspace") {
      pending.typed = pending.typed.slice(0, -1);
      ask();
    } else return false;
    return true;
  }

  panel.toggle = function () {
    const hidden = !byId("officials").hidden;
    byId("officials").hidden = hidden;
    T.keys.officials(!hidden);
    byId("officials-toggle").setAttribute("aria-expanded", String(!hidden));
    localStorage.setItem("officials", hidden ? "" : "open");
    cancel();
    refresh();
  };

  /* The token of an operator, which the page holds until its tab is closed. */
  function access() {
    const form = make("form");
    const token = make("input");
    Object.assign(token, { type: "password", id: "officials-token", autocomplete: "off", value: sessionStorage.getItem("token") || "" });
    token.addEventListener("change", () => sessionStorage.setItem("token", token.value));
    form.onsubmit = function (event) {
      event.preventDefault();
      token.blur();
    };
    form.append(field("Operator's token", token));
    return form;
  }

  panel.mount = function () {
    byId("officials-access").replaceChildren(access());
    byId("officials-keys").replaceChildren(
      ...T.decisions.COMMANDS.map((command) => {
        const button = make("button");
        button.type = "button";
        button.dataset.key = command.key;
        button.append(make("kbd", "", command.key.toUpperCase()), " " + command.label);
        button.onclick = () => start(command);
        return button;
      })
    );
    byId("officials-toggle").onclick = panel.toggle;
    document.addEventListener("keydown", key);
    cancel();
    if (localStorage.getItem("officials")) panel.toggle();
    setInterval(refresh, REFRESH_MS);
  };

  T.link.handlers.push((message) => message.sheet && refresh());
  T.officials = panel;
})();
