/* What the pitch shows besides players and ball: layers that a person chooses, and that the browser remembers. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const KEY = "live layers";
  const LAYERS = [
    ["strokes", "Passes, shots, restarts", true],
    ["breaks", "Line breaks", false],
    ["trails", "Trails", true],
    ["names", "Names", false],
    ["cameras", "Camera views", true],
    ["hulls", "Team shapes", false],
    ["lines", "Team lines", false],
    ["offside", "Offside lines", false],
    ["control", "Pitch control", false],
    ["pressure", "Pressure", false],
    ["options", "Passing options", false],
    ["carried", "Path with the ball", false],
    ["heat", "Heat map", false],
  ];

  const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
  const layers = { on: {}, kind: kept.kind || "" };
  for (const [name, , shown] of LAYERS) layers.on[name] = kept.on && name in kept.on ? kept.on[name] : shown;

  function remember() {
    localStorage.setItem(KEY, JSON.stringify({ on: layers.on, kind: layers.kind }));
    T.link.need("layer", layers.kind ? [layers.kind] : []);
    dispatchEvent(new Event("layerchange"));
  }

  function labelled(text, input) {
    const label = document.createElement("label");
    label.append(input, " " + text);
    return label;
  }

  layers.mount = function () {
    const view = document.getElementById("layers");
    const title = document.createElement("h2");
    title.textContent = "Layers";
    const boxes = LAYERS.map(([name, text]) => {
      const box = document.createElement("input");
      Object.assign(box, { type: "checkbox", checked: layers.on[name], name });
      box.onchange = function () {
        layers.on[name] = box.checked;
        remember();
      };
      return labelled(text, box);
    });
    const kind = document.createElement("input");
    Object.assign(kind, { type: "text", value: layers.kind, placeholder: "such as hit", autocomplete: "off", id: "layer-kind" });
    kind.setAttribute("list", "kinds");
    kind.onchange = function () {
      layers.kind = kind.value.trim();
      remember();
    };
    view.append(title, ...boxes, labelled("Events of the last minute", kind));
    if (layers.kind) T.link.need("layer", [layers.kind]);
  };

  T.layers = layers;
})();
