// @ts-check
// The keys of a page: a table of commands, which the help shows.

/** @typedef {{key: string, words: string, run: (event: KeyboardEvent) => void}} Command */

/** @type {Map<string, Command>} */
const commands = new Map();

/** What was typed so far of a command of two letters, such as "g q". */
let begun = "";

const OFF = "plinian-keys-off";

/** Return whether single letters are commands.
 * @returns {boolean} */
export function keysOn() {
  try {
    return !localStorage.getItem(OFF);
  } catch {
    return true;
  }
}

/** Switch single letters on or off.
 * @param {boolean} on */
export function setKeysOn(on) {
  try {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}

/** Add a command; a later one replaces an earlier one with the same key.
 * @param {string} key as KeyboardEvent.key, or two of them as in "g q", or "Ctrl+K"
 * @param {string} words what it does
 * @param {(event: KeyboardEvent) => void} run */
export function onKey(key, words, run) {
  commands.set(key, { key, words, run });
}

/** Return all commands, in the order in which they were added.
 * @returns {Command[]} */
export function allCommands() {
  return [...commands.values()];
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

/** Run a command such as "Ctrl+K", also while a person types.
 * @param {KeyboardEvent} event */
function withControl(event) {
  const found = commands.get(`Ctrl+${event.key.toUpperCase()}`);
  if (!found || event.shiftKey || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  found.run(event);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    withControl(event);
    return;
  }
  if (isTyping(event.target)) {
    if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]") || (event.key.length === 1 && !keysOn())) return;
  const whole = begun ? `${begun} ${event.key}` : event.key;
  const found = commands.get(whole) || commands.get(event.key);
  const begins = [...commands.keys()].some((key) => key.startsWith(`${event.key} `));
  begun = !begun && begins ? event.key : "";
  if (begun || !found) return;
  event.preventDefault();
  found.run(event);
});
