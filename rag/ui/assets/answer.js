// An answer whose citations are buttons. The server escapes `data.html` (rag/ui/formatting.py); everything else is set as
// text. An event tells all answers and the viewer which citation is highlighted, without waiting for the server.

const LIT = "pagelight:lit";
const NEAR = "pagelight:near";
const STEP = "pagelight:step";
const MOST_NEAR = 24;
const TELL_MS = 120;

function add(parent, tag, className, text = "") {
  const node = parent.appendChild(document.createElement(tag));
  node.className = className;
  node.textContent = text;
  return node;
}

/** Shows where a quote is in a later version of its document, with a link. */
function addLater(item, { number, later, change, leads }) {
  const note = add(item, leads ? "button" : "span", `later ${change}`, later);
  if (leads) note.dataset.later = number;
}

function source(row) {
  const { number, label, name, place, verdict, verdictText, explanation, quote, warning } = row;
  const item = document.createElement("li");
  item.dataset.citation = number;
  const button = add(item, "button", "source");
  button.dataset.citation = number;
  add(button, "span", `chip ${verdict}`, label);
  const where = add(button, "span", "where");
  add(where, "b", "", name);
  const [page, ...section] = place.split(" · ");
  add(where, "span", "page-label", ` · ${page}`);
  if (section.length) add(where, "span", "section", ` · ${section.join(" · ")}`);
  add(button, "span", `verdict ${verdict}`, verdictText).title = explanation ?? "";
  add(button, "span", "quote", quote);
  if (warning) add(button, "span", "warning", warning);
  if (row.later) addLater(item, row);
  return item;
}

/** Shows the author, the probability with its explanation, and the time taken. */
function footer({ writer, likelihood, seconds }) {
  const parts = document.createElement("div");
  parts.append(writer);
  if (likelihood) {
    parts.append(" · ");
    const label = add(parts, "span", `likelihood ${likelihood.kind}`, likelihood.name);
    label.tabIndex = 0;
    add(label, "span", "tip", likelihood.explanation).role = "tooltip";
  }
  if (seconds) parts.append(` · ${seconds}`);
  return parts.childNodes;
}

/** Scrolls a new answer into view, by its beginning if it is longer than the page. */
function show(answer) {
  requestAnimationFrame(() => {
    const isLong = answer.offsetHeight > 0.6 * window.innerHeight;
    answer.scrollIntoView({ block: isLong ? "start" : "end" });
  });
}

/** Tells the viewer which pages to prefetch. */
function foresee(marks) {
  for (const { document: id, places } of marks)
    if (places.length) document.dispatchEvent(new CustomEvent(NEAR, { detail: { document: id, page: places[0][0] } }));
}

/** Shows the quote of a citation that is hovered or focused. */
function tooltip(answer) {
  const tip = answer.querySelector(".quote-tip");
  const show = (chip) => {
    tip.hidden = !chip;
    if (!chip) return;
    const [head, ...quote] = chip.dataset.tip.split("\n");
    tip.replaceChildren();
    add(tip, "b", "", head);
    add(tip, "span", "", quote.join(" "));
    const [own, at] = [answer.getBoundingClientRect(), chip.getBoundingClientRect()];
    tip.style.left = `${Math.max(0, Math.min(at.left - own.left - 8, own.width - tip.offsetWidth))}px`;
    const above = at.top - tip.offsetHeight - 6 > 8;
    tip.style.top = `${above ? at.top - own.top - tip.offsetHeight - 6 : at.bottom - own.top + 6}px`;
  };
  const chipOf = (event) => event.target.closest?.(".chip[data-tip]");
  answer.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(chipOf(event)));
  answer.addEventListener("mouseleave", () => show(null));
  answer.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && show(chipOf(event)));
  answer.addEventListener("focusout", () => show(null));
  answer.addEventListener("keydown", (event) => event.key === "Escape" && show(null));
}

function isDark(node) {
  const [r, g, b] = getComputedStyle(node).color.match(/[\d.]+/g).map(Number);
  return r + g + b > 384;
}

/** A tooltip of our own: the browser's appear late, and not for the keyboard. */
function nameChips(text) {
  for (const chip of text.querySelectorAll(".chip[title]")) {
    chip.dataset.tip = chip.title;
    chip.ariaLabel = _("Citation {number}", { number: chip.textContent });
    chip.ariaDescription = chip.title;
    chip.removeAttribute("title");
  }
}

function draw(answer, data) {
  answer.querySelector(".text").innerHTML = data.html;
  nameChips(answer.querySelector(".text"));
  answer.querySelector(".sources").replaceChildren(...data.sources.map(source));
  answer.querySelector(".hint").textContent = data.hint;
  answer.querySelector("footer").replaceChildren(...footer(data));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const answer = parentElement.querySelector(".answer");
  const own = (number) => `${data.id}:${number}`;
  const light = (lit) => {
    answer.lit = lit;
    for (const node of answer.querySelectorAll("[data-citation]"))
      node.classList.toggle("active", lit === own(node.dataset.citation));
  };
  const drawn = JSON.stringify([data.id, data.html, data.sources]);
  if (answer.drawn === undefined) tooltip(answer);
  if (answer.drawn !== drawn) {
    answer.drawn = drawn;
    draw(answer, data);
    light(answer.lit);
  }
  if (answer.shown !== data.id && data.lit?.startsWith(`${data.id}:`)) {
    show(answer);
    setTimeout(() => foresee(data.marks.slice(0, MOST_NEAR)), 500); // the page that is shown comes first
  }
  answer.shown = data.id;
  answer.classList.toggle("insufficient", data.insufficient);
  answer.classList.toggle("dark", isDark(answer));
  if (answer.told !== data.lit) light((answer.told = data.lit));
  const cite = (number) => {
    const { document: id } = data.marks[number];
    const here = data.marks.filter((mark) => mark.document === id);
    const click = Date.now();
    const detail = { lit: own(number), document: id, marks: here, active: here.indexOf(data.marks[number]), click, found: data.found[id] };
    document.dispatchEvent(new CustomEvent(LIT, { detail }));
    clearTimeout(answer.telling); // the picture of the page comes first, and of quick steps the last is enough
    answer.telling = setTimeout(() => setTriggerValue("cite", { number, click }), TELL_MS);
  };
  answer.onclick = (event) => {
    const followed = event.target.closest("[data-later]");
    const chosen = event.target.closest("[data-citation]");
    if (followed) setTriggerValue("later", Number(followed.dataset.later));
    else if (chosen) cite(Number(chosen.dataset.citation));
  };
  answer.onpointerover = answer.onfocusin = (event) => {
    const near = event.target.closest("[data-citation]");
    if (near) foresee([data.marks[near.dataset.citation]]);
  };
  const listen = (event) => light(event.detail.lit);
  const step = ({ detail: by }) => {
    const lit = data.marks.findIndex((_, number) => answer.lit === own(number));
    if (lit < 0 || !data.marks[lit + by]) return;
    cite(lit + by);
    answer.querySelector(`[data-citation="${lit + by}"]`)?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener(LIT, listen);
  document.addEventListener(STEP, step);
  return () => {
    document.removeEventListener(LIT, listen);
    document.removeEventListener(STEP, step);
  };
}
