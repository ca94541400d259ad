/** Truncates a text to so many UTF-16 units: at a word where one ends near, and never within a character. */
export function truncateAtWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = withoutHalf(text.slice(0, charsMax));
  const space = /\s/u.test(text.charAt(charsMax)) ? cut.length : cut.search(/\s\S*$/u);
  return (space > charsMax / 2 ? cut.slice(0, space) : cut).trimEnd();
}

/** Removes the first half of a surrogate pair from the end. */
function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
