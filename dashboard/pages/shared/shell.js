/* What all rooms share: the bar with navigation, theme and keys, requests to the API, and the states of a view. */

const ROOMS = [
  ["matches", "Matches"],
  ["replay", "Replay"],
  ["analyst", "Analyst"],
  ["accuracy", "Accuracy"],
];
const OF_ALL = ["matches", "accuracy"]; // rooms of all matches
const RETRY_MS = 2000;

export const query = () => new URLSearchParams(location.search);

/* An element with attributes, properties of its dataset included, and children: elements or texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(made.dataset, value);
    else if (name.startsWith("aria-") && value !== undefined) made.setAttribute(name, String(value));
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/* Thrown by a request; `status` is 0 if the server did not answer. */
export class Refused extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

/* The response of the API at a path below /api/v1. */
export async function request(path, options = {}) {
  let answer;
  try {
    answer = await fetch("/api/v1" + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer.", 0);
  }
  const isPage = (answer.headers.get("Content-Type") || "").startsWith("text/html");
  if (isPage) throw new Refused("This server has no data of stored matches.", 404);
  if (answer.ok) return answer;
  const text = await answer.text();
  let reason = text.trim();
  try {
    const detail = JSON.parse(text).detail;
    reason = typeof detail === "string" ? detail : detail.map((one) => one.loc.at(-1) + ": " + one.msg).join("; ");
  } catch {
    // the access check refuses in plain text
  }
  throw new Refused(reason, answer.status);
}

export const api = async (path, options) => (await request(path, options)).json();

/* Path of the API of a match. */
export const of = (match, path = "") => "/matches/" + encodeURIComponent(match) + path;

/* Address of a room, with the match and whatever else it takes. */
export function address(room, match, more = {}) {
  const values = new URLSearchParams(match ? { match } : {});
  for (const [name, value] of Object.entries(more)) values.set(name, value);
  return "/" + room + (values.size ? "?" + values : "");
}

/* Shows in a view that it is loading, empty or lost, in words; no text: it is ready. */
export function state(view, name, text = "") {
  view.dataset.state = name;
  view.setAttribute("aria-busy", String(name === "loading"));
  let note = view.querySelector(":scope > .note");
  if (!name || name === "ready") {
    if (note) note.remove();
    return;
  }
  if (!note) {
    note = element("p", { class: "note", role: "status" });
    view.prepend(note);
  }
  note.textContent = text;
}

/* Does something for a view, and again until the server answers; a refusal stays. */
export async function load(view, text, work) {
  state(view, "loading", text);
  for (;;) {
    try {
      const done = await work();
      if (view.dataset.state === "loading" || view.dataset.state === "lost") state(view, "ready");
      return done;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      state(view, "lost", error.message + (error.status ? "" : " Trying again."));
      if (error.status) return undefined;
      await new Promise((resume) => setTimeout(resume, RETRY_MS));
    }
  }
}

/* Does something again and again until it returns true; a server that does not answer is asked again. */
export async function follow(everyMs, work) {
  for (;;) {
    await new Promise((resume) => setTimeout(resume, everyMs));
    try {
      if (await work()) return;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
}

/* Event time as minutes and seconds. */
export function clock(us, digits = 0) {
  const factor = 10 ** digits;
  const total = Math.floor((Math.abs(us) / 1e6) * factor + 1e-6) / factor;
  const minutes = Math.floor(total / 60);
  const seconds = (total - 60 * minutes).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return (us < 0 ? "-" : "") + String(minutes).padStart(2, "0") + ":" + seconds;
}

const keymap = [];

/* Adds keys: rows of [label, text, function of the event that returns true if it was for it]. */
export function keys(...rows) {
  keymap.push(...rows);
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input:not([type=range],[type=checkbox]), select, textarea, dialog[open]");
  if (typing) return;
  for (const [, , act] of keymap) {
    if (act && act(event)) {
      event.preventDefault();
      return;
    }
  }
}

/* Begins to act on keys. */
export function listen() {
  addEventListener("keydown", pressed);
}

export function help() {
  const rows = keymap.map(([label, text]) =>
    element("tr", {}, element("th", { scope: "row" }, ...label.split(" ").map((key) => element("kbd", {}, key))), element("td", {}, text))
  );
  const dialog = element("dialog", { id: "keys", "aria-label": "Keys" });
  dialog.append(
    element("h2", {}, "Keys"),
    element("table", {}, ...rows),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close"))
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

export function theme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "light" ? "dark" : "light";
  localStorage.setItem("theme", root.dataset.theme);
  dispatchEvent(new Event("themechange"));
}

/* The value of a token of the theme. */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function bar(room, match, matches) {
  const links = ROOMS.map(([name, title]) => {
    const here = name === room;
    return element("a", { href: address(name, OF_ALL.includes(name) ? "" : match), "aria-current": here ? "page" : undefined }, title);
  });
  const live = matches.find((one) => one.match === match) || matches[0];
  if (live && live.page) links.unshift(element("a", { href: live.page }, "Match"));
  const chooser = element("select", { id: "match", "aria-label": "Match", onchange: (event) => location.assign(address(room, event.target.value)) });
  for (const one of matches) {
    const shown = one.home + " – " + one.away + (matches.length > 1 ? " · " + one.match : "");
    chooser.append(element("option", { value: one.match, selected: one.match === match }, shown));
  }
  chooser.hidden = OF_ALL.includes(room) || !matches.length;
  document.getElementById("bar").replaceChildren(
    element("a", { class: "brand", href: "/" }, "Touchline"),
    element("nav", { "aria-label": "Pages" }, ...links),
    chooser,
    element("div", { id: "title" }),
    element("button", { id: "theme", title: "Dark or light (D)", "aria-label": "Dark or light", onclick: theme }, "◐"),
    element("button", { id: "help", title: "Keys (?)", "aria-label": "Keys", onclick: help }, "?")
  );
}

/* Opens a room: draws the bar, finds the match of the address, and calls `begin` with it (the row of the API).

   Without a match in the address the first one is taken. */
export async function open(room, view, begin) {
  bar(room, "", []);
  keys(["?", "show the keys", (event) => event.key === "?" && (help(), true)]);
  keys(["D", "dark or light", (event) => event.key.toLowerCase() === "d" && (theme(), true)]);
  listen();
  const matches = await load(view, "Reading the matches", () => api("/matches"));
  if (!matches) return;
  const name = query().get("match") || (matches[0] || {}).match;
  const match = matches.find((one) => one.match === name);
  bar(room, match ? name : "", matches);
  if (match) document.title = match.home + " – " + match.away + " · Touchline " + room;
  if (!match && !OF_ALL.includes(room)) {
    state(view, "empty", matches.length ? "There is no match " + name + " here. Choose one above." : "There are no matches.");
    return;
  }
  await begin(match, matches);
}
