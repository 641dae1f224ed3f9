/* Players, teams and times in words. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const words = {
    sheet: null,
    team: (side) => (side && words.sheet ? words.sheet[side] : ""),
    player(id) {
      const player = T.scene.players.get(id);
      return (T.scene.shirt(id) + " " + (player && player.name ? player.name : id)).trim();
    },
    /* Last names for narrow lines; one name has its shirt number, two names have none. */
    last: (id) => words.player(id).split(" ").pop(),
    brief: (ids) => (ids.length > 1 ? ids.map(words.last).join(" → ") : shirtAndLast(ids[0])),
    people: (event) => [event.player, event.other].filter((id) => id),
    /* An event in a few words. */
    event(event) {
      const people = words.people(event);
      return words.clock(event.ts_us, 1) + " " + event.title + (people.length ? ", " + words.brief(people) : "");
    },
    /* Event time as minutes and seconds from the source's own zero. */
    clock(us, digits) {
      const sign = us < 0 ? "-" : "";
      const total = Math.abs(us) / 1e6;
      const minutes = Math.floor(total / 60);
      const factor = 10 ** digits;
      const seconds = Math.floor((total - 60 * minutes) * factor) / factor;
      return sign + String(minutes).padStart(2, "0") + ":" + seconds.toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
    },
  };

  function shirtAndLast(id) {
    const last = words.last(id);
    const shirt = T.scene.shirt(id);
    return shirt && last !== shirt ? shirt + " " + last : last;
  }

  T.words = words;
  T.link.handlers.push((message) => message.sheet && (words.sheet = message.sheet));
})();
