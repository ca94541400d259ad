import { parseFlags, type ParsedFlags } from '../config/flags.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { unknownVerb, UsageError, type Io } from './command.ts';
import { objectsOf, table, textOf, usd } from './eval/format.ts';
import { openGatewayClient, type GatewayClient } from './eval/gateway-client.ts';

const FLAGS = {
  text: { type: 'string' },
  start: { type: 'string' },
  end: { type: 'string' },
  'max-cost': { type: 'string' },
  sample: { type: 'string' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
} as const;
type Flags = ParsedFlags<typeof FLAGS>['values'];

const VERBS = ['list', 'show', 'enable', 'disable', 'test', 'backfill', 'backfills', 'cancel'] as const;
type Verb = (typeof VERBS)[number];
const LISTED = 100;

/** `model-gateway classifiers`: classifiers of a running gateway. */
export async function runClassifiers(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [word = '', id, ...generations] = words;
  const verb = VERBS.find((known) => known === word);
  if (verb === undefined) throw unknownVerb('classifiers', word, VERBS);
  if (verb !== 'list' && id === undefined) throw new UsageError(`classifiers ${verb}: name a classifier by its id`);
  const surplus = verb === 'list' ? id : verb === 'test' ? undefined : generations[0];
  if (surplus !== undefined) throw new UsageError(`classifiers ${verb}: ${surplus}: unexpected argument`);
  const sent = bodyOf(verb, generations, values);
  const client = openGatewayClient(values, io, 'classifiers');
  try {
    const answer = await callFor(client, verb, encodeURIComponent(id ?? ''), sent);
    // What models and callers wrote may hold anything; a terminal must not obey it.
    const lines = values.json === true ? JSON.stringify(answer) : format(verb, answer);
    io.stdout.write(`${lines.replace(/[^\P{Cc}\n]/gu, ' ').trimEnd()}\n`);
    return 0;
  } finally {
    await client.close();
  }
}

function bodyOf(verb: Verb, generations: readonly string[], flags: Flags): JsonObject {
  if (verb === 'test') {
    if ((flags.text === undefined) === (generations.length === 0))
      throw new UsageError('classifiers test: name generations, or give a text with --text');
    return flags.text === undefined ? { generation_ids: [...generations] } : { text: flags.text };
  }
  if (verb !== 'backfill') return {};
  const { start, end, 'max-cost': cost, sample } = flags;
  if (start === undefined || cost === undefined)
    throw new UsageError(
      'classifiers backfill: say from when with --start, and what it may cost in USD with --max-cost',
    );
  return {
    start: timeOf('--start', start),
    end: timeOf('--end', end ?? new Date().toISOString()),
    max_cost_usd: numberOf('--max-cost', cost),
    ...(sample !== undefined && { sampling_rate: numberOf('--sample', sample) }),
  };
}

function timeOf(flag: string, text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`${flag}: must be a date or a time, such as 2026-11-01, not "${text}"`);
  return new Date(ms).toISOString();
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`${flag}: must be a number, not "${text}"`);
  return value;
}

async function callFor(client: GatewayClient, verb: Verb, id: string, body: JsonObject): Promise<JsonObject> {
  const path = `/classifiers/${id}`;
  switch (verb) {
    case 'list':
      return client.call(`/classifiers?limit=${LISTED}`);
    case 'enable':
    case 'disable':
      return client.call(path, { method: 'PATCH', body: { enabled: verb === 'enable' } });
    case 'test':
      return client.call(`${path}/test`, { method: 'POST', body });
    case 'backfill':
      return client.call(`${path}/backfill`, { method: 'POST', body });
    case 'backfills':
      return client.call(`${path}/backfill`);
    case 'cancel':
      return client.call(`${path}/backfill`, { method: 'DELETE' });
    case 'show':
    default:
      return client.call(path);
  }
}

function format(verb: Verb, { data }: JsonObject): string {
  const one = isJsonObject(data) ? data : {};
  switch (verb) {
    case 'list':
      return formatList(objectsOf(data));
    case 'test':
      return objectsOf(data).map(formatTrial).join('\n');
    case 'backfill':
      return formatBackfills([one]);
    case 'backfills':
      return formatBackfills(objectsOf(data));
    case 'cancel':
      return 'It ends. Its tags stay.';
    case 'show':
    case 'enable':
    case 'disable':
    default:
      return formatOne(one);
  }
}

function stateOf({ enabled }: JsonObject): string {
  return enabled === true ? 'enabled' : 'disabled';
}

function formatList(classifiers: readonly JsonObject[]): string {
  if (classifiers.length === 0) return 'There is no classifier.';
  return table([
    ['id', 'state', 'model', 'today', 'classified', 'name'],
    ...classifiers.map((each) => {
      const today = isJsonObject(each['today']) ? each['today'] : {};
      return [
        textOf(each['id']),
        stateOf(each),
        textOf(each['model']),
        usd(today['cost']),
        textOf(today['classified']),
        textOf(each['name']),
      ];
    }),
  ]);
}

function formatOne(one: JsonObject): string {
  const dimensions = objectsOf(one['dimensions']).map(
    ({ name, values }) =>
      `  ${textOf(name)}: ${objectsOf(values)
        .map(({ value }) => textOf(value))
        .join(', ')}`,
  );
  const today = isJsonObject(one['today']) ? one['today'] : {};
  return [
    `${textOf(one['name'])}  ${stateOf(one)}  version ${textOf(one['version'])}  ${textOf(one['model'])}`,
    ...dimensions,
    `today: ${textOf(today['classified'])} classified, ${textOf(today['failed'])} failed, ${textOf(today['dropped'])} left out, ${usd(today['cost'])} of ${usd(one['daily_cost_limit_usd'])}`,
  ].join('\n');
}

function formatTrial({ generation_id: id, tags, error, cost }: JsonObject): string {
  const said = isJsonObject(tags)
    ? Object.entries(tags)
        .map(([name, value]) => `${name}=${textOf(value)}`)
        .join(' ') || 'no tags'
    : textOf(error ?? 'no tags');
  return `${id === null ? 'text' : textOf(id)}  ${said}  ${usd(cost)}`;
}

function formatBackfills(backfills: readonly JsonObject[]): string {
  if (backfills.length === 0) return 'No backfill was made in the last week.';
  return table([
    ['state', 'read', 'classified', 'failed', 'skipped', 'cost', 'from', 'to'],
    ...backfills.map((one) => [
      one['error'] === null ? textOf(one['state']) : `${textOf(one['state'])} (${textOf(one['error'])})`,
      `${textOf(one['read'])} of ${textOf(one['total'])}`,
      textOf(one['classified']),
      textOf(one['failed']),
      textOf(one['skipped']),
      `${usd(one['cost'])} of ${usd(one['max_cost_usd'])}`,
      textOf(one['start']),
      textOf(one['end']),
    ]),
  ]);
}
