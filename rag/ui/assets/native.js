// Translates Streamlit's own English texts around fields, never their contents.

const PLACES = [
  '[data-testid="stFileUploaderDropzone"]',
  '[data-testid="InputInstructions"]',
  '[data-testid="stSelectboxVirtualDropdown"]',
  '[data-testid="stTooltipContent"]',
].join();
const WORDS = new Map(
  Object.entries({
    Upload: _("Choose files"),
    "Drag and drop files here": _("Drop files here"),
    "Drag and drop directories here": _("Drop folders here"),
    "Drag and drop a file here": _("Drop a file here"),
    "Press Enter to submit form": _("Press Enter to submit"),
    "Press Enter to apply": _("Press Enter to apply"),
    "No results": _("No matches"),
    "Choose options": _("Choose"),
    "Choose an option": _("Choose"),
    "Select all": _("Select all"),
  }),
);
const SHAPES = [
  [/^(\d+)([KMG]B) per file$/, (_all, size, unit) => _("{size} per file", { size: `${size} ${unit}` })],
  [/^Add: (.*)$/s, (_all, name) => _("Add: {name}", { name })],
];

function said(text) {
  const words = text.trim();
  if (WORDS.has(words)) return WORDS.get(words);
  const [shape, say] = SHAPES.find(([shape]) => shape.test(words)) ?? [];
  return shape ? words.replace(shape, say) : null;
}

function translate(node) {
  if (node.nodeType === Node.TEXT_NODE) {
    const words = node.parentElement?.closest(PLACES) && said(node.data);
    if (words && words !== node.data) node.data = words;
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) translate(walker.currentNode);
  for (const field of [node, ...node.querySelectorAll("input[placeholder]")])
    if (WORDS.has(field.placeholder)) field.placeholder = WORDS.get(field.placeholder);
}

export default function () {
  document.documentElement.lang = LANGUAGE;
  const watch = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) (type === "characterData" ? [target] : addedNodes).forEach(translate);
  });
  translate(document.body);
  watch.observe(document.body, { subtree: true, childList: true, characterData: true });
  return () => {
    watch.disconnect();
    document.documentElement.lang = "en";
  };
}
