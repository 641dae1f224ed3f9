/* What an operator can decide: the steps of each decision, and the API that takes it.

   A decision is a letter and then one choice for each step. Choices have digits, so most decisions take two keys. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const CHOICES_MAX = 9;
  const US = 1e6;

  /* ---- the API ---- */

  const path = () => "api/v1/matches/" + encodeURIComponent(T.words.sheet.match_id) + "/decisions";

  function token() {
    return sessionStorage.getItem("token") || "";
  }

  async function answer(response) {
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    let reason = text.trim();
    try {
      const detail = JSON.parse(text).detail;
      reason = typeof detail === "string" ? detail : detail.map((one) => one.msg).join("; ");
    } catch {
      // the access check refuses in plain text
    }
    throw new Error(response.status === 401 ? "An operator's token is needed, at the top of this panel." : reason);
  }

  const send = (where, body) =>
    fetch(path() + where, {
      method: "POST",
      headers: { Authorization: "Bearer " + token(), "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    }).then(answer);

  const decisions = {
    enter: (decision) => send("", decision),
    undo: (number) => send("/" + number + "/undo"),
    list: () => fetch(path()).then(answer),
    kinds: () => fetch(path() + "/kinds").then(answer),
  };

  /* ---- choices ---- */

  const other = (team) => (team === "home" ? "away" : "home");

  /* The players on the pitch, nearest to the ball first. */
  function nearBall() {
    const ball = T.scene.ball;
    const near = ([, body]) => (ball ? Math.hypot(body.to[0] - ball.to[0], body.to[1] - ball.to[1]) : 0);
    return [...T.scene.bodies].filter(([id]) => T.scene.team(id)).sort((a, b) => near(a) - near(b)).map(([id]) => id);
  }

  const asPlayer = (id) => ({ text: T.words.player(id), team: T.scene.team(id), values: { team: T.scene.team(id), player: id } });

  const players = () => nearBall().map(asPlayer);

  const substitutes = (chosen) =>
    [...T.scene.players.values()]
      .filter((player) => player.team === chosen.team && !T.scene.bodies.has(player.object_id))
      .map((player) => asPlayer(player.object_id));

  const leaving = () => players().map((one) => ({ ...one, values: { team: one.values.team, other: one.values.player } }));

  const teams = () => ["home", "away"].map((team) => ({ text: T.words.team(team), team, values: { team } }));

  const variants = (...names) => () => names.map(([variant, text]) => ({ text, values: { variant } }));

  /* Goals that stand, newest first: who decides about one names its team and its time. */
  function goals() {
    return T.list
      .rows((row) => ["goal.scored", "goal.own"].includes(row.kind) && row.state !== "withdrawn")
      .map((row) => ({
        text: T.words.clock(row.ts_us, 0) + " " + (row.player ? T.words.player(row.player) : T.words.team(row.team)),
        team: row.team,
        values: { team: row.team, at_s: row.ts_us / US, ...(row.kind === "goal.own" ? { variant: "own" } : {}) },
      }));
  }

  /* The goal that a decision against one is about. */
  function against() {
    const [newest] = goals();
    const about = newest ? { team: newest.values.team, at_s: newest.values.at_s } : {};
    const reasons = [["offside", "Offside"], ["foul", "Foul"], ["handball", "Handball"], ["", "No reason"]];
    return newest ? reasons.map(([variant, text]) => ({ text, team: newest.team, values: { ...about, variant } })) : [];
  }

  function undoable() {
    const open = T.officials.entered.filter((one) => !one.undone && one.decision.undoes === undefined).reverse();
    return open.map((one) => ({ text: T.officials.words(one), number: one.number }));
  }

  function withdrawal() {
    const row = T.list.selected();
    return row ? [{ text: "Withdraw: " + T.words.event(row), team: row.team, values: { event: row.id } }] : [];
  }

  /* Each: key, label, the decision, its steps, and what to say if a step has nothing to choose from. */
  const COMMANDS = [
    { key: "y", label: "Yellow card", kind: "card", fixed: { variant: "yellow" }, steps: [["Who?", players]] },
    { key: "r", label: "Red card", kind: "card", fixed: { variant: "red" }, steps: [["Who?", players]] },
    { key: "f", label: "Foul by", kind: "foul", steps: [["Who?", players]] },
    { key: "v", label: "VAR", kind: "var", steps: [["Review:", variants(["check", "Check"], ["over", "Check over"], ["goal", "Goal"], ["no goal", "No goal"], ["penalty", "Penalty"], ["no penalty", "No penalty"], ["red card", "Red card"], ["no red card", "No red card"])]] },
    { key: "s", label: "Substitution", kind: "substitution", steps: [["Off:", leaving], ["On:", substitutes]] },
    { key: "g", label: "Goal stands", kind: "goal", steps: [["Which?", goals]], none: "No goal stands." },
    { key: "n", label: "No goal", kind: "no_goal", steps: [["Why?", against]], none: "No goal stands." },
    { key: "p", label: "Penalty for", kind: "penalty", steps: [["Team:", teams]] },
    { key: "i", label: "Offside of", kind: "offside", steps: [["Team:", teams]] },
    { key: "w", label: "Whistle", kind: "stop", steps: [["Why?", variants(["", "Stop"], ["foul", "Foul"], ["offside", "Offside"], ["injury", "Injury"], ["substitution", "Substitution"], ["var", "VAR"])]] },
    { key: "l", label: "Play on", kind: "resume", steps: [] },
    { key: "x", label: "Withdraw", kind: "void", steps: [["Sure?", withdrawal]], none: "Choose an event in the list." },
    { key: "e", label: "Correct", form: true, none: "Choose an event in the list." },
    { key: "u", label: "Undo", undo: true, steps: [["Which?", undoable]], none: "Nothing to undo." },
  ];

  /* A decision on its way: the command, the moment of its first key, and what has been chosen. */
  function begin(command) {
    return { command, at_us: T.scene.clock, chosen: {}, step: 0, typed: "" };
  }

  /* The choices of the step that a decision has come to, at most nine of them with a digit. */
  function choices(pending) {
    const [question, options] = pending.command.steps[pending.step];
    return { question, options: options(pending.chosen).slice(0, CHOICES_MAX) };
  }

  /* The player that typed letters name: h or a, then the number of the shirt. */
  function named(pending) {
    const typed = /^([ha])(\d+)$/.exec(pending.typed);
    if (!typed) return null;
    const team = typed[1] === "h" ? "home" : "away";
    const ids = new Set([...T.scene.players.keys(), ...T.scene.bodies.keys()]);
    const id = [...ids].find((one) => T.scene.team(one) === team && T.scene.shirt(one) === typed[2]);
    if (!id) return null;
    const leaves = pending.command.kind === "substitution" && pending.step === 0;
    return leaves ? { values: { team, other: id } } : asPlayer(id);
  }

  /* True if the step asks for a player, so that one can be typed. */
  const takesPlayer = (pending) => [players, leaving, substitutes].includes(pending.command.steps[pending.step][1]);

  /* The decision as the API takes it. */
  function made(pending) {
    const { command, chosen, at_us } = pending;
    const at = command.kind === "void" || at_us === null ? {} : { at_s: at_us / US };
    return { kind: command.kind, ...at, ...command.fixed, ...chosen };
  }

  Object.assign(decisions, { COMMANDS, begin, choices, named, takesPlayer, made, other });
  T.decisions = decisions;
})();
