/* Momentum by minute and the race of expected goals, in one small picture below the pitch. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const MINUTES = 90;

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
    const minutes = Math.max(MINUTES, race.momentum.length, ...race.shots.map(([us]) => Math.ceil(us / 6e7)));
    const size = Math.max(11, Math.round(box.height / 5));
    const gap = 1.5 * size;
    const wide = (box.width - gap) / 2;
    momentum(pen, wide, box.height, size, minutes);
    pen.translate(wide + gap, 0);
    expected(pen, wide, box.height, size, minutes);
    canvas.setAttribute(
      "aria-label",
      "Expected goals " + T.words.team("home") + " " + total("home").toFixed(2) + ", " + T.words.team("away") + " " + total("away").toFixed(2) +
        "; momentum " + ((race.momentum.at(-1) || 0) >= 0 ? T.words.team("home") : T.words.team("away"))
    );
  }

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

  function take(message) {
    if (!message.race) return;
    race = message.race;
    draw();
  }

  addEventListener("themechange", draw);
  T.link.handlers.push(take);
})();
