import { randomUUID } from 'node:crypto';
import type { RunningGenerations } from '../../http/management/operations/services.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { RunningGeneration, RunningHere, RunningSight } from '../../pipeline/running-requests.ts';
import type { InvalidationBus } from '../../state/contract.ts';

export interface RunningDeps {
  readonly here: RunningHere;
  readonly bus: Pick<InvalidationBus, 'announce' | 'subscribe'>;
  /** How many other processes share the state; `undefined`: unknown, so that what does not arrive in time is left out. */
  readonly others: number | undefined;
}

/** Of the newest ones of each process. */
const LISTED_MAX = 100;
/** Of one process, in one message: the bus of Redis drops what is longer than 65,536 with its escapes. */
const MESSAGE_CHARS_MAX = 30_000;
/** Other processes have so long to reply. */
const REPLY_MS_MAX = 500;
/** Questions that wait for replies at a time. */
const OPEN_MAX = 100;
const ASK = 'running-ask';
const REPLY = 'running-reply';

type Question = { readonly kind: 'list' } | { readonly kind: 'stop'; readonly id: string };
interface Open {
  readonly replies: JsonObject[];
  readonly onReply: () => void;
}

/** Requests under way in all processes that share state: each replies for its own. */
export function createRunning({ here, bus, others }: RunningDeps): RunningGenerations {
  const open = new Map<string, Open>();

  bus.subscribe(ASK, (message) => {
    const question = parseJson(message);
    if (!isJsonObject(question) || typeof question['nonce'] !== 'string') return;
    const reply = replyTo(here, question);
    bus.announce(REPLY, JSON.stringify({ nonce: question['nonce'], ...reply }));
  });
  bus.subscribe(REPLY, (message) => {
    const reply = parseJson(message);
    if (!isJsonObject(reply) || typeof reply['nonce'] !== 'string') return;
    const waiting = open.get(reply['nonce']);
    if (waiting === undefined) return;
    waiting.replies.push(reply);
    waiting.onReply();
  });

  /** @param isEnough other replies are not waited for */
  async function ask(
    question: Question,
    sight: RunningSight,
    isEnough: (reply: JsonObject) => boolean,
  ): Promise<readonly JsonObject[]> {
    if (others === 0 || open.size >= OPEN_MAX) return [];
    const nonce = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    const replies: JsonObject[] = [];
    open.set(nonce, {
      replies,
      onReply: () => (replies.length === others || replies.some(isEnough)) && resolve(),
    });
    const timer = setTimeout(resolve, REPLY_MS_MAX);
    bus.announce(ASK, JSON.stringify({ nonce, ...question, sight }));
    await promise;
    clearTimeout(timer);
    open.delete(nonce);
    return replies;
  }

  return {
    async list(sight) {
      const own = here.list(sight, LISTED_MAX);
      const replies = await ask({ kind: 'list' }, sight, () => false);
      const rows = [...own.rows, ...replies.flatMap((reply) => rowsOf(reply))];
      return {
        total: replies.reduce((sum, { total }) => sum + (typeof total === 'number' ? total : 0), own.total),
        rows: rows.toSorted((one, other) => one.ageMs - other.ageMs).slice(0, LISTED_MAX),
        processes: 1 + replies.length,
      };
    },
    async stop(id, sight) {
      if (here.stop(id, sight)) return true;
      const replies = await ask({ kind: 'stop', id }, sight, ({ stopped }) => stopped === true);
      return replies.some(({ stopped }) => stopped === true);
    },
  };
}

function replyTo(here: RunningHere, { kind, id, sight: sent }: JsonObject): object {
  const sight = parseSight(sent);
  if (sight === undefined) return kind === 'stop' ? { stopped: false } : { total: 0, rows: [] };
  if (kind === 'stop') return { stopped: typeof id === 'string' && here.stop(id, sight) };
  const { total, rows } = here.list(sight, LISTED_MAX);
  let chars = 0;
  return { total, rows: rows.filter((row) => (chars += JSON.stringify(row).length) <= MESSAGE_CHARS_MAX) };
}

/** `undefined`: what another version sent is not understood, and so nothing is shown. */
function parseSight(sent: Json | undefined): RunningSight | undefined {
  if (sent === undefined || !isJsonObject(sent)) return undefined;
  const { onlyKey, onlyOf, ...others } = sent;
  if (Object.keys(others).length > 0 || (onlyKey !== undefined && typeof onlyKey !== 'string')) return undefined;
  if (onlyOf === undefined) return onlyKey === undefined ? {} : { onlyKey };
  if (!isJsonObject(onlyOf) || typeof onlyOf['memberId'] !== 'string' || !Array.isArray(onlyOf['workspaceIds']))
    return undefined;
  const workspaceIds = onlyOf['workspaceIds'].filter((id) => typeof id === 'string');
  return { ...(onlyKey !== undefined && { onlyKey }), onlyOf: { memberId: onlyOf['memberId'], workspaceIds } };
}

/** Of another process, which may be of another version. */
function rowsOf({ rows }: JsonObject): readonly RunningGeneration[] {
  return Array.isArray(rows) ? rows.filter(isRow) : [];
}

function isRow(value: Json): value is Json & RunningGeneration {
  return isJsonObject(value) && typeof value['id'] === 'string' && typeof value['ageMs'] === 'number';
}
