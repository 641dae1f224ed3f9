/* The colours of the canvases: tokens of the theme, and the kits of the match sheet where they can be told apart. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const NAMES = ["home", "away", "home-ink", "away-ink", "soft", "text", "ground", "panel", "edge", "withdrawn", "camera", "grass", "grass-light", "surround", "line"];
  const APART = 90; // least distance of two kits in sRGB, of 441: nearer ones look alike in a crowd
  const FROM_GRASS = 60;

  const colours = {};
  let kits = {};

  const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const distance = (a, b) => Math.hypot(...rgb(a).map((value, i) => value - rgb(b)[i]));

  /* Relative luminance (WCAG 2.2). */
  function luminance(text) {
    const [r, g, b] = rgb(text).map((value) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  /* Both kits if they can be told from each other and from the grass, also in shades of grey; else none. */
  function usable({ home, away }, grass) {
    if (!home || !away || distance(home, away) < APART) return false;
    const light = [home, away].map(luminance);
    const contrast = (Math.max(...light) + 0.05) / (Math.min(...light) + 0.05);
    return contrast >= 1.25 && [home, away].every((kit) => distance(kit, grass) >= FROM_GRASS);
  }

  colours.read = function () {
    const root = document.documentElement;
    for (const side of ["home", "away"]) for (const part of ["", "-ink"]) root.style.removeProperty("--" + side + part);
    const value = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
    if (usable(kits, value("grass"))) {
      for (const side of ["home", "away"]) {
        root.style.setProperty("--" + side, kits[side]);
        root.style.setProperty("--" + side + "-ink", luminance(kits[side]) > 0.18 ? "#10161b" : "#ffffff");
      }
    }
    for (const name of NAMES) colours[name] = value(name);
  };

  /* Colour of a team's discs and lines; of nobody without a team. */
  colours.team = (side) => colours[side] || colours.soft;
  colours.ink = (side) => colours[side + "-ink"] || colours.ground;

  colours.take = function (message) {
    if (!message.sheet) return;
    kits = { home: message.sheet.home_colour, away: message.sheet.away_colour };
    dispatchEvent(new Event("themechange"));
  };

  addEventListener("themechange", colours.read);
  colours.read();
  T.colours = colours;
  T.link.handlers.push(colours.take);
})();
