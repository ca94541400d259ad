/**
 * Encodes any text as one segment of a path, so that a name from a caller cannot lead to another path. Half a surrogate pair
 * cannot be encoded, and `.` and `..` keep their meaning even when they are encoded once.
 */
export function encodePathSegment(text: string): string {
  if (text === '.' || text === '..') return '%252E'.repeat(text.length);
  return encodeURIComponent(text.toWellFormed());
}
