// @ts-check
// The page of a race: a key leads to the step where the order begins to differ.

import { onKey } from "./keys.js";

const link = document.getElementById("to-first-early");
if (link) onKey("e", "to the first step that comes before its turn", () => link.click());
