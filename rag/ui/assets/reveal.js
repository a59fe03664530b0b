// Scrolls to an element that is new, and has the browser ask before a page with something unsaved is left.

const known = new WeakSet();
let wanted;
let isUnsaved = false;

function reveal() {
  const fresh = [...document.querySelectorAll(wanted)].filter((element) => !known.has(element));
  fresh.forEach((element) => known.add(element));
  fresh[0]?.scrollIntoView({ block: "nearest" });
}

const stay = (event) => isUnsaved && event.preventDefault();
const watch = new MutationObserver(reveal);

export default function ({ data: { selector, unsaved } }) {
  [wanted, isUnsaved] = [selector, unsaved];
  window.addEventListener("beforeunload", stay);
  watch.observe(document.body, { subtree: true, childList: true });
  reveal();
  return () => {
    isUnsaved = false;
    watch.disconnect();
    window.removeEventListener("beforeunload", stay);
  };
}
