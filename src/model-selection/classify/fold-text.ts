const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Of Latin letters only, several in a row included: marks of other scripts make other letters. */
const ACCENTS = /(?<=[a-z])[\u0300-\u036f]+/g;

/**
 * Lower case, without accents, straight quotes: many people type none of them, and `\b` of a pattern knows ASCII letters
 * only. Scripts whose marks make other letters (Cyrillic, Hangul, kana, Devanagari) stay as they are.
 */
export function foldText(text: string): string {
  const lower = text.toLowerCase();
  if (ASCII_ONLY.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replaceAll(ACCENTS, '')
    .normalize('NFC')
    .replaceAll(/[’‘]/g, "'")
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o');
}
