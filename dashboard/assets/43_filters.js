/* The filters of the list: families of events, which the server sends or not, and states. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  /* Check boxes for [name, label, on] of a group's element; `changed` is called with the names that are on, at once too. */
  function boxes(id, changed) {
    const group = document.getElementById(id);
    const inputs = JSON.parse(group.dataset.options).map(([name, text, on]) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      Object.assign(input, { type: "checkbox", value: name, checked: on });
      input.onchange = report;
      label.append(input, text);
      group.append(label);
      return input;
    });
    function report() {
      changed(inputs.filter((input) => input.checked).map((input) => input.value));
    }
    report();
  }

  T.filters = {
    mount() {
      boxes("states", T.list.states);
      boxes("families", (shown) => {
        T.list.families(shown);
        T.link.show(shown);
      });
    },
  };
})();
