const OFFSET = /^([+-])(0\d|1[0-4]):([0-5]\d)$/;
/** The names of the IANA, and no offsets in other spellings. */
const NAME = /^[A-Za-z][\w+-]{0,40}(?:\/[\w+-]{1,40}){0,2}$/;
const MINUTES = 60_000;

/** How far a zone is ahead of UTC at a time, ms. `undefined`: there is no such zone. */
export function offsetOfZone(zone: string, atMs: number): number | undefined {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (hours !== undefined && minutes !== undefined)
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTES;
  const text = nameOfOffset(zone, atMs);
  if (text === undefined) return undefined;
  return text === 'GMT' ? 0 : offsetOfZone(text.slice('GMT'.length), atMs);
}

/** `GMT+02:00` */
function nameOfOffset(timeZone: string, atMs: number): string | undefined {
  if (!NAME.test(timeZone)) return undefined;
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
    return parts.find(({ type }) => type === 'timeZoneName')?.value;
  } catch {
    return undefined;
  }
}
