// @ts-check
// Boxes that offer names: what is chosen becomes a line of the field above it.

/** Put a name into its field.
 * @param {HTMLInputElement} box */
function put(box) {
  const field = box.form?.elements.namedItem(box.dataset.into || "");
  const name = box.value.trim();
  if (!name || !(field instanceof HTMLTextAreaElement)) return;
  const lines = field.value.split("\n").filter((line) => line.trim());
  if (!lines.includes(name)) lines.push(name);
  field.value = lines.join("\n");
  box.value = "";
  if (!name.endsWith("=")) return;
  field.focus(); // the value of the field is still to be typed
  field.setSelectionRange(field.value.length, field.value.length);
}

function begin() {
  for (const box of document.querySelectorAll("input[data-into]")) {
    if (!(box instanceof HTMLInputElement)) continue;
    box.hidden = false;
    box.addEventListener("change", () => put(box));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // Enter adds the name, and runs nothing yet
      put(box);
    });
  }
}

begin();
document.addEventListener("plinian-page", begin);
