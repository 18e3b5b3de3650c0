// @ts-check
// Tables are sorted by a click on a head. Those with further pages are sorted by the server, whose
// heads are links: the order is that of sorting.py.

const UNITS = new Map([["m", 1e-3], ["k", 1e3], ["Ki", 2 ** 10], ["Mi", 2 ** 20], ["Gi", 2 ** 30], ["Ti", 2 ** 40], ["Pi", 2 ** 50]]);
const SECONDS = new Map([["d", 86400], ["h", 3600], ["m", 60], ["s", 1]]);
const words = new Intl.Collator("en", { numeric: true });

/** Return the number that a cell begins with; null if it is a text.
 * @param {string} text
 * @param {boolean} lasts whether the column has durations */
function numberOf(text, lasts) {
  const bare = text.replace(/^[@≥>~<]\s*/, "");
  if (lasts && /^(\d+(\.\d+)?[dhms])+/.test(bare)) {
    const parts = [...bare.matchAll(/(\d+(?:\.\d+)?)([dhms])/g)];
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (SECONDS.get(unit) || 1), 0);
  }
  const found = /^(-?\d+(?:\.\d+)?)(m|k|Ki|Mi|Gi|Ti|Pi)?%?(?=$|[\s,/])/.exec(bare);
  return found ? Number(found[1]) * (UNITS.get(found[2]) || 1) : null;
}

/** @param {HTMLTableRowElement} row
 * @param {number} place */
const textOf = (row, place) => row.cells[place]?.innerText.trim() || "";

/** Return the heads of single columns, with their places.
 * @param {HTMLTableElement} table
 * @returns {[HTMLTableCellElement, number][]} */
function headsOf(table) {
  /** @type {[HTMLTableCellElement, number][]} */
  const found = [];
  /** Columns that a head in the row above covers, too. */
  const covered = new Set();
  for (const row of table.tHead?.rows || []) {
    let place = 0;
    const below = new Set();
    for (const head of row.cells) {
      while (covered.has(place)) place += 1;
      if (head.colSpan === 1 && head.innerText.trim()) found.push([head, place]);
      if (head.rowSpan > 1) below.add(place);
      place += head.colSpan;
    }
    for (const one of below) covered.add(one);
  }
  return found;
}

/** @param {HTMLTableElement} table
 * @param {HTMLTableCellElement} head
 * @param {number} place */
function sort(table, head, place) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const [other] of headsOf(table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const lasts = /AGE|LASTS|SINCE|FOR/.test(head.innerText);
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => {
    const text = textOf(row, place);
    return { row, text, number: numberOf(text, lasts) };
  });
  rows.sort((one, other) => {
    if (!one.text || !other.text) return Number(!one.text) - Number(!other.text); // empty ones are last
    const order = one.number !== null && other.number !== null ? one.number - other.number : words.compare(one.text, other.text);
    return down ? -order : order;
  });
  body.append(...rows.map(({ row }) => row));
}

/** @param {HTMLTableElement} table */
function isSortedByTheServer(table) {
  if (table.tHead?.querySelector("a.sort")) return true;
  const around = table.closest(".scroll") || table;
  return around.nextElementSibling?.matches("nav.pager") || false;
}

function begin() {
  for (const table of document.querySelectorAll("main table:not([data-sorts=no])")) {
    if (!(table instanceof HTMLTableElement) || isSortedByTheServer(table)) continue;
    if ((table.tBodies[0]?.rows.length || 0) < 2 || table.closest("#events, #panel, #time")) continue;
    for (const [head, place] of headsOf(table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, place));
      head.append(button);
    }
  }
}

begin();
document.addEventListener("plinian-page", begin);
