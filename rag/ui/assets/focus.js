// Puts the cursor into a field as soon as it is there, unless the user types elsewhere. Touch screens would show a keyboard.

const known = new WeakSet();

function focus(selector) {
  const field = document.querySelector(selector);
  if (!field) return false;
  if (!known.has(field) && !document.activeElement?.matches("input, textarea, [contenteditable='true']")) field.focus({ preventScroll: true });
  known.add(field);
  return true;
}

export default function ({ data }) {
  if (!matchMedia("(pointer: fine)").matches || focus(data)) return;
  const watch = new MutationObserver(() => focus(data) && watch.disconnect());
  watch.observe(document.body, { subtree: true, childList: true });
  return () => watch.disconnect();
}
