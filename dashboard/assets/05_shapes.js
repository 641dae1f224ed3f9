/* Shapes and lines that the live page and the replay room draw alike. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  /* The ball at height `z` metres: the shadow stays on the ground, the ball rises above it on a stem and grows. Returns
     its radius and how far above the ground it is drawn, in pixels. */
  T.ballShape = function (pen, x, ground, z, scale) {
    const height = Math.max(0, z);
    const lift = Math.min(90, height * scale * 0.8);
    const radius = Math.max(4.5, 0.5 * scale) * (1 + Math.min(1, height / 12));
    pen.fillStyle = "rgba(0, 0, 0, 0.55)";
    pen.beginPath();
    pen.ellipse(x + 1, ground + 2, radius, radius * 0.6, 0, 0, 2 * Math.PI);
    pen.fill();
    if (lift > 2) {
      pen.strokeStyle = "rgba(255, 255, 255, 0.5)";
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x, ground);
      pen.lineTo(x, ground - lift);
      pen.stroke();
    }
    pen.beginPath();
    pen.arc(x, ground - lift, radius, 0, 2 * Math.PI);
    pen.fillStyle = "#ffffff";
    pen.fill();
    pen.lineWidth = 1.6;
    pen.strokeStyle = "#10161b";
    pen.stroke();
    return { radius, lift };
  };

  /* Convex hull of points, counter-clockwise (Andrew's monotone chain). */
  T.hull = function (points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    const half = (ordered) => {
      const chain = [];
      for (const point of ordered) {
        while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
        chain.push(point);
      }
      return chain.slice(0, -1);
    };
    return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
  };

  /* The offside line against a team that attacks towards `sign` x: the second last opponent, the ball or the halfway
     line, whichever is nearest to the goal line. */
  T.offsideLine = function (opponents, ballX, sign) {
    const depths = opponents.map((one) => one.x * sign).sort((a, b) => b - a);
    if (depths.length < 2) return null;
    return sign * Math.max(depths[1], ballX === null ? 0 : ballX * sign, 0);
  };
})();
