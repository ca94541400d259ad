/** A part of a file; both ends are included. */
export interface WantedRange {
  readonly start: number;
  readonly end: number;
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The part that a `Range` header wants; `undefined`: all of the file. What is no single range of the file is ignored, as a
 * server may. @source RFC 9110, 14.2
 */
export function parseRange(header: string | undefined, bytes: number): WantedRange | undefined {
  const [, first = '', last = ''] = header === undefined ? [] : (ONE_RANGE.exec(header) ?? []);
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return start <= end && start < bytes ? { start, end } : undefined;
}
