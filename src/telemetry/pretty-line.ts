import { isJsonObject, parseJson, type Json } from '../lib/json.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};
/** Where the facts begin, so that they stand below each other. */
const MESSAGE_CHARS = 24;

/** A line of the log for people: `14:03:07.120 INFO  generation  status=200 model=acme/one ms=812`. Times are UTC. */
export function formatPretty(line: string): string {
  const parsed = parseJson(line);
  if (!isJsonObject(parsed)) return line;
  const { level, time, msg, ...facts } = parsed;
  const clock = typeof time === 'number' ? new Date(time).toISOString().slice(11, 23) : '            ';
  const reported = Object.entries(facts).map(([name, value]) => `${name}=${formatValue(value)}`);
  const message = typeof msg === 'string' ? formatValue(msg, false) : '';
  const head = `${clock} ${LEVELS[Number(level)] ?? '     '} ${reported.length === 0 ? message : message.padEnd(MESSAGE_CHARS)}`;
  return `${[head, ...reported].join(' ').trimEnd()}\n`;
}

/** A terminal must not obey what stands in a value. */
function formatValue(value: Json | undefined, quotes = true): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null);
  const isPlain = /^[^\s"=\p{Cc}]+$/u.test(value);
  return isPlain
    ? value
    : quotes
      ? JSON.stringify(value).replaceAll(/\p{Cc}/gu, ' ')
      : value.replaceAll(/\p{Cc}/gu, ' ');
}
