/* Orders by keyboard and gamepad. The chosen camera gets them; the server has the last word. */
(function () {
  "use strict";

  const T = (window.operator = window.operator || {});

  const DRIVE_MS = 100; // the camera stops half a second after the last drive
  const ANSWER_MS = 2000;
  const SPEED = 0.6;
  const SLOW = 0.15;
  const DEAD = 0.12;

  const held = new Set();
  const TURNS = { ArrowLeft: ["pan", -1], ArrowRight: ["pan", 1], ArrowUp: ["tilt", 1], ArrowDown: ["tilt", -1] };
  const ZOOMS = { "+": 1, "=": 1, NumpadAdd: 1, "-": -1, NumpadSubtract: -1 };
  const STYLES = { c: "calm", n: "normal", s: "sport" };

  let last = Promise.resolve();
  let driven = ""; // the camera that the last drive has set in motion; empty after a drive of speed zero
  let waits = false; // keys and sticks count again once all of them have been let go
  let stickIsHeld = false;
  let isSending = false;
  let isSlow = false;
  let buttons = [];

  /* Orders go out one after the other: a drive that is on its way must not arrive after a hold. */
  function send(camera, path, body) {
    last = last.then(() => post(camera, path, body));
    return last;
  }

  /* Send one order. If it is refused, the banner says why. */
  async function post(camera, path, body) {
    const headers = { Authorization: "Bearer " + T.token() };
    if (body) headers["Content-Type"] = "application/json";
    try {
      const address = "/api/v1/cameras/" + encodeURIComponent(camera) + "/" + path;
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch(address, { method: "POST", headers, signal, body: body && JSON.stringify(body) });
      if (answer.ok) T.say("");
      else if (answer.status === 401 || answer.status === 403) T.say("An order needs the token of an operator: press T.");
      else T.say((await answer.json()).detail);
    } catch (error) {
      T.say("The server does not answer.");
    }
  }

  function order(path) {
    const camera = T.chosen();
    if (!camera) return;
    if (!/^(style\/|on-air|off-air)/.test(path)) {
      if (driven === camera.name) driven = ""; // no zero drive may follow, and take the camera back
      waits = true; // nor another drive by a key that is held still
    }
    send(camera.name, path);
  }

  function preset(index, force) {
    const name = (T.chosen() || { presets: [] }).presets[index];
    if (name !== undefined) order("preset/" + encodeURIComponent(name) + (force ? "?force=true" : ""));
  }

  function keySpeeds() {
    const speeds = { pan: 0, tilt: 0, zoom: 0 };
    const size = isSlow ? SLOW : SPEED;
    for (const key of held) {
      if (TURNS[key]) speeds[TURNS[key][0]] += TURNS[key][1] * size;
      else speeds.zoom += ZOOMS[key] * size;
    }
    return speeds;
  }

  const shaped = (value) => (Math.abs(value) < DEAD ? 0 : Math.sign(value) * value * value);

  function padSpeeds(pad) {
    const [pan, tilt, , zoom] = pad.axes;
    return { pan: shaped(pan || 0), tilt: shaped(-(tilt || 0)), zoom: shaped(-(zoom || 0)) };
  }

  function pressed(pad) {
    const before = buttons;
    buttons = pad.buttons.map((button) => button.pressed);
    buttons.forEach((isDown, index) => {
      if (!isDown || before[index]) return;
      if (index === 0) order("hold");
      else if (index === 1) order("release");
      else if (index === 4) T.choose(-1);
      else if (index === 5) T.choose(1);
      else if (index >= 12 && index <= 15) preset(index - 12, false);
    });
  }

  /* While a key or a stick is held, a drive goes out at intervals, never two at a time; then one of speed zero.
     A camera that is no longer the chosen one is stopped, and the next one is not driven before all is let go. */
  async function drive() {
    const pad = Array.from(navigator.getGamepads ? navigator.getGamepads() : []).find((one) => one);
    if (pad) pressed(pad);
    const speeds = keySpeeds();
    const stick = Object.entries(pad ? padSpeeds(pad) : {});
    stickIsHeld = stick.some(([, value]) => value !== 0);
    for (const [name, value] of stick) speeds[name] += value;
    for (const name of Object.keys(speeds)) speeds[name] = Math.max(-1, Math.min(1, speeds[name]));
    const moves = speeds.pan !== 0 || speeds.tilt !== 0 || speeds.zoom !== 0;
    const chosen = (T.chosen() || {}).name || "";
    if (driven && driven !== chosen) waits = true;
    if (!moves) waits = false;
    const drives = moves && !waits;
    if (isSending || (!drives && !driven) || !(driven || chosen)) return;
    const camera = driven || chosen;
    driven = drives ? camera : "";
    isSending = true;
    await send(camera, "drive", drives ? speeds : { pan: 0, tilt: 0, zoom: 0 });
    isSending = false;
  }

  function down(event) {
    if (document.activeElement === T.field) {
      if (event.key === "Escape" || event.key === "Enter") T.field.blur();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    isSlow = event.shiftKey;
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    const key = event.key.toLowerCase();
    if (TURNS[event.key] || ZOOMS[event.key]) held.add(event.key);
    else if (event.repeat) return;
    else if (digit) preset(Number(digit[1]) - 1, event.shiftKey);
    else if (event.key === "Tab") T.choose(event.shiftKey ? -1 : 1);
    else if (event.key === " ") order("hold");
    else if (key === "r") order(event.shiftKey ? "release?force=true" : "release");
    else if (key === "o") order((T.chosen() || {}).on_air ? "off-air" : "on-air");
    else if (STYLES[key]) order("style/" + STYLES[key]);
    else if (key === "t") T.askToken();
    else return;
    event.preventDefault();
  }

  function up(event) {
    isSlow = event.shiftKey;
    held.delete(event.key);
    if (event.key === "Shift") return;
    if (["+", "=", "-"].includes(event.key)) ["+", "=", "-"].forEach((key) => held.delete(key));
    if (!held.size && !stickIsHeld) waits = false; // the next key may come before the next drive is due
  }

  T.startControl = function () {
    document.addEventListener("keydown", down);
    document.addEventListener("keyup", up);
    window.addEventListener("blur", () => held.clear());
    setInterval(drive, DRIVE_MS);
  };
})();
