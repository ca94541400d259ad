import { readFileSync } from 'node:fs';
import { parseFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { EVAL_FLAGS, type EvalFlags } from './eval/flags.ts';
import { formatComparisons, formatRun, formatRuns, objectsOf, textOf } from './eval/format.ts';
import { openGatewayClient, type GatewayClient } from './eval/gateway-client.ts';
import { runDataset } from './eval/run-eval.ts';

const LISTED = 100;

/** The words of each command after its name. */
const COMMANDS = {
  run: ['the file of a dataset'],
  list: [],
  show: ['a run'],
  compare: ['a run', 'another one, or the same'],
  publish: ['a run'],
  import: ['a file of scores'],
  collect: ['the name of the dataset'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** `model-gateway eval`: benchmark runs of a running gateway. */
export async function runEval(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, EVAL_FLAGS);
  const [verb, ...rest] = words;
  if (!isCommand(verb)) throw unknownVerb('eval', verb, Object.keys(COMMANDS));
  const name = verb;
  const wanted = COMMANDS[name];
  if (rest.length < wanted.length) throw new UsageError(`eval ${name}: name ${wanted[rest.length] ?? ''}`);
  if (rest.length > wanted.length)
    throw new UsageError(`eval ${name}: ${rest[wanted.length] ?? ''}: unexpected argument`);
  const client = openGatewayClient(values, io, 'eval');
  try {
    return await act(client, { name, rest, values }, io);
  } finally {
    await client.close();
  }
}

function isCommand(word: string | undefined): word is keyof typeof COMMANDS {
  return word !== undefined && Object.hasOwn(COMMANDS, word);
}

interface Given {
  readonly name: keyof typeof COMMANDS;
  readonly rest: readonly string[];
  readonly values: EvalFlags;
}

async function act(client: GatewayClient, { name, rest, values }: Given, io: Io): Promise<number> {
  const [first = '', second = ''] = rest.map(encodeURIComponent);
  const print = (answer: JsonObject, format: (answer: JsonObject) => string): number => {
    io.stdout.write(values.json === true ? `${JSON.stringify(answer)}\n` : format(answer));
    return 0;
  };
  switch (name) {
    case 'run':
      return runDataset(client, rest[0] ?? '', values, io);
    case 'list':
      return print(await client.call(`/benchmarks/runs?limit=${LISTED}`), ({ data }) => formatRuns(objectsOf(data)));
    case 'show':
      return print(await client.call(`/benchmarks/runs/${first}`), formatRun);
    case 'compare': {
      const force = values.force === true ? '&force=true' : '';
      return print(await client.call(`/benchmarks/compare?a=${first}&b=${second}${force}`), formatComparisons);
    }
    case 'publish':
      return print(await client.call(`/benchmarks/runs/${first}/publish`, { method: 'POST' }), formatPublished);
    case 'collect':
      return print(
        await client.call('/benchmarks/datasets/from-requests', {
          method: 'POST',
          body: collectionOf(rest[0] ?? '', values, systemClock.nowMs()),
        }),
        ({ data, skipped }) => {
          const { id, items } = isJsonObject(data) ? data : {};
          return `The dataset ${textOf(id)} has ${textOf(items)} requests; ${textOf(skipped)} were left out.\n`;
        },
      );
    case 'import':
    default:
      return print(
        await client.call('/benchmarks/import', { method: 'POST', body: importOf(rest[0] ?? '', values) }),
        ({ imported }) => `${textOf(imported)} scores are in the catalog.\n`,
      );
  }
}

function formatPublished({ metric, data, skipped }: JsonObject): string {
  const published = objectsOf(data).map((one) => `${textOf(one['model'])}  ${textOf(one['score'])}\n`);
  const left = objectsOf(skipped).map((one) => `${textOf(one['model'])} is left out: it ${textOf(one['reason'])}\n`);
  return `${textOf(metric)}\n${published.join('')}${left.join('')}Routers use it once \`scores.abilities\` of the configuration names it.\n`;
}

const DAYS = 7;
const DAYS_MAX = 3_650;
const MS_PER_DAY = 86_400_000;

/** Kept requests of the last days. */
function collectionOf(name: string, values: EvalFlags, nowMs: number): JsonObject {
  const days = numberOf('days', values.days, DAYS_MAX) ?? DAYS;
  const { limit, models, workspace } = values;
  return {
    name,
    start: new Date(nowMs - days * MS_PER_DAY).toISOString(),
    end: new Date(nowMs).toISOString(),
    ...(models !== undefined && { models: models.split(',') }),
    ...(limit !== undefined && { limit: numberOf('limit', limit, Number.MAX_SAFE_INTEGER) }),
    ...(workspace !== undefined && { workspace_id: workspace }),
    ...(values.expected === true && { expected: 'response' }),
  };
}

function numberOf(flag: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0 && value <= max))
    throw new UsageError(`eval collect: --${flag} takes a number above 0, at most ${max}`);
  return value;
}

/** A JSON array of rows, or an object that has them as `rows`. */
function importOf(file: string, { license, citation }: EvalFlags): JsonObject {
  if (license === undefined) throw new UsageError('eval import: say with --license under which licence you may use it');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file}: cannot be read`, { cause });
  }
  const value = parseJson(text);
  const rows = isJsonObject(value) ? value['rows'] : value;
  if (!Array.isArray(rows)) throw new CommandError(`${file}: is no JSON array of scores`);
  return { rows, license, ...(citation !== undefined && { citation }) };
}
