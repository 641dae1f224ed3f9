/* The operator's page: a picture of each camera, its state, and which one the orders are for. */
(function () {
  "use strict";

  const T = (window.operator = window.operator || {});

  const FIGURES_MS = 2000;
  const LOST_MS = 1500; // the server sends the states at least twice a second

  const share = (value) => (100 * value).toFixed(0) + " %";
  const degrees = (value) => value.toFixed(1) + "°";
  const whole = (value) => value.toFixed(0);
  const ms = (value) => value.toFixed(0) + " ms";

  /* Label, figures of docs/cameras.md, and how they are written. */
  const FIGURES = [
    ["ball in picture", ["framed_share"], share],
    ["aim p95", ["aim_p95_deg"], degrees],
    ["lead room", ["lead_room"], share],
    ["jerk, planned °/s³", ["pan_jerk_rms_deg_s3", "planned_pan_jerk_rms_deg_s3"], whole],
    ["turns/min", ["reversals_per_min"], whole],
    ["still", ["still_share"], share],
    ["off plan", ["quantisation_rms_deg"], (value) => value.toFixed(2) + "°"],
    ["reaction p50, p95", ["reaction_p50_ms", "reaction_p95_ms"], ms],
    ["arrival p50, p95", ["arrival_p50_ms", "arrival_p95_ms"], ms],
    ["wasted", ["wasted_share"], share],
    ["position to command p95", ["latency_p95_ms"], ms],
    ["command to motion p95", ["motion_p95_ms"], ms],
  ];

  const scene = { pitch: null, players: [], ball: null };
  const cards = new Map();
  let cameras = [];
  let chosen = "";
  let heardAt = performance.now();
  let text = "";

  T.field = document.getElementById("token");
  T.field.value = sessionStorage.getItem("token") || "";
  T.field.addEventListener("change", () => sessionStorage.setItem("token", T.field.value));
  T.token = () => T.field.value;
  T.askToken = () => {
    T.field.focus();
    T.field.select();
  };
  T.scene = scene;
  T.stats = { frames: 0 };

  /* Show a sentence; a lost server goes before all others, and no sentence hides that the operator is needed. */
  T.say = (sentence) => {
    text = sentence;
  };

  T.chosen = () => cameras.find((camera) => camera.name === chosen);

  T.choose = (step) => {
    if (!cameras.length) return;
    const index = cameras.findIndex((camera) => camera.name === chosen);
    chosen = cameras[(index + step + cameras.length) % cameras.length].name;
  };

  function element(tag, look, parent) {
    const made = document.createElement(tag);
    if (look) made.className = look;
    parent.appendChild(made);
    return made;
  }

  function card(camera, index) {
    const root = element("section", "camera", document.getElementById("cameras"));
    root.setAttribute("aria-label", "Camera " + camera.name);
    root.addEventListener("click", () => (chosen = camera.name));
    const top = element("div", "top", root);
    element("span", "soft", top).textContent = String(index + 1);
    element("span", "name", top).textContent = camera.name;
    const made = { root, shows: element("span", "soft", top) };
    element("span", "air", top).textContent = "ON AIR";
    made.canvas = element("canvas", "", element("div", "picture", root));
    const state = element("div", "state", root);
    made.mode = element("span", "mode", state);
    made.by = element("span", "soft", state);
    made.pose = element("span", "soft", state);
    made.problem = element("span", "problem", state);
    const presets = element("div", "presets", root);
    made.presets = camera.presets.map((name, i) => {
      const span = element("span", "", presets);
      span.textContent = (i < 9 ? i + 1 + " " : "") + name;
      return span;
    });
    made.figures = element("div", "figures soft", root);
    return made;
  }

  /* Figures that there are none of yet are left out. */
  function showFigures(figures, made) {
    const shown = FIGURES.map(([label, names, written]) => {
      const values = names.map((name) => figures[name]).filter((value) => typeof value === "number");
      return values.length ? label + " " + values.map(written).join(", ") : "";
    });
    made.figures.textContent = shown.filter(Boolean).join(" · ");
  }

  async function askFigures() {
    try {
      const answer = await fetch("/api/v1/cameras/figures", { signal: AbortSignal.timeout(FIGURES_MS) });
      const found = answer.ok ? await answer.json() : {};
      for (const [name, figures] of Object.entries(found)) {
        if (cards.has(name)) showFigures(figures, cards.get(name));
      }
    } catch (error) {
      // the banner says that the server does not answer
    }
    setTimeout(askFigures, FIGURES_MS);
  }

  function show(camera, made) {
    made.root.classList.toggle("chosen", camera.name === chosen);
    made.root.classList.toggle("on-air", camera.on_air);
    made.root.classList.toggle("asks", camera.needs_operator);
    made.root.dataset.mode = camera.mode;
    made.root.dataset.fault = camera.fault;
    made.shows.textContent = [camera.role, camera.player, camera.style].filter(Boolean).join(", ");
    made.mode.textContent = camera.mode;
    made.by.textContent = camera.rule && camera.by === "rule" ? "rule " + camera.rule : "by " + camera.by;
    const pose = camera.pose;
    const shown = pose && [pose.pan_deg, pose.tilt_deg, pose.width_deg].map((value) => value.toFixed(1));
    made.pose.textContent = shown ? "pan " + shown[0] + "° tilt " + shown[1] + "° width " + shown[2] + "°" : "";
    const asks = camera.needs_operator ? ". Please take over." : "";
    made.problem.textContent = camera.problem ? camera.problem + asks : "";
  }

  function receive(states) {
    heardAt = performance.now();
    cameras = states;
    if (!cameras.some((camera) => camera.name === chosen)) chosen = cameras.length ? cameras[0].name : "";
    const names = cameras.map((camera) => camera.name);
    if (names.join("\n") !== Array.from(cards.keys()).join("\n")) rebuild();
    T.cameras = cameras;
  }

  function rebuild() {
    const root = document.getElementById("cameras");
    root.replaceChildren();
    cards.clear();
    cameras.forEach((camera, index) => cards.set(camera.name, card(camera, index)));
    root.style.setProperty("--columns", String(Math.ceil(Math.sqrt(Math.max(1, cameras.length)))));
    if (!cameras.length) element("p", "empty", root).textContent = "This run steers no cameras.";
  }

  function frame() {
    for (const camera of cameras) {
      const made = cards.get(camera.name);
      show(camera, made);
      T.draw(made.canvas, camera, scene);
    }
    const lost = performance.now() - heardAt > LOST_MS;
    document.body.dataset.status = lost ? "lost" : "live";
    const asking = cameras.filter((camera) => camera.needs_operator).map((camera) => camera.name);
    const asks = asking.length ? "Please take over: " + asking.join(", ") + "." : "";
    const sentences = lost ? ["The server does not answer."] : [asks, text].filter(Boolean);
    document.getElementById("banner").textContent = sentences.join(" ");
    T.stats.frames += 1;
    requestAnimationFrame(frame);
  }

  async function start() {
    new EventSource("/api/v1/cameras/stream").onmessage = (event) => receive(JSON.parse(event.data));
    askFigures();
    scene.pitch = await (await fetch("/cameras/pitch")).json();
    const match = encodeURIComponent(scene.pitch.match);
    new EventSource("/api/v1/matches/" + match + "/positions/stream").onmessage = (event) => {
      const positions = JSON.parse(event.data);
      scene.players = positions.players;
      scene.ball = positions.ball;
    };
  }

  rebuild();
  T.startControl();
  requestAnimationFrame(frame);
  start();
})();
