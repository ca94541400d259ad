import { readFileSync } from 'node:fs';
import { parseFlags } from '../config/flags.ts';
import { fitTemperature, ROWS_MIN, type Fit, type LabelledRow } from '../decisions/calibrate.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../lib/json.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { textOf } from './eval/format.ts';
import { openGatewayClient, type GatewayClient } from './eval/gateway-client.ts';

const FLAGS = {
  model: { type: 'string' },
  name: { type: 'string' },
  'max-cost': { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
} as const;

const MILLION = 1_000_000;
const AT_ONCE = 4;
const NAME = /^[a-z0-9_-]{1,64}$/;
const TYPES = ['choice', 'score', 'noul'] as const;
type Type = (typeof TYPES)[number];

/** A line of the file: what is judged, the question, and the answer that is right. */
interface Line {
  readonly state: Json;
  readonly question: JsonObject;
  readonly type: Type;
  /** Names of options, in the order of the question. */
  readonly options: readonly string[];
  readonly answer: number;
}

/** What the gateway gave for them. */
interface Judged {
  readonly rows: ReadonlyMap<Type, readonly LabelledRow[]>;
  readonly method: string;
  readonly costUsd: number;
}

/** `model-gateway decisions calibrate`: how far the probabilities of a model are off, by answers that are known. @spec decision-14 */
export async function runDecisions(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, file, ...more] = words;
  if (verb !== 'calibrate') throw unknownVerb('decisions', verb, ['calibrate']);
  if (file === undefined) throw new UsageError('decisions calibrate: name a file of questions with the right choices');
  if (more[0] !== undefined) throw new UsageError(`decisions calibrate: ${more[0]}: unexpected argument`);
  const { model, name = 'own', 'max-cost': cost = '1' } = values;
  if (model === undefined) throw new UsageError('decisions calibrate: name a model with --model');
  if (!NAME.test(name)) throw new UsageError('--name: must have 1 to 64 of a-z 0-9 _ -');
  const maxUsd = Number(cost);
  if (!(maxUsd > 0)) throw new UsageError(`--max-cost: must be a number above 0, not "${cost}"`);
  const lines = readLines(file);
  const key = values.key ?? io.env['GATEWAY_API_KEY'];
  if (key === undefined || key === '')
    throw new UsageError('decisions: give a normal key with --key or in GATEWAY_API_KEY');
  const client = openGatewayClient({ ...values, key }, io, 'decisions');
  try {
    const judged = await judge(client, lines, model, maxUsd);
    io.stdout.write(report(judged, { model, name }));
    return 0;
  } finally {
    await client.close();
  }
}

/** @throws CommandError that names the first line that is wrong */
function readLines(file: string): readonly Line[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file}: cannot be read.`, { cause });
  }
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [readLine(line, at + 1, file)]));
  if (lines.length < ROWS_MIN)
    throw new CommandError(`${file}: has ${lines.length} lines; at least ${ROWS_MIN} are needed.`);
  return lines;
}

function readLine(line: string, number: number, file: string): Line {
  const wrong = (why: string): CommandError => new CommandError(`${file}: line ${number}: ${why}.`);
  const read = parseJson(line);
  if (!isJsonObject(read)) throw wrong('is no JSON object with state, question and answer');
  const { state, question, answer } = read;
  if (state === undefined || !isJsonObject(question)) throw wrong('must have a state and a question');
  const type = TYPES.find((known) => known === question['type']);
  if (type === undefined) throw wrong('question.type must be choice, score or noul');
  const options = optionsOf(type, question['criteria']);
  const at = typeof answer === 'string' || typeof answer === 'boolean' || typeof answer === 'number';
  const index = at ? options.indexOf(String(answer)) : -1;
  if (index < 0) throw wrong(`answer must be one of ${options.slice(0, 8).join(', ')}`);
  return { state, question, type, options, answer: index };
}

/** Levels are named by their numbers, from 0. */
function optionsOf(type: Type, criteria: Json | undefined): readonly string[] {
  if (type === 'noul') return ['true', 'false'];
  if (type === 'choice') return isJsonObject(criteria) ? Object.keys(criteria) : [];
  return Array.isArray(criteria) ? criteria.map((_text, level) => String(level)) : [];
}

async function judge(client: GatewayClient, lines: readonly Line[], model: string, maxUsd: number): Promise<Judged> {
  const rows = new Map<Type, LabelledRow[]>(TYPES.map((type) => [type, []]));
  const methods = new Set<string>();
  const left = [...lines];
  let costUsd = 0;
  const work = async (): Promise<void> => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      if (costUsd >= maxUsd)
        throw new CommandError(`It has cost ${costUsd.toFixed(6)} USD: raise --max-cost, or send fewer lines.`);
      const { state, question, type, options, answer } = line;
      const body = { model, state, questions: { q: question }, options: { calibration: 'off' } };
      const given = await client.call('/alpha/decisions', { method: 'POST', body });
      const { usage, method, answers } = given;
      costUsd += isJsonObject(usage) ? Number(usage['cost'] ?? 0) : 0;
      methods.add(textOf(method));
      rows
        .get(type)
        ?.push({ millionths: millionthsOf(isJsonObject(answers) ? answers['q'] : undefined, options), answer });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const [method = ''] = methods;
  if (methods.size > 1 || method === 'native')
    throw new CommandError(
      method === 'native'
        ? 'The model decides by itself: its probabilities are its own.'
        : 'The model decided by log-probabilities here and by percentages there: send questions of one kind.',
    );
  return { rows, method, costUsd };
}

function millionthsOf(answer: Json | undefined, options: readonly string[]): readonly number[] {
  const { noul, probabilities } = isJsonObject(answer) ? answer : {};
  if (typeof noul === 'number') return [noul * MILLION, (1 - noul) * MILLION];
  const given = isJsonObject(probabilities) ? probabilities : {};
  return options.map((option) => Number(given[option] ?? 0) * MILLION);
}

function report(
  { rows, method, costUsd }: Judged,
  { model, name }: { readonly model: string; readonly name: string },
): string {
  const fits = [...rows].flatMap(([type, some]): readonly (readonly [Type, number, Fit])[] =>
    some.length < ROWS_MIN ? [] : [[type, some.length, fitTemperature(some)]],
  );
  const short = [...rows].filter(([, some]) => some.length > 0 && some.length < ROWS_MIN);
  const lines = [
    ...fits.map(([type, count, fit]) => describe(type, count, fit)),
    ...short.map(([type, some]) => `${type}: ${some.length} lines are too few for a fit; ${ROWS_MIN} are needed.`),
    `Cost: ${costUsd.toFixed(6)} USD.`,
  ];
  const helpful = fits.filter(([, , fit]) => fit.helps);
  const entry = helpful.map(([type, , fit]) => `${type}: ${fit.temperature.toFixed(3)}`).join(', ');
  const yaml =
    helpful.length === 0
      ? 'Nothing is to be configured.'
      : `For the configuration:\n\ndecisions:\n  calibrations:\n    ${name}: { model: ${JSON.stringify(model)}, method: ${method}, temperatures: { ${entry} } }`;
  return `${lines.join('\n')}\n\n${yaml}\n`;
}

function describe(type: Type, count: number, { temperature, before, heldOut, helps }: Fit): string {
  const change = `error of calibration ${before.ece.toFixed(3)} -> ${heldOut.ece.toFixed(3)}, Brier ${before.brier.toFixed(3)} -> ${heldOut.brier.toFixed(3)}`;
  const verdict = helps ? '' : ': no better on lines that it was not fitted by, so it is refused';
  return `${type}: ${count} lines, temperature ${temperature.toFixed(3)}, ${change}${verdict}`;
}
