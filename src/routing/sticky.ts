import { hash } from 'node:crypto';
import { withoutAttribution } from '../canonical/attribution.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringMap } from '../lib/expiring-map.ts';
import type { SharedValues } from '../store/shared/contract.ts';
import { endpointName } from './endpoint-name.ts';

/** What ties the requests of one conversation together. */
export interface Session {
  /** Made when it is first asked for: most conversations are with models that nothing ties. */
  readonly key: () => string;
  /** The caller named it; else it is what the conversation begins with, which ties only once a cache was used. */
  readonly isNamed: boolean;
  /** Absent: no router asks for more. */
  readonly hold?: SessionHold | undefined;
}

/** A router keeps a session with whom of its models answers, and with the provider, though no cache saves there. */
export interface SessionHold {
  /** Parts it from the same session's requests for a model by name. */
  readonly name: string;
  /** Whom it is about, by slug. */
  readonly models: readonly string[];
  /** From one success to the next. */
  readonly idleMs: number;
  /** The model answered. */
  keep(model: string): void;
}

/** Ties a session to the endpoint whose cache holds its prompt. @source generation.md 3.6 */
export interface StickySessions {
  /** `undefined` where nothing may be tied. */
  sessionOf(request: GenerationRequest, accountId: string): Session | undefined;
  /** The endpoint that a session's requests for a model go to, by `endpointName`. Asking keeps no session alive: a success does. */
  find(session: Session, model: Model): string | undefined;
  /** What other processes know of the same, of models that this one knows nothing of; `undefined`: nobody need be asked. */
  ask(session: Session, models: readonly Model[]): Promise<ReadonlyMap<Model, string>> | undefined;
  /** An attempt of the session succeeded. @param usage once it is known */
  succeeded(session: Session, endpoint: Endpoint, usage: Usage | undefined): void;
  /** An endpoint of the session failed: the session is not held to it. */
  failed(session: Session, endpoint: Endpoint): void;
}

const SESSIONS_MAX = 100_000;
const BYTES_MAX = 64 * 1_024 * 1_024;
const IDLE_MS = 10 * 60_000;
/** Others are told that a session goes on no more often than this. */
const TELL_AGAIN_MS = 60_000;
/** A prompt that is told apart only further on shares its cache so far; long first messages need not be hashed whole. */
const HASHED_CHARS_MAX = 8_192;

export interface StickyParts {
  readonly clock: Clock;
  /** Through which processes tell each other; absent: there is one. */
  readonly values?: SharedValues | undefined;
}

interface Tie {
  /** By `endpointName`; empty: the endpoint failed, and there is none. */
  readonly name: string;
  /** When others were told, monotonic ms. */
  readonly toldMs: number;
  /** Monotonic ms. */
  readonly untilMs: number;
}

export function createStickySessions({ clock, values }: StickyParts): StickySessions {
  const limits = { entriesMax: SESSIONS_MAX, bytesMax: BYTES_MAX, lifetimeMs: IDLE_MS };
  const ties = new ExpiringMap<Tie>(limits, () => clock.monotonicMs());
  function look(key: string): Tie | undefined {
    const known = ties.peek(key);
    return known !== undefined && known.untilMs > clock.monotonicMs() ? known : undefined;
  }
  function tie(key: string, name: string, idleMs: number): void {
    const nowMs = clock.monotonicMs();
    const before = look(key);
    const isNews = values !== undefined && (before?.name !== name || nowMs - before.toldMs >= TELL_AGAIN_MS);
    if (isNews) values.set(`tie:${key}`, name, idleMs);
    const toldMs = isNews ? nowMs : (before?.toldMs ?? nowMs);
    ties.set(key, { name, toldMs, untilMs: nowMs + idleMs }, name.length);
  }

  return {
    sessionOf: (request, accountId) =>
      request.directives.provider.order === undefined ? sessionOf(request, accountId) : undefined,
    find: (session, model) =>
      ties.size === 0 || !mayTie(session, model) ? undefined : look(keyOf(session, model.slug))?.name || undefined,
    ask(session, models) {
      if (values === undefined) return undefined;
      const unknown = models
        .filter((model) => mayTie(session, model))
        .map((model) => ({ model, key: keyOf(session, model.slug) }))
        .filter(({ key }) => look(key) === undefined);
      return unknown.length === 0 ? undefined : askAll(values, unknown);
    },
    succeeded(session, endpoint, usage) {
      const hold = holdOf(session, endpoint.model);
      hold?.keep(endpoint.model);
      if (hold === undefined && !savesByCache(endpoint)) return;
      const hasUsedCache = usage !== undefined && usage.cacheReadTokens + usage.cacheWriteTokens > 0;
      const key = keyOf(session, endpoint.model);
      const name = endpointName(endpoint);
      if (session.isNamed || hasUsedCache || look(key)?.name === name) tie(key, name, hold?.idleMs ?? IDLE_MS);
    },
    failed(session, endpoint) {
      if (ties.size === 0) return;
      const hold = holdOf(session, endpoint.model);
      if (hold === undefined && !savesByCache(endpoint)) return;
      const key = keyOf(session, endpoint.model);
      // No end of time is shorter than none at all: the map has no other way to forget one.
      if (look(key)?.name === endpointName(endpoint)) tie(key, '', hold?.idleMs ?? IDLE_MS);
    },
  };
}

/** @source generation.md 3.6: of an account, a model and a key; a router's beside the same session's own */
function keyOf(session: Session, model: string): string {
  const hold = holdOf(session, model);
  return hash('sha256', `${session.key()} ${hold === undefined ? '' : `${hold.name} `}${model}`, 'base64');
}

function holdOf({ hold }: Session, model: string): SessionHold | undefined {
  return hold?.models.includes(model) === true ? hold : undefined;
}

function mayTie(session: Session, { slug, endpoints }: Model): boolean {
  return endpoints.length > 1 && (endpoints.some(savesByCache) || holdOf(session, slug) !== undefined);
}

async function askAll(
  values: SharedValues,
  unknown: readonly { readonly model: Model; readonly key: string }[],
): Promise<ReadonlyMap<Model, string>> {
  const found = new Map<Model, string>();
  await Promise.all(
    unknown.map(async ({ model, key }) => {
      const name = await values.get(`tie:${key}`);
      if (name !== undefined && name !== '') found.set(model, name);
    }),
  );
  return found;
}

/** @source generation.md 3.6: only where reading the cache is cheaper than reading the prompt */
export function savesByCache({ price }: Endpoint): boolean {
  return price?.cacheRead !== undefined && price.cacheRead < price.prompt;
}

/** Body before header is settled where the request is read. @source generation.md 3.6 */
function sessionOf({ directives, settings, turns }: GenerationRequest, accountId: string): Session {
  const named = directives.sessionId ?? settings.promptCacheKey;
  if (named !== undefined && named !== '') return { key: () => `${accountId} named ${named}`, isNamed: true };
  let key: string | undefined;
  return { key: () => (key ??= `${accountId} turns ${beginningOf(turns)}`), isNamed: false };
}

function beginningOf(turns: readonly Turn[]): string {
  const isInstruction = ({ role }: Turn): boolean => role === 'system' || role === 'developer';
  const instruction = turns.find(isInstruction);
  const message = turns.find((turn) => !isInstruction(turn));
  return hash('sha256', `${textOf(instruction)}\u0000${textOf(message)}`, 'base64');
}

function textOf(turn: Turn | undefined): string {
  let text = '';
  for (const block of turn?.blocks ?? []) {
    // Without the line that changes with every request. pains.md 24
    if (block.type === 'text') text += withoutAttribution(block.text);
    if (text.length >= HASHED_CHARS_MAX) return text.slice(0, HASHED_CHARS_MAX);
  }
  return text;
}
