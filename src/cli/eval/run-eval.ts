import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { CommandError, UsageError, type Io } from '../command.ts';
import { readSecretVariable } from '../../config/secret-file.ts';
import type { EvalFlags } from './flags.ts';
import { formatRun, objectsOf, textOf } from './format.ts';
import type { GatewayClient } from './gateway-client.ts';

const POLL_MS = 1_000;
const NAME_CHARS_MAX = 64;
const BOUNDARY_BYTES = 16;
const LISTED = 100;

/** A run did not come to its end. */
const EXIT_CAP = 3;
const EXIT_FAILED = 4;

/** Stores the file where the gateway has it not, runs it, and waits for the end. @returns the exit code */
export async function runDataset(client: GatewayClient, file: string, flags: EvalFlags, io: Io): Promise<number> {
  const floors = parseFloors(flags['fail-below']);
  const settings = settingsOf(flags, io);
  const dataset = await store(client, file, flags.name);
  const begun = await client.call('/benchmarks/runs', { method: 'POST', body: { ...settings, dataset_id: dataset } });
  const { estimate } = begun;
  if (isJsonObject(estimate))
    io.stderr.write(
      `${textOf(estimate['calls'])} calls, $${textOf(estimate['cost_usd_low'])} to $${textOf(estimate['cost_usd_high'])}\n`,
    );
  const id = textOf(isJsonObject(begun['data']) ? begun['data']['id'] : undefined);
  const ended = await follow(client, id, io);
  io.stdout.write(flags.json === true ? `${JSON.stringify(ended)}\n` : formatRun(ended));
  return exitCodeOf(ended, floors, io);
}

function settingsOf(flags: EvalFlags, io: Io): JsonObject {
  const { models, 'max-cost': cost } = flags;
  if (models === undefined) throw new UsageError('eval run: name models with --models a,b');
  if (cost === undefined) throw new UsageError('eval run: say what it may cost in USD with --max-cost');
  const judge = flags.judge;
  if ((judge === undefined) !== (flags.rubric === undefined))
    throw new UsageError('eval run: --judge and --rubric belong together');
  if (flags.reference !== undefined && judge === undefined)
    throw new UsageError('eval run: --reference is for a --judge');
  const whole = { repeats: flags.repeats, sample: flags.sample, seed: flags.seed, concurrency: flags.concurrency };
  const numbers = Object.entries({ ...whole, max_tokens: flags['max-tokens'] }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, numberOf(`--${name.replace('_', '-')}`, value)] as const],
  );
  return {
    models: models.split(',').map((model) => model.trim()),
    max_cost_usd: numberOf('--max-cost', cost),
    payer_key_hash: flags.payer ?? ownKeyHash(io),
    ...Object.fromEntries(numbers),
    ...(judge !== undefined && {
      judge: {
        model: judge,
        rubric: flags.rubric ?? '',
        ...(flags.reference !== undefined && { reference_model: flags.reference }),
      },
    }),
  };
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`${flag}: must be a number, not "${text}"`);
  return value;
}

function ownKeyHash({ env }: Io): string {
  const key = readSecretVariable(env, 'GATEWAY_API_KEY');
  if (key === undefined || key === '')
    throw new UsageError('eval run: name the key that pays by its hash with --payer, or set GATEWAY_API_KEY');
  return createHash('sha256').update(key).digest('hex');
}

/** By a model, by the dataset for all models, or for all without a name. */
interface Floor {
  readonly name: string | undefined;
  readonly least: number;
}

function parseFloors(text: string | undefined): readonly Floor[] {
  if (text === undefined) return [];
  return text.split(',').map((one) => {
    const at = one.lastIndexOf('=');
    const least = numberOf('--fail-below', one.slice(at + 1));
    return { name: at < 0 ? undefined : one.slice(0, at).trim(), least };
  });
}

/** @returns the id of the dataset */
async function store(client: GatewayClient, file: string, given: string | undefined): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new CommandError(`${file}: cannot be read`, { cause });
  }
  const name = given ?? nameOf(file);
  const { status, answer } = await client.request('/benchmarks/datasets', {
    method: 'POST',
    body: formOf(name, bytes),
  });
  if (status === 201 && isJsonObject(answer['data'])) return textOf(answer['data']['id']);
  if (status !== 409) throw new CommandError(messageIn(answer) ?? `The gateway answered with status ${status}.`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  for (let offset = 0; ; offset += LISTED) {
    const datasets = objectsOf((await client.call(`/benchmarks/datasets?limit=${LISTED}&offset=${offset}`))['data']);
    const found = datasets.find((one) => one['sha256'] === sha256 && one['name'] === name);
    if (found !== undefined) return textOf(found['id']);
    if (datasets.length < LISTED) throw new CommandError(`The dataset ${name} was deleted meanwhile.`);
  }
}

function messageIn({ error }: JsonObject): string | undefined {
  const message: Json | undefined = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : undefined;
}

/** `Our Questions.jsonl` is `our-questions`. */
function nameOf(file: string): string {
  const plain = basename(file)
    .replace(/\.[^.]*$/, '')
    .toLowerCase();
  const name = plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  return name.slice(0, NAME_CHARS_MAX) || 'dataset';
}

function formOf(name: string, file: Uint8Array): { readonly contentType: string; readonly bytes: Uint8Array } {
  const boundary = createHash('sha256')
    .update(file)
    .digest('hex')
    .slice(0, BOUNDARY_BYTES * 2);
  const part = (header: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${header}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([
      Buffer.from(`${part('name="name"')}${name}\r\n${part('name="file"; filename="dataset.jsonl"')}`),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

/** @returns the run once it is over, or paused */
async function follow(client: GatewayClient, id: string, io: Io): Promise<JsonObject> {
  for (let shown = ''; ;) {
    const found = await client.call(`/benchmarks/runs/${id}`);
    const run = isJsonObject(found['data']) ? found['data'] : {};
    const state = textOf(run['state']);
    const line = `${state}: ${textOf(run['units_done'])} of ${textOf(run['units'])} answers, $${textOf(run['spent_usd'])}\n`;
    if (line !== shown) io.stderr.write(line);
    shown = line;
    if (state !== 'queued' && state !== 'running') return found;
    await wait(POLL_MS);
  }
}

function exitCodeOf(ended: JsonObject, floors: readonly Floor[], io: Io): number {
  const run = isJsonObject(ended['data']) ? ended['data'] : {};
  if (run['state'] !== 'done') {
    const reason = textOf(run['reason']);
    io.stderr.write(`The run ${textOf(run['id'])} is ${textOf(run['state'])}: ${reason}.\n`);
    return reason === 'cost_cap' ? EXIT_CAP : EXIT_FAILED;
  }
  const low = objectsOf(ended['results']).flatMap((result) => {
    const { mean } = result;
    const model = textOf(result['model']);
    const floor = floors.find(({ name }) => name === undefined || name === model || name === run['dataset']);
    const isLow = floor !== undefined && (typeof mean !== 'number' || mean < floor.least);
    return isLow ? [`${model} has ${textOf(mean ?? 'no score')}, below ${floor.least}`] : [];
  });
  for (const line of low) io.stderr.write(`${line}\n`);
  return low.length === 0 ? 0 : EXIT_FAILED;
}
