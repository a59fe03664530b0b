// Sends files dropped anywhere on the page, or pasted outside a field, to the page's upload field.

const FIELD = '[class*="st-key-drop-"] input[type="file"]';
const WRITING = "input, textarea, [contenteditable='true']";

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

/** Returns dropped files, also those in folders. Entries must be read at once: they end with the event. */
async function filesOf(items) {
  const entries = [...items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return (await Promise.all(entries.filter(Boolean).map(within))).flat();
}

async function within(entry) {
  if (entry instanceof File) return [entry];
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.filter(({ name }) => !name.startsWith(".")).map(within))).flat();
}

function hand(files) {
  const field = document.querySelector(FIELD);
  if (!field || !files.length) return;
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  field.files = transfer.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function pasted({ items }) {
  const files = [...items].filter(({ kind }) => kind === "file").map((item) => item.getAsFile());
  return files.filter(Boolean);
}

export default function () {
  const over = (event) => hasFiles(event) && event.preventDefault();
  const enter = (event) => hasFiles(event) && document.documentElement.classList.add("dropping");
  const leave = (event) => event.relatedTarget === null && document.documentElement.classList.remove("dropping");
  const drop = async (event) => {
    document.documentElement.classList.remove("dropping");
    if (!hasFiles(event) || event.target.closest?.('[data-testid="stFileUploaderDropzone"]')) return;
    event.preventDefault();
    hand(await filesOf(event.dataTransfer.items));
  };
  const paste = (event) => {
    const from = event.composedPath()[0];
    if (from instanceof Element && from.closest(WRITING)) return;
    const files = pasted(event.clipboardData);
    const text = event.clipboardData.getData("text/plain").trim();
    if (!files.length && text) {
      const title = text.split("\n", 1)[0].replace(/[^\p{L}\p{N} ]+/gu, " ").trim().slice(0, 40);
      const name = _("Pasted {title}", { title: title || _("text") });
      files.push(new File([text], `${name}.txt`, { type: "text/plain" }));
    }
    if (!files.length) return;
    event.preventDefault();
    hand(files);
  };
  const listeners = { dragover: over, dragenter: enter, dragleave: leave, drop, paste };
  for (const [name, listen] of Object.entries(listeners)) document.addEventListener(name, listen);
  return () => {
    document.documentElement.classList.remove("dropping");
    for (const [name, listen] of Object.entries(listeners)) document.removeEventListener(name, listen);
  };
}
