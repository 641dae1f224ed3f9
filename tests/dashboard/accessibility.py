"""axe-core in a page: violations of WCAG 2.2, levels A and AA."""

from __future__ import annotations

from pathlib import Path

from tests.dashboard.chromium import Browser

AXE = Path(__file__).parent / "axe" / "axe.min.js"
THEMES = ("dark", "light")
_RUN = """
const done = arguments[arguments.length - 1];
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
axe.run(document, {runOnly: {type: 'tag', values: tags}}).then(
  (found) => done(found.violations.map((one) => one.id + ': ' + one.nodes.map(
    (node) => node.target.join(' ') + ' (' + node.any.concat(node.all, node.none).map((check) => check.message)[0] + ')'
  ).slice(0, 4).join('; '))),
  (error) => done([String(error)]));
"""


def violations(browser: Browser) -> dict[str, list[str]]:
    """Violations in the page as it stands, by theme; themes without any are left out."""
    found = {}
    browser.run(AXE.read_text(encoding="utf-8"))
    for theme in THEMES:
        browser.run("document.documentElement.dataset.theme = arguments[0];", theme)
        browser.run("dispatchEvent(new Event('themechange'))")
        if broken := browser.driver.execute_async_script(_RUN):
            found[theme] = broken
    return found
