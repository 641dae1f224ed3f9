/* Sets the theme before anything is painted: the chosen one, else that of the system. */
document.documentElement.dataset.theme =
  localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
