// An answer whose citations are buttons. `data.html` is made and escaped by the server (rag/ui/text.py); everything else
// is set as text. Which citation is lit is known to all answers on the page by an event.

const LIT = "pagelight:lit";

function add(parent, tag, className, text = "") {
  const node = parent.appendChild(document.createElement(tag));
  node.className = className;
  node.textContent = text;
  return node;
}

/** What became of a quote in a later version of its document; where it stands there now can be gone to. */
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
  where.append(` · ${place}`);
  add(button, "span", `verdict ${verdict}`, verdictText).title = explanation ?? "";
  add(button, "span", "quote", quote);
  if (warning) add(button, "span", "warning", warning);
  if (row.later) addLater(item, row);
  return item;
}

/** Who wrote it, how likely it is right (on pointing there, or by the keyboard, what that says), and how long it took. */
function footer({ writer, likelihood, seconds }) {
  const parts = document.createElement("div");
  parts.append(writer);
  if (likelihood) {
    parts.append(" · ");
    const label = add(parts, "span", `likelihood ${likelihood.name}`, likelihood.name);
    label.tabIndex = 0;
    add(label, "span", "tip", likelihood.explanation).role = "tooltip";
  }
  if (seconds) parts.append(` · ${seconds}`);
  return parts.childNodes;
}

/** Brings a new answer into sight, one that is longer than the page by its beginning. */
function show(answer) {
  requestAnimationFrame(() => {
    const isLong = answer.offsetHeight > 0.6 * window.innerHeight;
    answer.scrollIntoView({ block: isLong ? "start" : "end" });
  });
}

function isDark(node) {
  const [r, g, b] = getComputedStyle(node).color.match(/[\d.]+/g).map(Number);
  return r + g + b > 384;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const answer = parentElement.querySelector(".answer");
  const light = (lit) => {
    for (const node of answer.querySelectorAll("[data-citation]"))
      node.classList.toggle("active", lit === `${data.id}:${node.dataset.citation}`);
  };
  const drawn = [data.id, ...data.sources.map(({ later }) => later)].join();
  if (answer.drawn !== drawn) {
    answer.drawn = drawn;
    answer.querySelector(".text").innerHTML = data.html;
    answer.querySelector(".sources").replaceChildren(...data.sources.map(source));
    answer.querySelector(".hint").textContent = data.hint;
    answer.querySelector("footer").replaceChildren(...footer(data));
    if (data.lit?.startsWith(`${data.id}:`)) show(answer);
  }
  answer.classList.toggle("insufficient", data.insufficient);
  answer.classList.toggle("dark", isDark(answer));
  light(data.lit);
  answer.onclick = (event) => {
    const followed = event.target.closest("[data-later]");
    if (followed) {
      setTriggerValue("later", Number(followed.dataset.later));
      return;
    }
    const chosen = event.target.closest("[data-citation]");
    if (!chosen) return;
    document.dispatchEvent(new CustomEvent(LIT, { detail: `${data.id}:${chosen.dataset.citation}` }));
    setTriggerValue("cite", Number(chosen.dataset.citation));
  };
  const listen = (event) => light(event.detail);
  document.addEventListener(LIT, listen);
  return () => document.removeEventListener(LIT, listen);
}
