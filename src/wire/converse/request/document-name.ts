/** @source AWS SDK `DocumentBlock.name`, 3.1162 (2026-11): at most 200 of these, no two spaces in a row. */
const ILLEGAL = /[^a-zA-Z0-9\s\-()[\]]+/g;
const NAME_CHARS_MAX = 200;
const SUFFIX_CHARS_MAX = 12;
const NAME_DEFAULT = 'document';

/**
 * A name that this wire takes and that no document before has: two of one name are refused. Names count up in the order
 * of the conversation, so that a longer one keeps those of its beginning.
 */
export function takeDocumentName(given: string | undefined, taken: Set<string>): string {
  const stem = (given ?? '')
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(ILLEGAL, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARS_MAX - SUFFIX_CHARS_MAX)
    .trim();
  const base = stem === '' ? NAME_DEFAULT : stem;
  let name = base;
  for (let copy = 2; taken.has(name); copy++) name = `${base}-${copy}`;
  taken.add(name);
  return name;
}
