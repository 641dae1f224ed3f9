/* The timeline under the pitch: the events of the list in lanes by level, the last minute of them. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const SPAN_US = 60e6;
  const AHEAD_US = 1.5e6; // room on the right of now

  let canvas = null;
  let lanes = null;
  let rightUs = null; // end of the stretch that is shown
  let isHeld = false; // the pointer is over it: nothing moves under the mouse
  let drawn = ""; // what the picture shows
  let room = { width: 0, height: 0, size: 0 }; // of the canvas and its type, in pixels; asking for it in each frame would cost a layout

  /* The stretch moves on with the match; a moment that is held, and the pointer, keep it. */
  function advance() {
    const { us } = T.moment;
    const liveUs = T.scene.liveClock === null ? T.link.nowUs : T.scene.liveClock;
    if (us === null) {
      if (!isHeld || rightUs === null || liveUs < rightUs - SPAN_US) rightUs = liveUs + AHEAD_US;
    } else if (us > rightUs || us < rightUs - SPAN_US) rightUs = us + SPAN_US / 4;
    return us === null ? liveUs : us;
  }

  function fit() {
    const { width, height } = canvas.getBoundingClientRect();
    room = { width, height, size: parseFloat(getComputedStyle(canvas).fontSize) };
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    lanes.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawn = "";
  }

  function draw() {
    if (!lanes || !room.width) return;
    const nowUs = advance();
    const perPixel = SPAN_US / room.width;
    const selected = T.list.selected();
    const looks = [Math.floor(rightUs / perPixel), Math.floor(nowUs / perPixel), T.list.look(), selected && selected.id, T.colours.text];
    if (looks.join() === drawn) return;
    drawn = looks.join();
    const { width, height, size } = room;
    lanes.pen.clearRect(0, 0, width, height);
    const events = T.list.seen();
    const box = { x: 0, y: 3, width, height: height - 3 };
    lanes.draw(box, { events, fromUs: rightUs - SPAN_US, toUs: rightUs, nowUs, size, colour: T.colours, chosen: selected && selected.id });
  }

  function point(event) {
    const found = lanes && lanes.under(event.offsetX, event.offsetY);
    canvas.style.cursor = found ? "pointer" : "";
    canvas.title = found ? T.words.event(found) + ", " + found.state : "";
  }

  function choose(event) {
    const found = lanes && lanes.under(event.offsetX, event.offsetY);
    if (found) T.list.select(found.id);
    else if (lanes) T.moment.go(lanes.time(event.offsetX), null);
  }

  T.lanes = {
    async mount() {
      canvas = document.getElementById("lanes");
      canvas.addEventListener("pointerenter", () => (isHeld = true));
      canvas.addEventListener("pointerleave", () => (isHeld = false));
      canvas.addEventListener("pointermove", point);
      canvas.addEventListener("click", choose);
      const { Lanes } = await import("/pages/shared/lanes.js");
      lanes = new Lanes(canvas.getContext("2d"));
      new ResizeObserver(fit).observe(canvas);
    },
    /* Called for each frame. */
    draw,
    /* The list begins anew: lanes without events go. */
    reset: () => lanes && lanes.reset(),
    /* What is drawn, for tests: [event id, x, y] in pixels of the page. */
    dots: () => (lanes ? lanes.dots.map(([event, x, y]) => [event.id, x, y]) : []),
  };
})();
