import { hash } from 'node:crypto';
import { withoutAttribution } from '../canonical/attribution.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringCache } from '../lib/cache/expiring-cache.ts';
import type { SharedValues } from '../state/contract.ts';
import { endpointName } from './endpoint-name.ts';

/** The requests of one conversation. */
export interface Session {
  /** Computed on first use: most conversations have no name, and models without affinity. */
  readonly key: () => string;
  /**
   * The caller named it, and it stays where it was first answered. Else the beginning of the conversation identifies it, and
   * it has an affinity once a cache was used whose reads are cheaper than the prompt.
   */
  readonly isNamed: boolean;
  /** Absent: no router pins the session. */
  readonly pin?: SessionPin | undefined;
}

/** By this a router keeps a session at the model that serves, and at its provider, even without a cache. */
export interface SessionPin {
  /** Separates it from the same session's requests for a model by name. */
  readonly name: string;
  /** The models of the router, by slug. */
  readonly models: readonly string[];
  /** The time from one success to the next. */
  readonly idleMs: number;
  /** Runs when the model has answered. */
  keep(model: string): void;
}

/** Keeps a session at the endpoint that answered before, whose cache may hold its prompt. @spec route-34 */
export interface StickySessions {
  /** Returns `undefined` for a request without affinity. @param scope the account and the workspace: others may use the same name */
  sessionOf(request: GenerationRequest, scope: string): Session | undefined;
  /** Finds the endpoint for a session's requests to a model, by `endpointName`. A look-up does not extend the session: a success does. */
  find(session: Session, model: Model): string | undefined;
  /** Finds the same in other processes, for models unknown to this one; `undefined`: no look-up is needed. */
  findShared(session: Session, models: readonly Model[]): Promise<ReadonlyMap<Model, string>> | undefined;
  /** Runs when an attempt of the session has succeeded. @param usage once it is known */
  succeeded(session: Session, endpoint: Endpoint, usage: Usage | undefined): void;
  /** Runs when an endpoint of the session has failed, and ends its affinity. */
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

interface Affinity {
  /** The `endpointName`; empty: the endpoint failed, and there is none. */
  readonly name: string;
  /** When it was last announced to other processes, monotonic ms. */
  readonly reportedMs: number;
}

export function createStickySessions({ clock, values }: StickyDeps): StickySessions {
  const limits = { entriesMax: SESSIONS_MAX, bytesMax: BYTES_MAX, lifetimeMs: IDLE_MS };
  const affinities = new ExpiringCache<Affinity>(limits, clock.monotonicMs);
  function keepAffinity(key: string, name: string, idleMs: number): void {
    const nowMs = clock.monotonicMs();
    const before = affinities.peek(key);
    const isNews = values !== undefined && (before?.name !== name || nowMs - before.reportedMs >= REPORT_AGAIN_MS);
    if (isNews) values.set(`tie:${key}`, name, idleMs);
    const reportedMs = isNews ? nowMs : (before?.reportedMs ?? nowMs);
    affinities.set(key, { name, reportedMs }, name.length, idleMs);
  }

  return {
    sessionOf,
    find: (session, model) =>
      affinities.size === 0 || !mayHaveAffinity(session, model)
        ? undefined
        : affinities.peek(keyOf(session, model.slug))?.name || undefined,
    findShared(session, models) {
      if (values === undefined) return undefined;
      const unknown = models
        .filter((model) => mayHaveAffinity(session, model))
        .map((model) => ({ model, key: keyOf(session, model.slug) }))
        .filter(({ key }) => affinities.peek(key) === undefined);
      return unknown.length === 0 ? undefined : findShared(values, unknown);
    },
    succeeded(session, endpoint, usage) {
      const pin = pinOf(session, endpoint.model);
      pin?.keep(endpoint.model);
      if (pin === undefined && !session.isNamed && !savesByCache(endpoint)) return;
      const hasUsedCache = usage !== undefined && usage.cacheReadTokens + usage.cacheWriteTokens > 0;
      const key = keyOf(session, endpoint.model);
      const name = endpointName(endpoint);
      if (session.isNamed || hasUsedCache || affinities.peek(key)?.name === name)
        keepAffinity(key, name, pin?.idleMs ?? IDLE_MS);
    },
    failed(session, endpoint) {
      if (affinities.size === 0) return;
      const pin = pinOf(session, endpoint.model);
      if (pin === undefined && !session.isNamed && !savesByCache(endpoint)) return;
      const key = keyOf(session, endpoint.model);
      // An empty name marks the failure in other processes too, which a deletion would not.
      if (affinities.peek(key)?.name === endpointName(endpoint)) keepAffinity(key, '', pin?.idleMs ?? IDLE_MS);
    },
  };
}

/** Makes a key of account, model and session; with a router's pin it differs from the session's own. @spec route-34 */
function keyOf(session: Session, model: string): string {
  const pin = pinOf(session, model);
  return hash('sha256', `${session.key()} ${pin === undefined ? '' : `${pin.name} `}${model}`, 'base64');
}

function pinOf({ pin }: Session, model: string): SessionPin | undefined {
  return pin?.models.includes(model) === true ? pin : undefined;
}

function mayHaveAffinity(session: Session, { slug, endpoints }: Model): boolean {
  const mayTie = session.isNamed || endpoints.some(savesByCache) || pinOf(session, slug) !== undefined;
  return endpoints.length > 1 && mayTie;
}

async function findShared(
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

/** Returns whether reading the cache is cheaper than reading the prompt. @spec route-34 */
export function savesByCache({ price }: Endpoint): boolean {
  return price?.cacheRead !== undefined && price.cacheRead < price.prompt;
}

/** Identifies the session of a request, whose id was taken from the body before the header. @spec route-34 */
function sessionOf({ directives, settings, turns }: GenerationRequest, scope: string): Session | undefined {
  if (directives.provider.order !== undefined) return undefined;
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
    // Leaves out the line that changes with every request. @spec prompt-cache-9
    if (block.type === 'text') text += withoutAttribution(block.text);
    if (text.length >= HASHED_CHARS_MAX) return text.slice(0, HASHED_CHARS_MAX);
  }
  return text;
}
