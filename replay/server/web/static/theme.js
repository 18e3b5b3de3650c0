// Sets the theme before the page is painted: a person's choice, else the system's.
"use strict";
(() => {
  let theme = "";
  try {
    theme = localStorage.getItem("plinian-theme") || "";
  } catch {
    // Storage is switched off: the system decides.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
