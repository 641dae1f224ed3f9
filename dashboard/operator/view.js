/* What a camera would see, drawn from its mount and pose: pitch, goals, players, ball. The geometry is that of
   camera/mount.py; tests/dashboard/test_operator_page.py compares both. */
(function () {
  "use strict";

  const T = (window.operator = window.operator || {});

  const TEAM = { home: "#f2b23e", away: "#5db2f5" };
  const NEAR_M = 0.5;
  const BODY_M = 1.8;
  const POST_M = 2.44;

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const sum = (a, s, b, t, c, u) => [0, 1, 2].map((i) => a[i] * s + b[i] * t + c[i] * u);
  const rad = (deg) => (deg * Math.PI) / 180;

  function axes(bearing, tilt) {
    const b = rad(bearing);
    const t = rad(tilt);
    return [
      [Math.cos(b) * Math.cos(t), Math.sin(b) * Math.cos(t), Math.sin(t)],
      [Math.sin(b), -Math.cos(b), 0],
      [-Math.cos(b) * Math.sin(t), -Math.sin(b) * Math.sin(t), Math.cos(t)],
    ];
  }

  /* Unit vectors forward, right and up of a camera that looks in a direction of its head. */
  function base(mount, pose) {
    const [forward, right, up] = axes(mount.heading_deg, mount.tilt_offset_deg);
    const c = Math.cos(rad(mount.roll_deg));
    const s = Math.sin(rad(mount.roll_deg));
    const across = sum(right, c, up, -s, up, 0);
    const above = sum(right, s, up, c, up, 0);
    return axes(-pose.pan_deg, pose.tilt_deg).map(([x, y, z]) => sum(forward, x, across, -y, above, z));
  }

  /* Function that gives a point in the camera's own frame: metres forward, to the right, up. */
  function eye(mount, pose) {
    const frame = base(mount, pose);
    return (point) => {
      const offset = [point[0] - mount.x_m, point[1] - mount.y_m, point[2] - mount.z_m];
      return frame.map((axis) => dot(offset, axis));
    };
  }

  /* Place of a point in the picture: x and y from -1 to 1, right and up; null behind the camera. */
  T.project = function (camera, point) {
    const [depth, right, up] = eye(camera.mount, camera.pose)(point);
    const half = Math.tan(rad(camera.pose.width_deg / 2));
    return depth <= 0 ? null : [right / (depth * half), (up * camera.aspect) / (depth * half)];
  };

  /* The part of a polygon or line that lies in front of the camera. */
  function clipped(points, closed) {
    const found = [];
    points.forEach((b, i) => {
      if (i === 0 && !closed) {
        if (b[0] >= NEAR_M) found.push(b);
        return;
      }
      const a = points[(i + points.length - 1) % points.length];
      if (a[0] >= NEAR_M !== b[0] >= NEAR_M) {
        const s = (NEAR_M - a[0]) / (b[0] - a[0]);
        found.push(a.map((value, k) => value + s * (b[k] - value)));
      }
      if (b[0] >= NEAR_M) found.push(b);
    });
    return found;
  }

  T.draw = function (canvas, camera, scene) {
    const box = canvas.getBoundingClientRect();
    const height = Math.max(1, Math.min(box.height, box.width / camera.aspect));
    const width = height * camera.aspect;
    if (canvas.width !== Math.round(width) || canvas.height !== Math.round(height)) {
      canvas.width = Math.round(width);
      canvas.height = Math.round(height);
    }
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#10222e";
    pen.fillRect(0, 0, width, height);
    if (!camera.pose) return;
    const see = eye(camera.mount, camera.pose);
    const half = Math.tan(rad(camera.pose.width_deg / 2));
    const place = ([depth, right, up]) => [
      (width / 2) * (1 + right / (depth * half)),
      height / 2 - ((width / 2) * up) / (depth * half),
    ];
    const path = (points, closed) => {
      const seen = clipped(points.map(see), closed).map(place);
      pen.beginPath();
      seen.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      if (closed) pen.closePath();
      return seen.length > 1;
    };
    ground(pen, path, scene.pitch);
    for (const body of scene.players) person(pen, see, place, body);
    if (scene.ball) ball(pen, see, place, half, width, scene.ball);
  };

  function ground(pen, path, pitch) {
    if (!pitch) return;
    const [x, y] = [pitch.half_length_m + 6, pitch.half_width_m + 6];
    pen.fillStyle = "#1a3a30";
    if (path([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], true)) pen.fill();
    pen.strokeStyle = "rgba(226, 238, 232, 0.75)";
    pen.lineWidth = 1.5;
    for (const line of pitch.lines) if (path(line.map(([a, b]) => [a, b, 0]), false)) pen.stroke();
    pen.strokeStyle = "#ffffff";
    pen.lineWidth = 2.5;
    for (const end of [-1, 1]) {
      const at = end * pitch.half_length_m;
      const goal = [[at, -3.66, 0], [at, -3.66, POST_M], [at, 3.66, POST_M], [at, 3.66, 0]];
      if (path(goal, false)) pen.stroke();
    }
  }

  function person(pen, see, place, body) {
    const feet = see([body.x_m, body.y_m, 0]);
    const head = see([body.x_m, body.y_m, BODY_M]);
    if (feet[0] < NEAR_M || head[0] < NEAR_M) return;
    const [x, y] = place(feet);
    const [u, v] = place(head);
    const tall = Math.hypot(x - u, y - v);
    pen.strokeStyle = TEAM[body.team] || "#c9d3da";
    pen.lineWidth = Math.max(2, tall * 0.28);
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(x, y - tall * 0.1);
    pen.lineTo(u, v + tall * 0.1);
    pen.stroke();
  }

  function ball(pen, see, place, half, width, at) {
    const middle = see([at.x_m, at.y_m, at.z_m]);
    if (middle[0] < NEAR_M) return;
    const [x, y] = place(middle);
    pen.fillStyle = "#ffffff";
    pen.beginPath();
    pen.arc(x, y, Math.max(2.5, (0.11 * width) / (2 * middle[0] * half)), 0, 2 * Math.PI);
    pen.fill();
  }
})();
