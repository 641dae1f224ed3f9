/* Puts the parts together once Dash has made the page, and keeps time. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  /* Frames drawn since the page opened, for measuring. */
  T.stats = { frames: 0, messages: 0 };
  T.link.handlers.push(() => (T.stats.messages += 1));

  function frame(now) {
    T.scene.step(now);
    T.moment.step(now);
    T.draw(now);
    T.lanes.draw();
    T.stats.frames += 1;
    requestAnimationFrame(frame);
  }

  function mount() {
    T.draw.mount(document.getElementById("overlay"));
    T.list.mount(document.getElementById("events"));
    T.find.mount();
    T.lanes.mount();
    T.layers.mount();
    T.alerts.mount();
    T.keys.mount();
    T.officials.mount();
    T.filters.mount();
    T.link.start();
    setInterval(() => T.head.status(performance.now()), 200);
    requestAnimationFrame(frame);
  }

  /* Dash calls this when the page stands. */
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    touchline: {
      mount() {
        mount();
        return true;
      },
    },
  });
})();
