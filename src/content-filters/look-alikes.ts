/**
 * Characters that show nothing: soft hyphen, combining marks that join letters, zero widths, directions, invisible
 * operators, variation selectors, byte order marks and tags. @source Unicode 17, `Default_Ignorable_Code_Point`
 */
export const MAY_BE_INVISIBLE =
  /[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\udb40]/;

const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;

export function isInvisible(code: number): boolean {
  return (
    MAY_BE_INVISIBLE.test(String.fromCharCode(code > 0xffff ? 0xdb40 : code)) &&
    INVISIBLE.test(String.fromCodePoint(code))
  );
}

const MARK = /^\p{M}$/u;

/**
 * Letters of other scripts, by the Latin ones that they resemble. Only those that look the same in most typefaces.
 * @source Unicode Technical Standard 39, confusables
 */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  a: 'аɑα',
  b: 'ЬƄь',
  c: 'сϲᴄ',
  d: 'ԁɗ',
  e: 'еєҽɛε℮',
  f: 'ϝẝ',
  g: 'ɡց',
  h: 'һհ',
  i: 'іıιɩӏ',
  j: 'јϳ',
  k: 'κк',
  l: 'ⅼǀ',
  m: 'мᴍ',
  n: 'ոп',
  o: 'оοօσ᧐',
  p: 'рρ',
  q: 'ԛզ',
  r: 'гᴦɾ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'υսц',
  v: 'νѵᴠ',
  w: 'ԝωшѡ',
  x: 'хχ',
  y: 'уүγ',
  z: 'ᴢʐ',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'СϹ',
  E: 'ЕΕ',
  G: 'Ԍ',
  H: 'НΗ',
  I: 'ІΙӀ',
  J: 'ЈͿ',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟՕ',
  P: 'РΡ',
  S: 'ЅՏ',
  T: 'ТΤ',
  V: 'Ѵ',
  W: 'Ԝ',
  X: 'ХΧ',
  Y: 'ҮΥ',
  Z: 'Ζ',
  '-': '‐‑‒–—−﹣',
  "'": '‘’ʼ',
  '"': '“”',
  '.': '․。',
  '@': '﹫',
  ' ': '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
};

/** Blocks whose characters are Latin letters and digits in another dress, with accents or without. */
const DRESSED: readonly (readonly [number, number])[] = [
  [0xc0, 0x24f],
  [0x1d00, 0x1d7f],
  [0x1e00, 0x1eff],
  [0x2070, 0x209f],
  [0x2100, 0x218f],
  [0x2460, 0x24ff],
  [0xff01, 0xff5e],
  [0x1d400, 0x1d7ff],
  [0x1f130, 0x1f189],
];

let table: ReadonlyMap<number, string> | undefined;

/** What a character beyond ASCII stands for to the eye: nothing, one of ASCII, or itself. Never longer than it. */
export function foldCharacter(character: string, code: number): string {
  if (isIdeograph(code)) return character;
  table ??= makeTable();
  return table.get(code) ?? (isInvisible(code) || MARK.test(character) ? '' : character);
}

/** Of which texts are full, so that it pays to know: Chinese characters and Korean syllables. */
function isIdeograph(code: number): boolean {
  return (code >= 0x3041 && code <= 0x9fff && code !== 0x3164) || (code >= 0xac00 && code <= 0xd7a3);
}

function makeTable(): ReadonlyMap<number, string> {
  const made = new Map<number, string>();
  for (const [first, last] of DRESSED)
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code);
      const plain = character.normalize('NFKD').replace(/\p{M}/gu, '');
      if (/^[\x20-\x7e]+$/.test(plain) && plain.length <= character.length) made.set(code, plain);
      else if (code >= 0x1f130 && code <= 0x1f149) made.set(code, String.fromCodePoint(code - 0x1f130 + 0x41));
      else if (code >= 0x1f150 && code <= 0x1f169) made.set(code, String.fromCodePoint(code - 0x1f150 + 0x41));
      else if (code >= 0x1f170 && code <= 0x1f189) made.set(code, String.fromCodePoint(code - 0x1f170 + 0x41));
    }
  for (const [plain, alike] of Object.entries(LOOKS_LIKE))
    for (const character of alike) made.set(character.codePointAt(0) ?? 0, plain);
  return made;
}
