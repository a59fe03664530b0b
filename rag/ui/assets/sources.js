// The button that opens and closes the panel of sources: beside the chat, where the browser remembers it, or in a narrow
// window over it, until a click elsewhere or Escape.

const OPEN = "pagelight:sources";
const NARROW = window.matchMedia("(max-width: 1100px)"); // as in app.css
const WIDE = window.matchMedia("(min-width: 1600px)"); // has room for it from the start
const PANEL = ".st-key-sources";

let isOver = false; // open in a narrow window
let button;

function isOpen() {
  if (NARROW.matches) return isOver;
  const kept = localStorage.getItem(OPEN);
  return kept === null ? WIDE.matches : kept === "yes";
}

function show() {
  document.documentElement.classList.toggle("sources-open", isOpen());
  button.ariaExpanded = String(isOpen());
}

function turn(open) {
  if (NARROW.matches) isOver = open;
  else localStorage.setItem(OPEN, open ? "yes" : "no");
  show();
  if (NARROW.matches && open) document.querySelector(`${PANEL} input`)?.focus({ preventScroll: true });
}

function pressed(event) {
  if (event.key !== "Escape" || !isOver) return;
  turn(false);
  button.focus();
}

function clicked(event) {
  const isInside = event.composedPath().some((node) => node === button || node.matches?.(PANEL));
  if (isOver && !isInside) turn(false);
}

export default function ({ data, parentElement }) {
  button = parentElement.querySelector(".sources");
  button.querySelector(".label").textContent = data.label;
  button.onclick = () => turn(!isOpen());
  show();
  for (const query of [NARROW, WIDE]) query.addEventListener("change", show);
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", clicked);
  return () => {
    for (const query of [NARROW, WIDE]) query.removeEventListener("change", show);
    document.removeEventListener("keydown", pressed);
    document.removeEventListener("pointerdown", clicked);
  };
}
