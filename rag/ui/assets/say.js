// The words of our scripts in the language of the page: LANGUAGE and SAID stand before this (rag/ui/components.py).

/** A message with what it names in braces. */
function _(message, values = {}) {
  return (SAID[message] ?? message).replace(/\{(\w+)\}/g, (own, name) => values[name] ?? own);
}

const FIGURES = new Intl.NumberFormat(LANGUAGE);

/** A number as the language writes it. */
const decimal = (value) => FIGURES.format(value);

