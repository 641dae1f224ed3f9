/* Search among the events, and what is followed: a player or a kind. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  let names = new Map(); // kind -> name of all kinds so far
  const find = {
    text: "",
    player: null,
    kind: null,
    group: new Set(), // players with a line or a hull over them
  };

  /* True if a kind is that of a rule: the same, or one of `name.*`. */
  find.isOf = (kind, rule) => kind === rule || (rule.endsWith("*") && kind.startsWith(rule.slice(0, -1)));

  find.isFollowed = (kind) => find.kind !== null && find.isOf(kind, find.kind);

  /* True if a line of the list is wanted. */
  find.takes = function (line) {
    const rows = [...line.rows.values()];
    return (
      (!find.text || find.text.split(/\s+/).every((word) => line.search.includes(word))) &&
      (!find.player || rows.some((row) => row.player === find.player || row.other === find.player)) &&
      (!find.kind || rows.some((row) => find.isFollowed(row.kind)))
    );
  };

  /* Follows a player or a kind; the same one again, or none: no longer. */
  find.follow = function (what, value) {
    find[what] = find[what] === value ? null : value || null;
    if (what === "kind") T.link.need("followed", find.kind ? [find.kind] : []);
    write();
    T.list.review();
  };

  /* Takes a player into the group, or out of it; nobody empties it. */
  find.gather = function (player) {
    if (!player) find.group.clear();
    else if (!find.group.delete(player)) find.group.add(player);
    write();
  };

  function chip(text, title, act) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: text + " ×", title, onclick: act });
    return button;
  }

  function write() {
    const view = document.getElementById("followed");
    const named = (what) => (what === "player" ? T.words.player(find.player) : names.get(find.kind) || find.kind);
    const chips = ["player", "kind"].filter((what) => find[what])
      .map((what) => chip("Following " + named(what), "No longer follow", () => find.follow(what, null)));
    if (find.group.size) chips.push(chip("Line over " + [...find.group].map(T.words.last).join(", "), "No longer draw it", () => find.gather(null)));
    view.hidden = !chips.length;
    view.replaceChildren(...chips);
  }

  find.mount = function () {
    const field = document.createElement("input");
    Object.assign(field, { type: "search", id: "search", placeholder: "Search (/)", autocomplete: "off" });
    field.setAttribute("aria-label", "Search kind, player or team");
    field.oninput = function () {
      find.text = field.value.trim().toLowerCase();
      T.list.review();
    };
    field.onkeydown = function (event) {
      if (event.key === "Escape") field.blur();
    };
    document.getElementById("find").replaceChildren(field);
  };

  find.take = function (message) {
    if (!message.kinds) return;
    names = new Map(message.kinds);
    const options = message.kinds.map(([kind, name]) => {
      const option = document.createElement("option");
      option.value = kind;
      option.label = name;
      return option;
    });
    document.getElementById("kinds").replaceChildren(...options);
  };

  T.find = find;
  T.link.handlers.push(find.take);
})();
