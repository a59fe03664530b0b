// Translations for our scripts; rag/ui/components.py defines LANGUAGE and TRANSLATIONS before this.

/** Translates a message and fills in its {fields}. */
function _(message, values = {}) {
  return (TRANSLATIONS[message] ?? message).replace(/\{(\w+)\}/g, (own, name) => values[name] ?? own);
}

const NUMBER_FORMAT = new Intl.NumberFormat(LANGUAGE);

/** Formats a number in the current language. */
const decimal = (value) => NUMBER_FORMAT.format(value);

