import { z } from 'zod';
import type { ServerTool } from '../contract.ts';

const parameters = z.strictObject({
  timezone: z
    .string()
    .refine(isTimeZone, { error: 'must be the IANA name of a time zone, such as "Europe/Berlin"' })
    .nullish(),
});
const noArguments = z.strictObject({});

/** The date and the time of day, which no model knows. @spec tool-29 */
export const datetime: ServerTool<typeof parameters, typeof noArguments> = {
  type: 'service:datetime',
  summary: 'Tells the date and the time.',
  parameters,
  onlyReads: () => true,
  describe: ({ timezone }) => ({
    description: `Gives the current date and time in the time zone ${timezone ?? 'UTC'}.`,
    arguments: noArguments,
  }),
  open: ({ timezone }, { nowMs }) => ({
    run: () => {
      const zone = timezone ?? 'UTC';
      return Promise.resolve({ result: { datetime: formatTime(nowMs(), zone), timezone: zone } });
    },
  }),
};

function isTimeZone(name: string): boolean {
  try {
    // Its constructor alone knows which names there are.
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** ISO 8601 with milliseconds and the offset that the zone has then: `2026-11-21T10:15:30.123+01:00`. */
export function formatTime(atMs: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'longOffset',
  });
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  // `GMT` alone is no offset at all, and old offsets have seconds, which ISO 8601 has not.
  const offset = /[+-]\d\d:\d\d/.exec(part('timeZoneName'))?.[0] ?? '+00:00';
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  return `${date}T${part('hour')}:${part('minute')}:${part('second')}.${part('fractionalSecond')}${offset}`;
}
