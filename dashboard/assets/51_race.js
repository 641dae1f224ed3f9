/* Momentum by minute, the race of expected goals and the chance to win, in one small picture below the pitch. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const MINUTES = [15, 45, 90, 120, 180]; // the time that is drawn: the first that holds what was played

  let race = null;

  function total(side) {
    return race.shots.filter(([, team]) => team === side).reduce((sum, [, , xg]) => sum + xg, 0);
  }

  function draw() {
    const canvas = document.getElementById("race");
    if (!race || !canvas || !canvas.offsetParent) return;
    const box = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const played = Math.max(race.momentum.length, ...race.shots.map(([us]) => Math.ceil(us / 6e7)));
    const minutes = MINUTES.find((some) => some >= played) || played;
    const size = Math.max(11, Math.round(box.height / 5));
    const gap = 1.5 * size;
    // Without a clock of the match there is no chance to win.
    const parts = [momentum, expected, ...(race.win.length ? [chance] : [])];
    const wide = (box.width - gap * (parts.length - 1)) / parts.length;
    for (const part of parts) {
      part(pen, wide, box.height, size, minutes);
      pen.translate(wide + gap, 0);
    }
    canvas.setAttribute(
      "aria-label",
      "Expected goals " + T.words.team("home") + " " + total("home").toFixed(2) + ", " + T.words.team("away") + " " + total("away").toFixed(2) +
        "; momentum " + ((race.momentum.at(-1) || 0) >= 0 ? T.words.team("home") : T.words.team("away")) +
        (race.win.length ? "; chance to win " + T.words.team("home") + " " + percent(newest()[0]) + ", draw " + percent(newest()[1]) + ", " + T.words.team("away") + " " + percent(newest()[2]) : "")
    );
  }

  /* The newest chances: home wins, a draw, away wins. */
  function newest() {
    const [, home, away] = race.win.at(-1);
    return [home, Math.max(0, 1 - home - away), away];
  }

  const percent = (share) => Math.round(100 * share) + " %";

  function title(pen, text, x, size, align, colour) {
    pen.font = "600 " + size + 'px "Inter", sans-serif';
    pen.textAlign = align;
    pen.textBaseline = "top";
    pen.fillStyle = colour;
    pen.fillText(text, x, 0);
  }

  /* Bars: above the line home's momentum, below it away's. */
  function momentum(pen, wide, high, size, minutes) {
    title(pen, "Momentum", 0, size, "left", T.colours.soft);
    const top = 1.3 * size;
    const middle = top + (high - top) / 2;
    const most = Math.max(0.3, ...race.momentum.map(Math.abs));
    race.momentum.forEach((value, minute) => {
      const bar = (value / most) * (middle - top);
      pen.fillStyle = T.colours.team(value >= 0 ? "home" : "away");
      pen.fillRect((minute * wide) / minutes, Math.min(middle, middle - bar), Math.max(1, wide / minutes - 1), Math.abs(bar));
    });
    pen.fillStyle = T.colours.soft;
    pen.fillRect(0, middle - 0.5, wide, 1);
  }

  /* Steps: each shot adds its chance. */
  function expected(pen, wide, high, size, minutes) {
    title(pen, "xG", 0, size, "left", T.colours.soft);
    title(pen, total("home").toFixed(2), wide - 4 * size, size, "right", T.colours.home);
    title(pen, total("away").toFixed(2), wide, size, "right", T.colours.away);
    const top = 1.3 * size;
    const most = Math.max(1, total("home"), total("away"));
    const now = Math.max(race.momentum.length, ...race.shots.map(([us]) => us / 6e7));
    for (const side of ["home", "away"]) {
      let sum = 0;
      const y = () => high - 1.5 - (sum / most) * (high - top - 3);
      pen.beginPath();
      pen.moveTo(0, y());
      for (const [us, team, xg] of race.shots) {
        if (team !== side) continue;
        const x = ((us / 6e7) * wide) / minutes;
        pen.lineTo(x, y());
        sum += xg;
        pen.lineTo(x, y());
      }
      pen.lineTo((now * wide) / minutes, y());
      pen.lineWidth = 2;
      pen.strokeStyle = T.colours.team(side);
      pen.stroke();
    }
  }

  /* Layers: home wins below, away wins above, a draw between them. */
  function chance(pen, wide, high, size, minutes) {
    const [home, , away] = newest();
    title(pen, "To win", 0, size, "left", T.colours.soft);
    title(pen, percent(home), wide - 4 * size, size, "right", T.colours.home);
    title(pen, percent(away), wide, size, "right", T.colours.away);
    const top = 1.3 * size;
    const x = (us) => ((us / 6e7) * wide) / minutes;
    const end = Math.max(x(race.win.at(-1)[0]), (race.momentum.length * wide) / minutes);
    race.win.forEach(([us, ours, theirs], i) => {
      const until = i + 1 < race.win.length ? x(race.win[i + 1][0]) : end;
      const tall = high - top;
      for (const [team, from, share] of [["home", 0, ours], ["away", 1 - theirs, theirs]]) {
        pen.fillStyle = T.colours.team(team);
        pen.fillRect(x(us), high - (from + share) * tall, Math.max(1, until - x(us)), share * tall);
      }
    });
    pen.fillStyle = T.colours.soft;
    pen.fillRect(0, high - (high - top) / 2, wide, 1); // a half
  }

  function take(message) {
    if (!message.race) return;
    race = message.race;
    draw();
  }

  addEventListener("themechange", draw);
  T.link.handlers.push(take);
})();
