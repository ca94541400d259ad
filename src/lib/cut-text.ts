/** At most so many UTF-16 units: not in the middle of a word where one ends near, and never of a character. */
export function cutAtWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = withoutHalf(text.slice(0, charsMax));
  const space = /\s/u.test(text.charAt(charsMax)) ? cut.length : cut.search(/\s\S*$/u);
  return (space > charsMax / 2 ? cut.slice(0, space) : cut).trimEnd();
}

/** The first half of a character at its end means nothing without the second. */
function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
