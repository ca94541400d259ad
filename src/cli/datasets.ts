import { parseFlags, type ParsedFlags } from '../config/flags.ts';
import type { JsonObject } from '../lib/json.ts';
import { unknownVerb, UsageError, type Io } from './command.ts';
import { objectsOf, table, textOf, usd } from './eval/format.ts';
import { openGatewayClient } from './eval/gateway-client.ts';

const FLAGS = {
  start: { type: 'string' },
  end: { type: 'string' },
  period: { type: 'string' },
  sort: { type: 'string' },
  app: { type: 'string' },
  model: { type: 'string' },
  turns: { type: 'string' },
  'min-group': { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
} as const;
type Flag = Exclude<keyof typeof FLAGS, 'json' | 'url' | 'key' | 'config'>;

interface DatasetCommand {
  readonly path: string;
  /** Its flags, by the names that the gateway has for them. */
  readonly flags: Readonly<Partial<Record<Flag, string>>>;
  readonly columns: readonly (readonly [title: string, member: string])[];
}

const DATES = { start: 'start_date', end: 'end_date', 'min-group': 'min_group' } as const;

/** Values are the gateway's to judge: its sentence names what is wrong. */
const COMMANDS: Readonly<Record<string, DatasetCommand>> = {
  rankings: {
    path: '/datasets/rankings-daily',
    flags: { ...DATES, period: 'period' },
    columns: [
      ['date', 'date'],
      ['model', 'model_permaslug'],
      ['tokens', 'total_tokens'],
    ],
  },
  apps: {
    path: '/datasets/app-rankings',
    flags: { ...DATES, sort: 'sort', limit: 'limit' },
    columns: [
      ['rank', 'rank'],
      ['application', 'app_name'],
      ['tokens', 'total_tokens'],
      ['requests', 'total_requests'],
    ],
  },
  sessions: {
    path: '/datasets/session-cost',
    flags: { app: 'app_slug', model: 'model', turns: 'turn_range', limit: 'limit', 'min-group': 'min_group' },
    columns: [
      ['application', 'app_name'],
      ['model', 'model_permaslug'],
      ['turns', 'turn_range'],
      ['median', 'median_session_cost_usd'],
      ['sessions', 'sessions'],
    ],
  },
};

/** `model-gateway datasets`: what callers of a running gateway use, and what their sessions cost. */
export async function runDatasets(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb = '', surplus] = words;
  const command = Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined;
  if (command === undefined) throw unknownVerb('datasets', verb, Object.keys(COMMANDS));
  if (surplus !== undefined) throw new UsageError(`datasets ${verb}: ${surplus}: unexpected argument`);
  const query = queryOf(verb, command, values);
  const client = openGatewayClient(values, io, 'datasets');
  try {
    const answer = await client.call(`${command.path}${query}`);
    const lines = values.json === true ? JSON.stringify(answer) : format(command, answer);
    // Names of applications are callers' own; a terminal must not obey them.
    io.stdout.write(`${lines.replace(/[^\P{Cc}\n]/gu, ' ').trimEnd()}\n`);
    return 0;
  } finally {
    await client.close();
  }
}

function queryOf(verb: string, { flags }: DatasetCommand, values: ParsedFlags<typeof FLAGS>['values']): string {
  const query = new URLSearchParams();
  for (const flag of Object.keys(FLAGS)) {
    const value = isFlag(flag) ? values[flag] : undefined;
    if (!isFlag(flag) || value === undefined) continue;
    const member = flags[flag];
    if (member === undefined) throw new UsageError(`datasets ${verb}: --${flag} has no meaning there`);
    query.append(member, value);
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function isFlag(name: string): name is Flag {
  return name !== 'json' && name !== 'url' && name !== 'key' && name !== 'config';
}

function format({ columns }: DatasetCommand, { data }: JsonObject): string {
  const rows = objectsOf(data);
  if (rows.length === 0) return 'No traffic in that time.';
  const cells = rows.map((row) =>
    columns.map(([, member]) => (member.endsWith('_usd') ? usd(row[member]) : textOf(row[member]))),
  );
  return table([columns.map(([title]) => title), ...cells]);
}
