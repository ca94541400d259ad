/** A clock table of five fields: minute, hour, day of the month, month, day of the week. @source crontab(5), read 2026-11 */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** Whether it is a day of it: where both fields of days are given, one of them is enough. */
  readonly isDay: (dayOfMonth: number, dayOfWeek: number) => boolean;
}

const FIELDS = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  {
    name: 'month',
    from: 1,
    to: 12,
    words: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of the week', from: 0, to: 7, words: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
] as const;
type Field = (typeof FIELDS)[number];

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A leap day may be eight years away, over a century that is no leap year. */
const DAYS_SEARCHED_MAX = 3_000;
/** More than any clock change moves. */
const CHANGE_MINUTES_MAX = 180;
const SUNDAY = 7;

/** @returns what is wrong with it, as a text */
export function parseCron(text: string): Cron | string {
  const parts = text.trim().split(/ +/);
  if (parts.length !== FIELDS.length)
    return 'must have five fields: minute, hour, day of the month, month, day of the week';
  const values: (readonly number[])[] = [];
  for (const [at, field] of FIELDS.entries()) {
    const found = parseField(parts[at] ?? '', field);
    if (typeof found === 'string') return found;
    values.push(found);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values;
  const [anyDay, anyWeekday] = [parts[2]?.startsWith('*'), parts[4]?.startsWith('*')];
  const isDay: Cron['isDay'] = (day, weekday) => {
    const [isOfMonth, isOfWeek] = [days.includes(day), weekdays.includes(weekday)];
    return anyDay || anyWeekday ? isOfMonth && isOfWeek : isOfMonth || isOfWeek;
  };
  return { minutes, hours, months, isDay };
}

function parseField(text: string, field: Field): readonly number[] | string {
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [, range = '', step] = /^([a-z0-9*-]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const [first = '', last] = range.split('-');
    const from = range === '*' ? field.from : numberOf(first, field);
    // `5/10` begins at 5 and goes on to the end.
    const to = range === '*' || (last === undefined && step !== undefined) ? field.to : numberOf(last ?? first, field);
    const by = step === undefined ? 1 : Number(step);
    if (from === undefined || to === undefined || from > to || by === 0 || range.split('-').length > 2)
      return `has ${JSON.stringify(part)}, which is no ${field.name}`;
    for (let value = from; value <= to; value += by)
      values.add(field.name === 'day of the week' ? value % SUNDAY : value);
  }
  return [...values].toSorted((one, other) => one - other);
}

function numberOf(text: string, field: Field): number | undefined {
  const word = 'words' in field ? field.words.findIndex((each) => each === text) : -1;
  const value = word >= 0 ? word + (field.name === 'month' ? 1 : 0) : /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= field.from && value <= field.to ? value : undefined;
}

/**
 * The first time after a moment, Unix ms; `undefined`: there is none. Times are those of a clock on the wall of the zone. What
 * falls into an hour that a clock change leaves out comes at the first minute after it, and an hour that comes twice counts
 * once, the first time.
 */
export function nextTime(cron: Cron, tz: string, afterMs: number): number | undefined {
  const zone = openZone(tz);
  const local = afterMs + zone.offsetMs(afterMs);
  const startMs = local - (local % DAY_MS);
  const earliest = Math.floor((local - startMs) / MINUTE_MS) - CHANGE_MINUTES_MAX;
  // A day earlier: the clock may have been moved over midnight.
  for (let day = -1; day < DAYS_SEARCHED_MAX; day++) {
    const date = new Date(startMs + day * DAY_MS);
    if (!cron.months.includes(date.getUTCMonth() + 1) || !cron.isDay(date.getUTCDate(), date.getUTCDay())) continue;
    for (const hour of cron.hours)
      for (const minute of cron.minutes) {
        if (day * (DAY_MS / MINUTE_MS) + hour * 60 + minute < earliest) continue;
        const atMs = zone.instantOf(date.getTime() + (hour * 60 + minute) * MINUTE_MS);
        if (atMs > afterMs) return atMs;
      }
  }
  return undefined;
}

/** Any of these zones is known to the runtime. */
function openZone(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const offsetMs = (atMs: number): number => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
    return wall - (atMs - (atMs % 1_000));
  };
  return {
    offsetMs,
    /** When the clock first shows this, given as if it were UTC. */
    instantOf(wallMs: number): number {
      const [before, after] = [offsetMs(wallMs - DAY_MS), offsetMs(wallMs + DAY_MS)];
      const shown = [wallMs - before, wallMs - after].filter((atMs) => atMs + offsetMs(atMs) === wallMs);
      if (shown.length > 0) return Math.min(...shown);
      // It is left out: the first minute with the offset that comes after.
      let [early, late] = [wallMs - after, wallMs - before];
      while (late - early > MINUTE_MS) {
        const middle = early + Math.floor((late - early) / 2 / MINUTE_MS) * MINUTE_MS;
        if (offsetMs(middle) === after) late = middle;
        else early = middle;
      }
      return late;
    },
  };
}
