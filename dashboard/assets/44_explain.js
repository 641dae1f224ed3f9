/* The explanation of the chosen event, beneath the list: the part that the replay room has, too. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});
  const STORED_US = 60e6; // arrival time after which an event is in the store, if its window was committed at all

  let reason = null;
  let wanted = null;

  /* A window is stored each half minute: until then the store does not know the newest events. */
  const isNew = (row) => !T.link.ended && row.changed_us > T.link.nowUs - STORED_US;

  async function open() {
    const { Reason } = await import("/pages/shared/reason.js");
    const close = document.createElement("button");
    Object.assign(close, { type: "button", textContent: "Close", title: "Back to live (B)", onclick: () => T.list.select(null) });
    reason = reason || new Reason(document.getElementById("reason"), T.words.sheet.match_id, T.words, [close], isNew);
    reason.show(wanted);
  }

  T.explain = {
    /* Explains an event of the list; null: closes. */
    show(row) {
      wanted = row && { ...row, emitted_us: row.ts_us + 1000 * row.latency_ms };
      if (reason) reason.show(wanted);
      else if (wanted) open();
    },
  };
})();
