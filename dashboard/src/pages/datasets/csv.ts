/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One cell: quoted where it must be, and defused where a spreadsheet would run it. Numbers stay numbers. */
function toCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = value === null ? '' : FORMULA.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param note stands in the first line, as the query that found the rows */
export function toCsv(
  note: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [[`# ${note}`], header, ...rows].map((row) => row.map(toCell).join(',')).join('\r\n');
}
