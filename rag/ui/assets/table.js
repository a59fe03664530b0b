// A paginated table of documents. The selection is stored as document ids, so it survives filtering and sorting.
// Document texts are set as text, never as HTML.

const DATE = { day: "numeric", month: "short", year: "numeric" };
const DAY = new Intl.DateTimeFormat(LANGUAGE, DATE); // to make one takes longer than to fill a row
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const TIME = new Intl.DateTimeFormat(LANGUAGE, CLOCK);
const MOMENT = new Intl.DateTimeFormat(LANGUAGE, { ...DATE, ...CLOCK });

function add(parent, tag, className = "", text = "") {
  const node = parent.appendChild(document.createElement(tag));
  node.className = className;
  node.textContent = text;
  return node;
}

function day(iso) {
  const [year, month, date] = iso.split("-").map(Number);
  return DAY.format(new Date(year, month - 1, date));
}

const FILL = {
  name(cell, value) {
    const button = add(cell, "button", "open", value);
    button.type = "button";
    button.title = value;
  },
  words(cell, value) {
    cell.textContent = value ?? "";
    cell.title = value ?? "";
  },
  number: (cell, value) => (cell.textContent = decimal(value)),
  size: (cell, value) => (cell.textContent = value),
  version: (cell, value) => (cell.textContent = `v${value}`),
  day: (cell, value) => (cell.textContent = value ? day(value) : ""),
  moment(cell, value) {
    const moment = new Date(value);
    const isToday = moment.toDateString() === new Date().toDateString();
    cell.textContent = (isToday ? TIME : DAY).format(moment);
    cell.title = MOMENT.format(moment);
  },
  tags: (cell, value) => value.forEach((tag) => add(cell, "span", "tag", tag)),
  status(cell, { text, reason }) {
    add(cell, "span", "state", text);
    if (reason) add(cell, "span", "reason", reason);
  },
};

const NUMBERS = new Set(["number", "size", "version"]);

function header({ field, label, kind, sorts }, order) {
  const cell = document.createElement("th");
  cell.scope = "col";
  if (NUMBERS.has(kind)) cell.className = "number";
  if (!sorts) {
    add(cell, "span", "", label);
    return cell;
  }
  const button = add(cell, "button", "", label);
  button.type = "button";
  button.dataset.field = field;
  cell.ariaSort = order.by === field ? (order.descending ? "descending" : "ascending") : "none";
  return cell;
}

function line(row, columns) {
  const made = document.createElement("tr");
  made.dataset.id = row.id;
  made.classList.add(row.state);
  const box = add(add(made, "td", "tick"), "input");
  box.type = "checkbox";
  box.ariaLabel = _("Select {name}", { name: row.name });
  for (const { field, kind } of columns) {
    const cell = add(made, "td", NUMBERS.has(kind) ? "number" : kind);
    FILL[kind](cell, row[field]);
  }
  return made;
}

function draw(root, data) {
  const heads = root.querySelector("thead tr");
  const tick = document.createElement("th");
  tick.className = "tick";
  const box = add(tick, "input");
  box.type = "checkbox";
  box.ariaLabel = _("Select all on this page");
  heads.replaceChildren(tick, ...data.columns.map((column) => header(column, data.order)));
  root.querySelector("tbody").replaceChildren(...data.rows.map((row) => line(row, data.columns)));
  const last = data.first + data.rows.length;
  root.querySelector(".range").textContent =
    _("{first}–{last} of {total}", { first: decimal(data.first + 1), last: decimal(last), total: decimal(data.total) });
  for (const button of root.querySelectorAll(".turn")) {
    button.hidden = data.total <= data.size;
    button.disabled = button.dataset.step < 0 ? data.first === 0 : last >= data.total;
  }
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".documents");
  const rows = data.rows.map(({ id }) => id);
  if (root.turn !== data.chosen.turn) {
    root.turn = data.chosen.turn;
    root.chosen = new Set(data.chosen.ids);
  }
  const chosen = root.chosen;
  const drawn = JSON.stringify([data.columns, data.rows, data.order, data.first, data.total]);
  if (root.drawn !== drawn) {
    const focused = root.getRootNode().activeElement?.dataset?.field;
    if (root.page !== JSON.stringify([data.order, data.first])) root.querySelector(".scroll").scrollTop = 0;
    root.page = JSON.stringify([data.order, data.first]);
    root.drawn = drawn;
    draw(root, data);
    if (focused) root.querySelector(`[data-field="${focused}"]`)?.focus();
  }

  function mark() {
    for (const row of root.querySelectorAll("tbody tr")) {
      const isChosen = chosen.has(row.dataset.id);
      row.classList.toggle("ticked", isChosen);
      row.querySelector("input").checked = isChosen;
    }
    const here = rows.filter((id) => chosen.has(id)).length;
    const box = root.querySelector("thead input");
    box.checked = here > 0 && here === rows.length;
    box.indeterminate = here > 0 && here < rows.length;
    root.querySelector(".chosen").textContent = chosen.size ? _("{count} selected", { count: decimal(chosen.size) }) : "";
    root.querySelector(".none").hidden = !chosen.size;
    const all = root.querySelector(".all");
    all.hidden = !(box.checked && chosen.size < data.total);
    all.textContent = _("Select all {count}", { count: decimal(data.total) });
  }

  function choose(ids, isChosen) {
    for (const id of ids) isChosen ? chosen.add(id) : chosen.delete(id);
    mark();
    setStateValue("chosen", { turn: root.turn, ids: [...chosen] });
  }

  /** Selects from the last ticked row to this one, with the shift key. */
  function span(id, event) {
    const [from, to] = [rows.indexOf(root.last), rows.indexOf(id)].sort((a, b) => a - b);
    return event.shiftKey && from >= 0 ? rows.slice(from, to + 1) : [id];
  }

  mark();
  root.onclick = (event) => {
    const { target } = event;
    const id = target.closest("tbody tr")?.dataset.id;
    if (target.matches("thead input")) choose(rows, target.checked);
    else if (target.matches("td input")) {
      choose(span(id, event), target.checked);
      root.last = id;
    } else if (target.closest("td.tick")) target.closest("td.tick").querySelector("input").click();
    else if (target.matches(".open")) setTriggerValue("open", id);
    else if (target.dataset.field) {
      const descending = data.order.by === target.dataset.field ? !data.order.descending : data.falling.includes(target.dataset.field);
      setStateValue("order", { by: target.dataset.field, descending });
    } else if (target.matches(".turn")) setStateValue("page", { of: data.of, first: data.first + Number(target.dataset.step) * data.size });
    else if (target.matches(".none")) choose([...chosen], false);
    else if (target.matches(".all")) setTriggerValue("all", true);
  };
}
