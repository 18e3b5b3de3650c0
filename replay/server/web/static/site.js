// @ts-check
// What every page does: theme, local times, help, keys to other pages, what is said aloud.

import { allCommands, keysOn, onKey, setKeysOn } from "./keys.js";

/** @param {string} id */
const byId = (id) => document.getElementById(id);

/** Tell people who do not see the page; only the last text of a moment is told.
 * @param {string} text */
export function say(text) {
  clearTimeout(saying);
  saying = window.setTimeout(() => {
    const place = byId("said");
    if (place) place.textContent = text;
  }, 300);
}
let saying = 0;

/** Copy a text, and say so.
 * @param {string} text
 * @param {string} words what was copied */
export async function copy(text, words) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${words} copied: ${text}`);
  } catch {
    tell(text);
  }
}

/** Show a text for a few seconds, and say it.
 * @param {string} text */
export function tell(text) {
  let place = byId("told");
  if (!place) {
    place = document.createElement("p");
    place.id = "told";
    document.body.append(place);
  }
  place.textContent = text;
  place.hidden = false;
  clearTimeout(telling);
  telling = window.setTimeout(() => place && (place.hidden = true), 6000);
  say(text);
}
let telling = 0;

/** The frame of a page that took long was sent before its title was known. */
function setUpTitle() {
  const title = byId("title");
  if (title) document.title = title.textContent || document.title;
}

function setUpTheme() {
  const choice = byId("theme");
  const around = byId("theme-switch");
  if (!(choice instanceof HTMLSelectElement) || !around) return;
  around.hidden = false;
  choice.value = document.documentElement.dataset.theme || "";
  choice.addEventListener("change", () => {
    if (choice.value) document.documentElement.dataset.theme = choice.value;
    else delete document.documentElement.dataset.theme;
    try {
      if (choice.value) localStorage.setItem("plinian-theme", choice.value);
      else localStorage.removeItem("plinian-theme");
    } catch {
      // Storage is switched off: the choice lasts as long as the page.
    }
    document.dispatchEvent(new Event("plinian-theme"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("plinian-theme")),
  );
}

function setUpTimes() {
  document.addEventListener("mouseover", (event) => {
    const time = event.target instanceof Element && event.target.closest("time[datetime]");
    if (!(time instanceof HTMLTimeElement) || time.title) return;
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = `${at.toLocaleString("en-GB", { timeZoneName: "short" })} here`;
  });
}

function showHelp() {
  const dialog = byId("help");
  const place = byId("help-keys");
  if (!(dialog instanceof HTMLDialogElement) || !place) return;
  const table = document.createElement("table");
  const body = table.createTBody();
  for (const { key, words } of allCommands()) {
    if (!words) continue; // another key for the same
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    for (const part of key.split(" ")) {
      const shown = document.createElement("kbd");
      shown.textContent = part;
      head.append(shown, " ");
    }
    row.append(head);
    row.insertCell().textContent = words;
  }
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = keysOn();
  box.addEventListener("change", () => setKeysOn(box.checked));
  label.append(box, " Single letters are commands");
  place.replaceChildren(table, label);
  dialog.showModal();
}

function setUpKeys() {
  const button = byId("help-button");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", showHelp);
  }
  onKey("?", "show the keys", showHelp);
  onKey("@", "go to a position or a time", () => {
    const point = byId("point");
    if (point instanceof HTMLInputElement) point.select();
  });
  onKey("/", "filter", () => {
    const box = document.querySelector("input[name=q]");
    if (box instanceof HTMLInputElement) box.select();
  });
  for (const link of document.querySelectorAll("main a[data-key]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    onKey(link.dataset.key || "", link.textContent || "", () => link.click());
  }
  const command = document.querySelector("main .command code");
  if (command) onKey("y", "copy the command that prints the same", () => copy(command.textContent || "", "Command"));
  onKey("c", "copy the link to this look", () => copy(location.href, "Link"));
  for (const link of document.querySelectorAll("nav.site a[data-key]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    onKey(`g ${link.dataset.key}`, `go to ${link.textContent}`, () => location.assign(link.href));
  }
}

function setUpForms() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const named = [...document.querySelectorAll("form.zone option")].some((one) => one.textContent === zone);
  for (const local of document.querySelectorAll("form.zone option")) {
    // The zone of this browser; the server can only know its own.
    if (local.textContent !== "local" || !zone || zone === "UTC" || named) continue;
    local.setAttribute("value", zone);
    local.textContent = `local: ${zone}`;
  }
  for (const choice of document.querySelectorAll("form.release select, form.zone select")) {
    if (!(choice instanceof HTMLSelectElement)) continue;
    choice.form?.classList.add("scripted");
    choice.addEventListener("change", () => choice.form?.requestSubmit());
  }
  for (const link of document.querySelectorAll("a[data-json]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    link.addEventListener("click", () => {
      const here = new URL(location.href);
      here.pathname = `${here.pathname.replace(/\/$/, "")}.json`;
      link.href = here.href;
    });
  }
  for (const link of document.querySelectorAll("a[data-file]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    link.addEventListener("click", () => {
      const here = new URL(location.href);
      here.searchParams.set("standalone", "yes");
      link.href = here.href;
    });
  }
}

/** Say that the next page is being computed, if it does not come at once. */
function setUpWaiting() {
  let waiting = 0;
  window.addEventListener("beforeunload", () => {
    waiting = window.setTimeout(() => tell("The server computes the page …"), 300);
  });
  window.addEventListener("pageshow", () => clearTimeout(waiting));
}

setUpTitle();
setUpTheme();
setUpTimes();
setUpWaiting();
setUpKeys();
setUpForms();
