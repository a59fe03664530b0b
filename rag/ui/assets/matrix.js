// The table of a matrix. Arrow keys move between its cells; the keys of a review work outside text fields, like those of
// the viewer, and are switched off with them. Texts of documents are set as text, never as HTML.

const OFF = "pagelight:keys-off"; // as in viewer/keys.js
const ACTIONS = { j: "next", k: "previous", a: "accept", c: "correct", r: "reject", u: "undo" };
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

const PATIENCE_MS = 5000; // for the answer to a click or key

const TYPED = "input, textarea, select, canvas, [role=grid], [contenteditable=true], [contenteditable='']"; // tables, too
const typesInto = (node) => node?.closest?.(TYPED);

function add(parent, tag, className = "", text = "") {
  const node = parent.appendChild(document.createElement(tag));
  node.className = className;
  node.textContent = text;
  return node;
}

function header(row, { name, unit, help }) {
  const cell = add(row, "th", "", name);
  cell.scope = "col";
  cell.title = help;
  if (unit) add(cell, "span", "unit", unit);
}

function fill(row, { text, page, marks, look, title }, column) {
  const cell = add(row, "td", `${look} ${column.numeric ? "numeric" : ""}`);
  cell.dataset.field = column.id;
  const button = add(cell, "button");
  button.type = "button";
  button.tabIndex = -1;
  button.title = title || "";
  const line = add(button, "span", "text");
  for (const [sign, meaning] of marks) {
    const mark = add(line, "span", "mark", sign);
    mark.title = meaning;
    mark.role = "img";
    mark.ariaLabel = meaning;
    line.append(" ");
  }
  add(line, "span", "value", text);
  if (page) add(button, "span", "page", page);
}

function draw(root, { columns, rows }) {
  const head = root.querySelector("thead tr");
  head.replaceChildren();
  header(head, { name: _("Document"), help: "" });
  columns.forEach((column) => header(head, column));
  const body = root.querySelector("tbody");
  body.replaceChildren();
  for (const { id, name, cells } of rows) {
    const row = add(body, "tr");
    row.dataset.id = id;
    const lead = add(row, "th", "", name);
    lead.scope = "row";
    lead.title = name;
    cells.forEach((cell, index) => fill(row, cell, columns[index]));
  }
}

class Matrix {
  constructor(root) {
    this.root = root;
    this.queue = []; // what was pressed since the last click or key, before the answer to it
    this.pressed = (event) => this.press(event);
    root.addEventListener("click", (event) => this.open(event.target.closest("td")));
    root.addEventListener("keydown", (event) => this.move(event));
  }

  update(data, send) {
    Object.assign(this, { data, send });
    const drawn = JSON.stringify([data.columns, data.rows]);
    const focused = this.root.getRootNode().activeElement?.closest?.("td");
    const place = focused && this.placeOf(focused);
    if (this.drawn !== drawn) draw(this.root, data);
    this.drawn = drawn;
    const cell = this.select(data.selected);
    if (String(data.selected) !== String(this.shown)) cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.shown = data.selected;
    if (this.isAnswered?.()) this.goOn();
    if (place) (cell ?? this.at(place))?.querySelector("button").focus({ preventScroll: true });
  }

  placeOf(cell) {
    return [cell.parentElement.dataset.id, cell.dataset.field];
  }

  at([id, field]) {
    return this.root.querySelector(`tr[data-id="${id}"] td[data-field="${field}"]`);
  }

  /** Marks a cell; it, else the first, is the one that the tab key reaches. */
  select(place) {
    const before = this.root.querySelector("td.selected");
    before?.classList.remove("selected");
    if (before) before.querySelector("button").ariaCurrent = null;
    const cell = place && this.at(place);
    cell?.classList.add("selected");
    if (cell) cell.querySelector("button").ariaCurrent = "true";
    this.reach(cell ?? this.root.querySelector("td"));
    return cell;
  }

  reach(cell) {
    this.root.querySelectorAll('button[tabindex="0"]').forEach((button) => (button.tabIndex = -1));
    if (cell) cell.querySelector("button").tabIndex = 0;
  }

  open(cell) {
    if (!cell) return;
    const place = this.placeOf(cell);
    this.select(place);
    this.forget();
    this.before = null;
    this.send.setTriggerValue("open", place);
    if (String(place) !== String(this.data.selected)) this.wait(() => String(place) === String(this.data.selected));
  }

  wait(isAnswered) {
    this.isAnswered = isAnswered;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.forget(), PATIENCE_MS);
  }

  forget() {
    clearTimeout(this.timer);
    this.isAnswered = null;
    this.queue = [];
  }

  /** Does what was pressed meanwhile to the cell that is selected now; not to the same cell, nor while a value is written. */
  goOn() {
    const [action, ...later] = this.queue;
    this.forget();
    if (!action || this.data.correcting || String(this.data.selected) === this.before) return;
    this.tell(action);
    this.queue = later;
  }

  tell(action) {
    const at = Date.now();
    this.before = String(this.data.selected);
    this.send.setTriggerValue("press", { action, cell: this.data.selected, seen: this.data.seen, at });
    this.wait(() => this.data.answered === at);
  }

  /** Moves the focus to a neighbouring cell; the key goes no further, or the viewer would turn to another citation. */
  move(event) {
    const cell = event.composedPath()[0].closest?.("td");
    const step = STEPS[event.key];
    if (!cell || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const rows = [...this.root.querySelectorAll("tbody tr")];
    const row = rows[rows.indexOf(cell.parentElement) + step[0]];
    const next = row?.children[[...cell.parentElement.children].indexOf(cell) + step[1]];
    if (!next?.matches("td")) return;
    this.reach(next);
    next.querySelector("button").focus();
  }

  /** Takes a key before Streamlit does, to which c and r mean something else; while a value is written it decides nothing. */
  press(event) {
    const isLeaving = event.key === "Escape" && this.data.correcting;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('[role="dialog"]')) return;
    const action = isLeaving ? "leave" : !localStorage.getItem(OFF) && !typesInto(event.composedPath()[0]) && ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat || (this.data.correcting && !isLeaving)) return;
    if (this.isAnswered && !isLeaving) this.queue.push(action);
    else this.tell(action);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".matrix");
  root.matrix ??= new Matrix(root);
  root.matrix.update(data, { setTriggerValue });
  document.addEventListener("keydown", root.matrix.pressed, true);
  return () => document.removeEventListener("keydown", root.matrix.pressed, true);
}
