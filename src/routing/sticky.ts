import { hash } from 'node:crypto';
import { withoutAttribution } from '../canonical/attribution.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringCache } from '../lib/cache/expiring-cache.ts';
import type { SharedValues } from '../state/contract.ts';
import { endpointName } from './endpoint-name.ts';

/** What ties the requests of one conversation together. */
export interface Session {
  /** Computed on first use: most conversations are with models without affinity. */
  readonly key: () => string;
  /** The caller named it; else it is what the conversation begins with, which ties only once a cache was used. */
  readonly isNamed: boolean;
  /** Absent: no router needs more. */
  readonly pin?: SessionPin | undefined;
}

/** A router keeps a session with the model that serves, and with its provider, even without a cache. */
export interface SessionPin {
  /** Parts it from the same session's requests for a model by name. */
  readonly name: string;
  /** The models of the router, by slug. */
  readonly models: readonly string[];
  /** From one success to the next. */
  readonly idleMs: number;
  /** The model answered. */
  keep(model: string): void;
}

/** Ties a session to the endpoint whose cache holds its prompt. @spec route-34 */
export interface StickySessions {
  /** `undefined` where nothing may be tied. @param scope of the account and the workspace: others may use the same name */
  sessionOf(request: GenerationRequest, scope: string): Session | undefined;
  /** The endpoint for a session's requests to a model, by `endpointName`. A look-up does not extend the session: a success does. */
  find(session: Session, model: Model): string | undefined;
  /** The same from other processes, for models unknown to this one; `undefined`: no look-up is needed. */
  ask(session: Session, models: readonly Model[]): Promise<ReadonlyMap<Model, string>> | undefined;
  /** An attempt of the session succeeded. @param usage once it is known */
  succeeded(session: Session, endpoint: Endpoint, usage: Usage | undefined): void;
  /** An endpoint of the session failed: the session is not held to it. */
  failed(session: Session, endpoint: Endpoint): void;
}

const SESSIONS_MAX = 100_000;
const BYTES_MAX = 64 * 1_024 * 1_024;
const IDLE_MS = 10 * 60_000;
/** The minimum time between two reports of a session to other processes. */
const REPORT_AGAIN_MS = 60_000;
/** Prompts that differ only further on share a cache up to there; long first messages need not be hashed whole. */
const HASHED_CHARS_MAX = 8_192;

export interface StickyDeps {
  readonly clock: Clock;
  /** State shared between processes; absent: there is one. */
  readonly values?: SharedValues | undefined;
}

interface Tie {
  /** By `endpointName`; empty: the endpoint failed, and there is none. */
  readonly name: string;
  /** When it was last announced to other processes, monotonic ms. */
  readonly reportedMs: number;
}

export function createStickySessions({ clock, values }: StickyDeps): StickySessions {
  const limits = { entriesMax: SESSIONS_MAX, bytesMax: BYTES_MAX, lifetimeMs: IDLE_MS };
  const ties = new ExpiringCache<Tie>(limits, () => clock.monotonicMs());
  function tie(key: string, name: string, idleMs: number): void {
    const nowMs = clock.monotonicMs();
    const before = ties.peek(key);
    const isNews = values !== undefined && (before?.name !== name || nowMs - before.reportedMs >= REPORT_AGAIN_MS);
    if (isNews) values.set(`tie:${key}`, name, idleMs);
    const reportedMs = isNews ? nowMs : (before?.reportedMs ?? nowMs);
    ties.set(key, { name, reportedMs }, name.length, idleMs);
  }

  return {
    sessionOf: (request, scope) =>
      request.directives.provider.order === undefined ? sessionOf(request, scope) : undefined,
    find: (session, model) =>
      ties.size === 0 || !mayTie(session, model) ? undefined : ties.peek(keyOf(session, model.slug))?.name || undefined,
    ask(session, models) {
      if (values === undefined) return undefined;
      const unknown = models
        .filter((model) => mayTie(session, model))
        .map((model) => ({ model, key: keyOf(session, model.slug) }))
        .filter(({ key }) => ties.peek(key) === undefined);
      return unknown.length === 0 ? undefined : askAll(values, unknown);
    },
    succeeded(session, endpoint, usage) {
      const pin = pinOf(session, endpoint.model);
      pin?.keep(endpoint.model);
      if (pin === undefined && !savesByCache(endpoint)) return;
      const hasUsedCache = usage !== undefined && usage.cacheReadTokens + usage.cacheWriteTokens > 0;
      const key = keyOf(session, endpoint.model);
      const name = endpointName(endpoint);
      if (session.isNamed || hasUsedCache || ties.peek(key)?.name === name) tie(key, name, pin?.idleMs ?? IDLE_MS);
    },
    failed(session, endpoint) {
      if (ties.size === 0) return;
      const pin = pinOf(session, endpoint.model);
      if (pin === undefined && !savesByCache(endpoint)) return;
      const key = keyOf(session, endpoint.model);
      // No end of time is shorter than none at all: the map has no other way to forget one.
      if (ties.peek(key)?.name === endpointName(endpoint)) tie(key, '', pin?.idleMs ?? IDLE_MS);
    },
  };
}

/** @spec route-34: of an account, a model and a key; a router's beside the same session's own */
function keyOf(session: Session, model: string): string {
  const pin = pinOf(session, model);
  return hash('sha256', `${session.key()} ${pin === undefined ? '' : `${pin.name} `}${model}`, 'base64');
}

function pinOf({ pin }: Session, model: string): SessionPin | undefined {
  return pin?.models.includes(model) === true ? pin : undefined;
}

function mayTie(session: Session, { slug, endpoints }: Model): boolean {
  return endpoints.length > 1 && (endpoints.some(savesByCache) || pinOf(session, slug) !== undefined);
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

/** @spec route-34: only where reading the cache is cheaper than reading the prompt */
export function savesByCache({ price }: Endpoint): boolean {
  return price?.cacheRead !== undefined && price.cacheRead < price.prompt;
}

/** Body before header is settled where the request is read. @spec route-34 */
function sessionOf({ directives, settings, turns }: GenerationRequest, scope: string): Session {
  const named = directives.sessionId ?? settings.promptCacheKey;
  if (named !== undefined && named !== '') return { key: () => `${scope} named ${named}`, isNamed: true };
  let key: string | undefined;
  return { key: () => (key ??= `${scope} turns ${beginningOf(turns)}`), isNamed: false };
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
    // Without the line that changes with every request. @spec prompt-cache-9
    if (block.type === 'text') text += withoutAttribution(block.text);
    if (text.length >= HASHED_CHARS_MAX) return text.slice(0, HASHED_CHARS_MAX);
  }
  return text;
}
