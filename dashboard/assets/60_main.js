/* Puts the parts together once Dash has made the page, and keeps time. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  /* Frames drawn since the page opened, for the figure on the page and for measuring. */
  T.stats = { frames: 0, messages: 0 };
  T.link.handlers.push(() => (T.stats.messages += 1));

  function frame(now) {
    T.scene.step(now);
    T.draw();
    T.stats.frames += 1;
    requestAnimationFrame(frame);
  }

  function everySecond() {
    T.head.rate(T.stats.frames - (everySecond.before || 0));
    everySecond.before = T.stats.frames;
  }

  let mounted = false;

  function mount() {
    if (mounted) return;
    mounted = true;
    T.draw.mount(document.getElementById("overlay"));
    T.list.mount(document.getElementById("events"));
    T.link.start();
    setInterval(everySecond, 1000);
    setInterval(() => T.head.status(performance.now()), 200);
    requestAnimationFrame(frame);
  }

  /* Dash calls this when the page stands, and again whenever a filter is switched. */
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    touchline: {
      filter(families, states) {
        mount();
        T.link.show(families);
        T.list.states(states);
        return { families: families, states: states };
      },
    },
  });
})();
