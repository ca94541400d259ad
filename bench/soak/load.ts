import { setTimeout as wait } from 'node:timers/promises';

import type { ChatOrMessages } from '../../tests/support/chat-or-messages.ts';
import type { Random } from '../../tests/support/random.ts';
import type { Ask, Caller, Manner, Seen } from './caller.ts';
import { AT_A_TIME, type SoakKeys } from './gateway.ts';
import type { SoakUpstream } from './upstream.ts';

const WORKERS = 20;
/** Between two requests of a worker, at most. */
const PAUSE_MS_MAX = 250;
/** More than may be under way at a time. */
const BURST = AT_A_TIME + 8;
const SESSIONS = 5_000;
const TOOLS = {
  chat: [
    { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: {} } } } },
  ],
  messages: [{ name: 'get_weather', input_schema: { type: 'object', properties: { city: {} } } }],
} as const;

export interface SoakTally {
  sent: number;
  /** Sent, and to be found in the records. */
  toBeRecorded: number;
  readonly byScenario: Map<string, number>;
  readonly byStatus: Map<number, number>;
  wrong: number;
  firstWrong: string | undefined;
}

export interface SoakDeps {
  readonly caller: Caller;
  readonly upstream: SoakUpstream;
  readonly keys: SoakKeys;
  readonly random: Random;
  readonly tally: SoakTally;
}

/** One kind of request, what comes of it, and how often it is made relative to the others. */
interface Scenario {
  readonly name: string;
  readonly weight: number;
  readonly run: (deps: SoakDeps, name: string) => Promise<void>;
}

interface Kind {
  readonly model: string | readonly string[];
  readonly statuses: readonly number[];
  readonly stream?: boolean;
  readonly manner?: Manner;
  readonly key?: keyof SoakKeys;
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly format?: ChatOrMessages;
  /** Refused before it is a generation. */
  readonly isUnrecorded?: boolean;
  /** What an answer that was read must end in, if it was good. */
  readonly ends?: RegExp;
}

const STREAM_END = /data: \[DONE\]\n\n$|"message_stop"\}\n\n$/;
/** As each format ends a stream that failed. */
const BROKEN_END = /"error"/;
const EVERY_TALK = ['talk', 'talk-chat', 'talk-messages'];

const SCENARIOS: readonly Scenario[] = [
  scenario('whole answers', 24, { model: EVERY_TALK, statuses: [200] }),
  scenario('streams', 24, { model: EVERY_TALK, statuses: [200], stream: true, ends: STREAM_END }),
  scenario('paced streams', 10, { model: ['paced', 'paced-chat'], statuses: [200], stream: true, ends: STREAM_END }),
  scenario('limited key', 8, { model: EVERY_TALK, statuses: [200], key: 'limited', more: { max_tokens: 200 } }),
  scenario('limited key, streams', 8, {
    model: EVERY_TALK,
    statuses: [200],
    key: 'limited',
    stream: true,
    ends: STREAM_END,
  }),
  scenario('spent key', 3, { model: 'talk', statuses: [200, 402], key: 'poor', more: { max_tokens: 200 } }),
  toolScenario('tool calls', false),
  toolScenario('tool calls, streamed', true),
  scenario('hang-ups', 6, { model: ['paced', 'paced-messages'], statuses: [200], stream: true, manner: 'hangs up' }),
  scenario('hang-ups, limited', 3, {
    model: 'paced',
    statuses: [200],
    stream: true,
    manner: 'hangs up',
    key: 'limited',
  }),
  { name: 'hang-ups before an answer', weight: 3, run: hangUpEarly },
  scenario('slow readers', 1, {
    model: ['long', 'long-messages'],
    statuses: [200],
    stream: true,
    manner: 'reads slowly',
    ends: STREAM_END,
  }),
  scenario('upstream down', 3, { model: 'down', statuses: [500, 502, 503] }),
  scenario('upstream busy', 2, { model: 'busy', statuses: [429, 502, 503, 529] }),
  scenario('upstream odd', 2, { model: 'odd', statuses: [502, 503] }),
  scenario('upstream cuts', 3, { model: 'cut-chat', statuses: [200, 502, 503], stream: true, ends: BROKEN_END }),
  scenario('fallbacks', 4, { model: 'fallback', statuses: [200] }),
  scenario('rescues', 3, {
    model: 'rescued',
    statuses: [200],
    stream: true,
    headers: { 'x-service-rescue': 'enabled' },
    ends: STREAM_END,
  }),
  scenario('unknown models', 1, { model: 'none', statuses: [404] }),
  scenario('invalid requests', 2, {
    model: 'talk',
    statuses: [400],
    more: { max_tokens: -1 },
    isUnrecorded: true,
  }),
  { name: 'unknown keys', weight: 2, run: askWithUnknownKey },
  { name: 'bursts', weight: 0.2, run: sendBurst },
];

export const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

/** Keeps the gateway busy until it is stopped, and returns when the last response is over. */
export async function runSoakLoad(deps: SoakDeps, over: AbortSignal): Promise<void> {
  const total = SCENARIOS.reduce((sum, { weight }) => sum + weight, 0);
  const pick = (): Scenario | undefined => {
    let at = deps.random.next() * total;
    return SCENARIOS.find(({ weight }) => (at -= weight) < 0);
  };
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (!over.aborted) {
        const chosen = pick();
        await chosen?.run(deps, chosen.name);
        await wait(deps.random.int(0, PAUSE_MS_MAX));
      }
    }),
  );
}

function scenario(name: string, weight: number, kind: Kind): Scenario {
  return { name, weight, run: (deps) => ask(deps, name, kind) };
}

function toolScenario(name: string, stream: boolean): Scenario {
  return {
    name,
    weight: 5,
    run(deps) {
      const format = deps.random.pick(['chat', 'messages'] as const);
      const model = ['tools', 'tools-chat', 'tools-messages'];
      const ends = stream ? { ends: STREAM_END } : {};
      return ask(deps, name, { model, statuses: [200], stream, format, more: { tools: TOOLS[format] }, ...ends });
    },
  };
}

async function ask(deps: SoakDeps, name: string, kind: Kind): Promise<void> {
  const { caller, random, keys, tally } = deps;
  const format = kind.format ?? random.pick(['chat', 'messages'] as const);
  count(tally, name, kind.isUnrecorded !== true);
  const question: Ask = {
    format,
    key: keys[kind.key ?? 'open'],
    body: { ...bodyOf(deps, kind), ...kind.more },
    ...(kind.headers !== undefined && { headers: kind.headers }),
    ...(kind.manner !== undefined && { manner: kind.manner }),
  };
  await caller.ask(question).then(
    (seen) => check(tally, name, kind, seen),
    (error: unknown) => reportWrong(tally, `${name}: ${String(error)}`),
  );
}

function bodyOf({ random }: SoakDeps, { model, stream = false }: Kind): object {
  return {
    model: `soak/${typeof model === 'string' ? model : random.pick(model)}`,
    max_tokens: 500,
    stream,
    messages: [{ role: 'user', content: `Question ${random.int(0, 1e9)}: what is the weather like?` }],
    ...(random.chance(0.3) && { session_id: `session-${random.int(0, SESSIONS)}` }),
  };
}

function check(tally: SoakTally, name: string, kind: Kind, { status, tail, complete }: Seen): void {
  tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
  const isExpected = kind.statuses.includes(status);
  const isWhole = status !== 200 || !complete || (kind.ends ?? /\}\n?$/).test(tail);
  if (!isExpected || !isWhole) reportWrong(tally, `${name}: ${status} ${tail}`);
}

function reportWrong(tally: SoakTally, what: string): void {
  tally.wrong += 1;
  tally.firstWrong ??= what;
}

function count(tally: SoakTally, name: string, isRecorded: boolean): void {
  tally.sent += 1;
  tally.toBeRecorded += isRecorded ? 1 : 0;
  tally.byScenario.set(name, (tally.byScenario.get(name) ?? 0) + 1);
}

let hangUps = 0;

/** While the upstream has the request and says nothing. */
async function hangUpEarly(deps: SoakDeps, name: string): Promise<void> {
  const word = `silent-${++hangUps}-`;
  count(deps.tally, name, true);
  const arrived = deps.upstream.arrival(word);
  const messages = [{ role: 'user', content: word }];
  const format = deps.random.pick(['chat', 'messages'] as const);
  const key = deps.keys[deps.random.pick(['open', 'limited'] as const)];
  const body = { model: 'soak/silent', max_tokens: 500, stream: deps.random.chance(0.5), messages };
  await deps.caller
    .ask({ format, key, body, hangsUpAfter: arrived })
    .catch((error: unknown) => reportWrong(deps.tally, `${name}: ${String(error)}`));
}

async function askWithUnknownKey(deps: SoakDeps, name: string): Promise<void> {
  count(deps.tally, name, false);
  const key = `sk-unknown-${deps.random.int(0, 1e9)}`;
  const body = { model: 'soak/talk', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
  await deps.caller.ask({ format: 'chat', key, body }).then(
    (seen) => check(deps.tally, name, { model: 'talk', statuses: [401] }, seen),
    (error: unknown) => reportWrong(deps.tally, `${name}: ${String(error)}`),
  );
}

/** Those beyond the limit are refused, and not recorded. */
async function sendBurst(deps: SoakDeps, name: string): Promise<void> {
  const seen = await sendAtOnce(deps, BURST);
  for (const one of seen) {
    count(deps.tally, name, one?.status !== 429);
    if (one === undefined) reportWrong(deps.tally, `${name}: no answer`);
    else check(deps.tally, name, { model: 'paced', statuses: [200, 429], ends: STREAM_END }, one);
  }
}

/** Streams on the hasty key, all under way at the same time. Undefined for one that broke. */
export async function sendAtOnce(
  { caller, keys }: Pick<SoakDeps, 'caller' | 'keys'>,
  requests: number,
): Promise<readonly (Seen | undefined)[]> {
  const body = {
    model: 'soak/paced',
    max_tokens: 500,
    stream: true,
    messages: [{ role: 'user', content: 'Many at once.' }],
  };
  return Promise.all(
    Array.from({ length: requests }, () =>
      caller.ask({ format: 'chat', key: keys.hasty, body }).catch(() => undefined),
    ),
  );
}
