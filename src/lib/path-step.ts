/**
 * Any text as one step of a path that leads nowhere else: a caller chooses the names that stand in paths. Half a surrogate
 * pair cannot be written, and `.` and `..` mean something else even when they are encoded once.
 */
export function pathStep(text: string): string {
  if (text === '.' || text === '..') return '%252E'.repeat(text.length);
  return encodeURIComponent(text.toWellFormed());
}
