import { readFileSync } from 'node:fs';
import { parseFlags } from '../config/flags.ts';
import { findGatewayUrl } from '../config/gateway-url.ts';
import { readSecretVariable } from '../config/secret-file.ts';
import { createHttpClient, TransportError } from '../lib/net/http-client.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../lib/json.ts';
import { CommandError, UsageError } from './command.ts';
import type { Io } from './command.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1_024 * 1_024;

/** `model-gateway explain`: how a running gateway would route a request, without a token spent. */
export async function runExplain(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, {
    model: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
    json: { type: 'boolean' },
    config: { type: 'string' },
  });
  const key =
    values.key ?? readSecretVariable(io.env, 'GATEWAY_API_KEY') ?? readSecretVariable(io.env, 'GATEWAY_MANAGEMENT_KEY');
  if (key === undefined || key === '') throw new UsageError('explain: give a key with --key or in GATEWAY_API_KEY');
  const url = URL.parse(values.url ?? findGatewayUrl(values.config, io.env));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`--url: must be an http:// or https:// URL, not ${JSON.stringify(values.url)}`);
  const [file, ...more] = words;
  if (more.length > 0) throw new UsageError('explain: takes one file');
  const body = file === undefined ? formatBody(values.model) : await readBody(file, io);
  const { status, answer } = await ask(url, key, body);
  if (values.json === true) io.stdout.write(`${JSON.stringify(answer, undefined, 2)}\n`);
  else if (status === 200) io.stdout.write(formatExplanation(answer));
  else io.stderr.write(`${messageOf(answer) ?? `The gateway answered with status ${status}.`}\n`);
  return status === 200 && answer['error'] === undefined ? 0 : 1;
}

function formatBody(model: string | undefined): string {
  if (model === undefined) throw new UsageError('explain: give a request in a file, or a model with --model');
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
}

async function readBody(file: string, io: Io): Promise<string> {
  if (file !== '-') {
    try {
      return readFileSync(file, 'utf8');
    } catch (cause) {
      throw new CommandError(`${file}: cannot be read`, { cause });
    }
  }
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function ask(
  url: URL,
  key: string,
  body: string,
): Promise<{ readonly status: number; readonly answer: JsonObject }> {
  const client = createHttpClient();
  try {
    const call = client.call({
      origin: url.origin,
      path: `${url.pathname.replace(/\/(?:v1\/?)?$/, '')}/v1/route/explain`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    const inbound = await call.answer;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (let chunk = await inbound.read(); chunk !== undefined && bytes <= BYTES_MAX; chunk = await inbound.read()) {
      chunks.push(chunk);
      bytes += chunk.length;
    }
    const answer = parseJson(Buffer.concat(chunks).toString('utf8'));
    return { status: inbound.status, answer: isJsonObject(answer) ? answer : {} };
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause;
    throw new CommandError(`No gateway responds at ${url.origin}.`, { cause });
  } finally {
    await client.close();
  }
}

function messageOf(answer: JsonObject): string | undefined {
  const { error } = answer;
  return isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : undefined;
}

function formatExplanation(answer: JsonObject): string {
  const lines = [
    `${textOf(answer['requested'])}: ${textOf(answer['ordering'])}, about ${textOf(answer['estimated_prompt_tokens'])} prompt tokens`,
  ];
  for (const one of objectsOf(answer['routers'])) lines.push(...formatRouter(one));
  for (const one of objectsOf(answer['candidates'])) {
    const cost = formatCost(one['price'], one['estimated_cost']);
    const notes = [
      ...(typeof one['credential'] === 'string' ? [`own credential ${one['credential']}`] : []),
      ...(one['health'] === 'normal' ? [] : [textOf(one['health'])]),
      ...(one['probe'] === true ? ['probe'] : []),
      ...(typeof one['demoted_by'] === 'string' ? [`misses ${one['demoted_by']}`] : []),
    ];
    lines.push(
      `  ${textOf(one['position'])}. ${nameOf(one)}  ${cost}${notes.length > 0 ? `  (${notes.join(', ')})` : ''}`,
    );
  }
  lines.push(...formatSession(answer['sticky']));
  for (const one of objectsOf(answer['resting']))
    lines.push(`  in cooldown: ${nameOf(one)}  for ${textOf(one['ready_in_ms'])} ms`);
  for (const one of objectsOf(answer['excluded'])) {
    const lacks = typeof one['lacks'] === 'string' ? ` (${one['lacks']})` : '';
    lines.push(`  left out ${nameOf(one)}  ${textOf(one['reason'])}${lacks}`);
  }
  const refusal = messageOf(answer);
  if (refusal !== undefined) lines.push(refusal);
  return `${lines.join('\n')}\n`;
}

/** Models that a ranking shows: the best ones, and those that were chosen. */
const RANKED_SHOWN = 5;

function formatRouter(router: JsonObject): readonly string[] {
  const { task_type: task, difficulty, chosen } = router;
  const score = isJsonObject(difficulty) ? `, difficulty ${textOf(difficulty['score'])}` : '';
  const names: readonly Json[] = Array.isArray(chosen) ? chosen : [];
  const about = typeof task === 'string' ? ` takes it for ${task}${score} and` : '';
  const lines = [`  ${textOf(router['router'])}${about} chooses ${names.map((name) => textOf(name)).join(', ')}`];
  const ranking = objectsOf(router['ranking']);
  const shown = ranking.filter((one, at) => at < RANKED_SHOWN || names.includes(one['model'] ?? null));
  for (const one of shown) {
    const { model, ...figures } = one;
    lines.push(`    ${textOf(model)}  ${Object.entries(figures).map(formatFigure).join(', ')}`);
  }
  if (ranking.length > shown.length) lines.push(`    and ${ranking.length - shown.length} more`);
  const reasons = new Map<string, number>();
  for (const one of objectsOf(router['left_out'])) {
    const reason = textOf(one['reason']);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  if (reasons.size > 0)
    lines.push(`    left out ${[...reasons].map(([reason, count]) => `${count} by ${reason}`).join(', ')}`);
  return lines;
}

function formatFigure([name, value]: readonly [string, Json | undefined]): string {
  return `${name.replaceAll('_', ' ')} ${textOf(value)}`;
}

function formatCost(price: Json | undefined, estimate: Json | undefined): string {
  if (!isJsonObject(price) || !isJsonObject(estimate)) return 'price unknown';
  const most = estimate['max'] === undefined ? '' : `, at most $${usdOf(estimate['max'])}`;
  // What is no generation has prices of many kinds: the most that it may cost says enough.
  if (estimate['prompt'] === undefined) return `at most $${usdOf(estimate['max'])}`;
  const listed = `$${usdOf(price['prompt'])}/$${usdOf(price['completion'])} per million tokens`;
  return `${listed}, $${usdOf(estimate['prompt'])} for the prompt${most}`;
}

/** Nothing where staying at an endpoint saves nothing. */
function formatSession(sticky: Json | undefined): readonly string[] {
  if (!isJsonObject(sticky) || typeof sticky['saves_at_most'] !== 'number' || sticky['saves_at_most'] === 0) return [];
  const state = sticky['held'] === true ? 'stays where it was' : 'is not pinned yet';
  return [
    `  the session (${textOf(sticky['session'])}) ${state}; its cache saves at most $${usdOf(sticky['saves_at_most'])}`,
  ];
}

/** Small amounts as decimals, not as powers of ten. */
function usdOf(amount: Json | undefined): string {
  return typeof amount === 'number'
    ? Number(amount.toPrecision(6))
        .toFixed(USD_DECIMALS)
        .replace(/\.?0+$/, '')
    : '?';
}

const USD_DECIMALS = 9;

function nameOf(endpoint: JsonObject): string {
  return `${textOf(endpoint['provider'])}  ${textOf(endpoint['model'])}`;
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one: Json) => isJsonObject(one)) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
