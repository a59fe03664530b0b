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

/** A citation's button. */
function chip(parent, { number, label }) {
  const button = add(parent, "button", "chip", label);
  button.dataset.citation = number;
  button.ariaLabel = _("Citation {number}", { number: label });
}

/** A folded card of a page, whose quotes are shown on demand. */
function card({ number, label, name, place, quotes, later }) {
  const item = document.createElement("li");
  const head = add(item, "button", "source");
  head.dataset.citation = number;
  add(head, "span", "chip", label);
  const where = add(head, "span", "where");
  add(where, "b", "", name);
  const [page, ...section] = place.split(" · ");
  add(where, "span", "page-label", ` · ${page}`);
  if (section.length) add(where, "span", "section", ` · ${section.join(" · ")}`);
  for (const { number: from, text, change, leads } of later) {
    const note = add(item, leads ? "button" : "span", `later ${change}`, text);
    if (leads) note.dataset.later = from;
  }
  if (!quotes.length) return item;
  add(head, "span", "words", quotes[0].text);
  head.ariaExpanded = "false";
  const list = add(item, "ul", "quotes");
  list.hidden = true;
  for (const { text, chips } of quotes) {
    const quote = add(list, "li", "quote");
    if (quotes.length > 1 || chips.length > 1) for (const each of chips) chip(quote, each);
    quote.append(text);
  }
  return item;
}

/** Unfolds or folds the quotes of a card; returns whether they are shown. */
function unfold(head) {
  const list = head.parentElement.querySelector(".quotes");
  if (!list) return true;
  list.hidden = !list.hidden;
  head.ariaExpanded = String(!list.hidden);
  return !list.hidden;
}

/** Shows the line about the verdicts, and the sentences that are not verified with their reasons. */
function verify(details, { summary, unproved }) {
  details.hidden = !summary;
  details.open = false;
  details.classList.toggle("plain", !unproved.length);
  const line = details.querySelector("summary");
  line.textContent = summary;
  line.tabIndex = unproved.length ? 0 : -1;
  const list = details.querySelector("ul");
  list.replaceChildren();
  for (const { sentence, text, kind, mark, reason } of unproved) {
    const item = add(list, "li", "");
    item.dataset.sentence = sentence;
    add(item, "span", `mark ${kind}`, mark);
    add(item, "span", "said", text);
    add(item, "span", "reason", reason);
  }
}

/** Opens the details at a sentence. */
function explain(answer, number) {
  const details = answer.querySelector(".verification");
  details.open = true;
  for (const item of details.querySelectorAll("li")) item.classList.toggle("asked", item.dataset.sentence === number);
  details.querySelector(".asked").scrollIntoView({ block: "nearest" });
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

/** Shows the quote of a citation, or the reason of a mark, that is hovered or focused. */
function tooltip(answer) {
  const tip = answer.querySelector(".quote-tip");
  const show = (node) => {
    tip.hidden = !node;
    if (!node) return;
    const [head, ...quote] = node.dataset.tip.split("\n");
    tip.replaceChildren();
    add(tip, "b", "", head);
    add(tip, "span", "", quote.join(" "));
    const [own, at] = [answer.getBoundingClientRect(), node.getBoundingClientRect()];
    tip.style.left = `${Math.max(0, Math.min(at.left - own.left - 8, own.width - tip.offsetWidth))}px`;
    const above = at.top - tip.offsetHeight - 6 > 8;
    tip.style.top = `${above ? at.top - own.top - tip.offsetHeight - 6 : at.bottom - own.top + 6}px`;
  };
  const tipped = (event) => event.target.closest?.("[data-tip]");
  answer.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(tipped(event)));
  answer.addEventListener("mouseleave", () => show(null));
  answer.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && show(tipped(event)));
  answer.addEventListener("focusout", () => show(null));
  answer.addEventListener("keydown", (event) => event.key === "Escape" && show(null));
}

function isDark(node) {
  const [r, g, b] = getComputedStyle(node).color.match(/[\d.]+/g).map(Number);
  return r + g + b > 384;
}

/** A tooltip of our own: the browser's appear late, and not for the keyboard. */
function nameTips(text) {
  for (const node of text.querySelectorAll("[title]")) {
    node.dataset.tip = node.title;
    node.ariaLabel = node.dataset.citation ? _("Citation {number}", { number: node.textContent }) : node.textContent;
    node.ariaDescription = node.title;
    if (node.matches("span")) node.role = "img"; // what has a name and a description needs a role
    node.removeAttribute("title");
  }
}

function draw(answer, data) {
  answer.querySelector(".text").innerHTML = data.html;
  nameTips(answer.querySelector(".text"));
  verify(answer.querySelector(".verification"), data);
  answer.querySelector(".sources").replaceChildren(...data.sources.map(card));
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
  const drawn = JSON.stringify([data.id, data.html, data.summary, data.sources]);
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
    const asked = event.target.closest("[data-unproved]");
    const head = event.target.closest(".source");
    const chosen = event.target.closest("[data-citation]");
    if (followed) setTriggerValue("later", Number(followed.dataset.later));
    else if (asked) explain(answer, asked.dataset.unproved);
    else if (chosen && (!head || unfold(head))) cite(Number(chosen.dataset.citation));
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
