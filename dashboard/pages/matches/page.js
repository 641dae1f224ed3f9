/* The matches, a tile each: teams and score lead into the replay, a second link into the analyst's room. */
import { address, api, element, load, open, state } from "/pages/shared/shell.js";

const view = document.getElementById("matches");

const side = (name, team, goals) => element("div", { class: "side" }, element("span", { class: "team " + team }, name), element("b", {}, String(goals)));

/* In words how long a match is, and how much of it has positions. */
export function coverage(tile) {
  const minutes = (us) => Math.round(us / 6e7);
  if (!tile.length_us) return "no positions";
  const share = Math.floor((100 * tile.covered_us) / tile.length_us + 1);
  return minutes(tile.length_us) + " min" + (share < 99 ? ", positions for " + share + " %" : "") + (tile.ended ? "" : ", not over");
}

function shown(tile) {
  if (tile.problem) return element("div", { class: "tile broken" }, element("b", {}, tile.match), element("p", {}, tile.problem));
  return element(
    "article", { class: "tile" },
    element("a", { class: "lead", href: address("replay", tile.match) }, side(tile.home, "home", tile.home_goals), side(tile.away, "away", tile.away_goals)),
    element("p", {}, [tile.match, tile.recorded && "recorded " + tile.recorded, coverage(tile)].filter((part) => part).join(" · ")),
    element("a", { href: address("analyst", tile.match) }, "Analyst")
  );
}

open("matches", view, async () => {
  const tiles = await load(view, "Reading the matches", () => api("/tiles"));
  if (!tiles) return;
  if (!tiles.length) state(view, "empty", "There are no matches.");
  view.append(...tiles.map(shown));
});
