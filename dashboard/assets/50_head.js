/* Score, clock, state of play, state of the connection and of the data, and the figures of the engine. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const STATUS = {
    connecting: "Connecting",
    waiting: "No data yet",
    reading: "Reading",
    live: "Live",
    doubtful: "Live, doubtful",
    stale: "Stale",
    lost: "Connection lost",
    ended: "Ended",
  };

  const ROWS = 5; // of a table of the strip that are seen at once

  const byId = (id) => document.getElementById(id);
  let totals = null;
  let score = { home: 0, away: 0, home_provisional: 0, away_provisional: 0 };
  let shownStatus = "";
  let dismissed = false;
  let problems = [];

  function write(id, text) {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
  }

  function takeScore(next) {
    score = next;
    for (const team of ["home", "away"]) {
      const waiting = score[team + "_provisional"];
      write(team + "-goals", String(score[team]));
      write(team + "-provisional", waiting ? waiting + " tentative" : "");
      byId(team + "-goals").classList.toggle("tentative", waiting > 0);
    }
  }

  function takePlay(message) {
    write("play", { live: "In play", dead: "Out of play" }[message.play] || "");
    // A dead ball belongs to no team; the chip next to this one shows that it is dead.
    const holder = message.possession === "dead" ? "" : message.possession;
    write("possession", T.words.team(holder) ? "Ball: " + T.words.team(holder) : holder ? "Ball: " + holder : "");
    for (const team of ["home", "away"]) byId(team + "-name").classList.toggle("holds", holder === team);
    write("minute", message.minute ? message.minute + "′" + (message.added ? " (+" + message.added + ")" : "") : "");
  }

  /* Shows the tables. One with more rows than fit is scrolled through, and stays where it is when it is shown anew. */
  function strip(tables) {
    const all = byId("strip-tables");
    tables.forEach((data, at) => {
      const old = all.children[at];
      const scrolls = data.rows.length > ROWS;
      if (scrolls && old && old.className === "scroll") old.replaceChildren(table(data));
      else if (old) old.replaceWith(scrolls ? scrolled(data) : table(data));
      else all.append(scrolls ? scrolled(data) : table(data));
    });
    while (all.children.length > tables.length) all.lastChild.remove();
  }

  function scrolled(data) {
    const place = document.createElement("div");
    for (const [name, value] of Object.entries({ class: "scroll", tabindex: "0", role: "region", "aria-label": data.title })) place.setAttribute(name, value);
    place.append(table(data));
    return place;
  }

  function table(data) {
    const element = document.createElement("table");
    const head = element.createTHead().insertRow();
    for (const text of [data.title, ...data.columns]) {
      const th = document.createElement("th");
      th.textContent = text;
      head.append(th);
    }
    const body = element.createTBody();
    for (const row of data.rows) {
      const tr = body.insertRow();
      for (const text of row) {
        const cell = tr.insertCell();
        cell.textContent = cell.title = text;
      }
    }
    if (!data.rows.length) body.insertRow().insertCell().textContent = "no figures yet";
    return element;
  }

  T.head = {
    take(message) {
      if (message.sheet) {
        write("home-name", message.sheet.home);
        write("away-name", message.sheet.away);
        document.title = message.sheet.home + " – " + message.sheet.away + " · Touchline";
      }
      if (message.clock_us !== undefined) write("clock", T.words.clock(message.clock_us, 1));
      if (message.score) takeScore(message.score);
      if (message.play !== undefined) takePlay(message);
      if (message.strip) strip(message.strip);
      if (message.watermark !== undefined) write("watermark", message.watermark);
      if (message.totals) totals = message.totals;
      if (message.problems) problems = message.problems;
      if (message.ended && shownStatus === "ended" && message.totals) finalCard();
    },

    /* Closes the card of the end for good; true if it was open. */
    dismiss() {
      const element = byId("banner");
      const isOpen = !element.hidden && element.classList.contains("card");
      if (isOpen) element.hidden = dismissed = true;
      return isOpen;
    },

    /* Shows the state of the connection: a picture that no longer moves must not look like a quiet match. */
    status(now) {
      const link = T.link.status(now);
      const status = link === "live" && problems.length ? "doubtful" : link;
      byId("status").title = status === "doubtful" ? problems.join("; ") : "";
      if (status === "stale" || status === "lost") {
        const since = ((now - (status === "stale" ? T.link.dataAt : T.link.heardAt || T.link.openedAt)) / 1000).toFixed(1);
        banner(
          status === "stale" ? "No new positions for " + since + " s" :
          "Connection to Touchline lost " + since + " s ago. " + (T.link.refusal ? "It says: " + T.link.refusal + ". " : "") + "Trying again."
        );
      }
      // The card would hide the moment that somebody looks at.
      if (status === "ended" && T.moment.us !== null) T.head.dismiss();
      if (status === shownStatus) return;
      shownStatus = status;
      document.body.dataset.status = status;
      write("status", STATUS[status]);
      if (status === "live" || status === "doubtful") byId("banner").hidden = true;
      if (status === "connecting") banner("Connecting");
      if (status === "waiting") banner("No data yet. Waiting for the first positions.");
      if (status === "reading") banner("Reading the match from its store.");
      if (status === "ended") finalCard();
    },
  };

  function banner(text) {
    const element = byId("banner");
    element.className = "banner";
    element.hidden = false;
    delete element.dataset.sum;
    if (element.textContent !== text) element.textContent = text;
  }

  function part(tag, className, text) {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  }

  function finalCard() {
    const element = byId("banner");
    if (dismissed || !totals || !T.words.sheet) return;
    element.className = "banner card";
    element.hidden = false;
    const close = part("button", "close", "Close");
    close.title = "Close (Esc)";
    close.onclick = T.head.dismiss;
    const result = part("p", "result", T.words.sheet.home + " " + score.home + " – " + score.away + " " + T.words.sheet.away);
    const kinds = part("dl", "totals", "");
    for (const [title, count] of totals.by_kind.slice(0, 12)) {
      kinds.append(part("dt", "", title), part("dd", "", count.toLocaleString("en")));
    }
    const unconfirmed = score.home_provisional + score.away_provisional;
    const sum = unconfirmed ? "Goals never confirmed: " + unconfirmed : "";
    if (element.dataset.sum === result.textContent + sum) return;
    element.dataset.sum = result.textContent + sum;
    element.replaceChildren(part("h2", "", "Stream ended"), result, kinds, part("p", "sum", sum), close);
  }

  T.link.handlers.push(T.head.take);
})();
