/* The wall of matches, a tile each: teams and score lead into the match, further links into the other rooms. */
import { address, api, element, follow, load, open, state } from "/pages/shared/shell.js";

const AGAIN_MS = 2000;
const view = document.getElementById("matches");
const tiles = new Map(); // by match: what is shown, and its element

const side = (name, team, goals) => element("div", { class: "side" }, element("span", { class: "team " + team }, name), element("b", {}, String(goals)));

/* In words how long a match is, and how much of it has positions. */
function coverage(tile) {
  const minutes = (us) => Math.round(us / 6e7);
  if (!tile.length_us) return "no positions";
  const share = Math.floor((100 * tile.covered_us) / tile.length_us + 1);
  return minutes(tile.length_us) + " min" + (share < 99 ? ", positions for " + share + " %" : "");
}

/* A light and a word: over, live, or live with the reasons to doubt it. */
function condition(tile) {
  const [light, word] = tile.ended ? ["over", "Over"] : tile.doubts.length ? ["doubtful", "Doubtful"] : ["live", "Live"];
  const shown = [tile.minute && !tile.ended ? tile.minute + "′" : "", word, tile.doubts.join("; ")].filter((part) => part).join(" · ");
  return element("p", { class: "condition " + light }, shown);
}

function shown(tile) {
  if (tile.problem) return element("div", { class: "tile broken" }, element("b", {}, tile.match), element("p", {}, tile.problem));
  const replay = address("replay", tile.match);
  const recorded = tile.recorded && element("span", { class: "day" }, "recorded " + tile.recorded);
  const facts = [tile.match, recorded, coverage(tile)].filter((part) => part).flatMap((part, at) => (at ? [" · ", part] : [part]));
  return element(
    "article", { class: "tile" },
    element("a", { class: "lead", href: tile.page || replay }, side(tile.home, "home", tile.home_goals), side(tile.away, "away", tile.away_goals)),
    condition(tile),
    element("p", {}, ...facts),
    element("nav", { "aria-label": tile.match }, element("a", { href: replay }, "Replay"), element("a", { href: address("analyst", tile.match) }, "Analyst"))
  );
}

/* Shows what the server has; a tile that has not changed stays as it is. True once all matches are over. */
async function refresh() {
  const found = await api("/tiles");
  for (const tile of found) {
    const text = JSON.stringify(tile);
    const old = tiles.get(tile.match);
    if (old && old.text === text) continue;
    const made = shown(tile);
    if (old) old.made.replaceWith(made);
    else view.append(made);
    tiles.set(tile.match, { text, made });
  }
  if (!tiles.size) state(view, "empty", "There are no matches.");
  return found.length > 0 && found.every((tile) => tile.ended || tile.problem);
}

open("matches", view, async () => {
  let areOver = false;
  if (!(await load(view, "Reading the matches", async () => ((areOver = await refresh()), true)))) return;
  if (!areOver) await follow(AGAIN_MS, refresh);
});
