import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { createReadThroughCache } from '../lib/cache/read-through-cache.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import { presetResource, type PresetRow, type PresetPatch, type PresetVersionRow } from '../resources/presets.ts';
import type { PresetStore, PresetWithVersion } from '../store/accounts/presets.ts';
import type { Principal } from './principal.ts';

export type Preset = PresetRow;
export type PresetVersion = PresetVersionRow;
/** A preset with its version in use. */
export type FullPreset = PresetWithVersion;

/** What a request takes from a preset. */
export interface PresetInUse {
  readonly slug: string;
  readonly systemPrompt: string | null;
  /** The preset's members of a request. */
  readonly config: JsonObject;
}

export type PresetChange = PresetPatch & {
  /** The number of an existing version. */
  readonly designatedVersion?: number | undefined;
};

type Owner = Pick<Principal, 'workspaceId' | 'memberId' | 'accountId'>;

/** Named sets of request members, in versions. Each belongs to a workspace. */
export interface Presets {
  /**
   * Returns the version in use of an active preset: at once when it was read a moment ago, else as a promise.
   * @throws GatewayError 404 when there is none; thrown or as a rejection, in the same way
   */
  use(workspaceId: string, slug: string): PresetInUse | Promise<PresetInUse>;
  /** Lists the newest change first. */
  list(owner: Owner, window: PageWindow): Promise<Page<PresetRow>>;
  /** @throws GatewayError 404 */
  get(owner: Owner, slug: string): Promise<PresetWithVersion>;
  /** Lists the oldest first. @throws GatewayError 404 */
  versions(owner: Owner, slug: string, window: PageWindow): Promise<Page<PresetVersionRow>>;
  /** @throws GatewayError 404 */
  version(owner: Owner, slug: string, version: number): Promise<PresetVersionRow>;
  /**
   * Creates the preset where there is none; creates a version in any case and puts it in use.
   * @throws GatewayError 400 for a bad slug or too many of them, 409 when another request writes the same preset at
   * once
   */
  write(owner: Owner, slug: string, content: Omit<PresetInUse, 'slug'>): Promise<PresetWithVersion>;
  /** @throws GatewayError 400 for a version that does not exist, 404 */
  change(owner: Owner, slug: string, change: PresetChange): Promise<PresetWithVersion>;
  /** Ends the use of a preset; it can still be read. @throws GatewayError 404 */
  archive(owner: Owner, slug: string): Promise<void>;
  /** Drops what was read: another process changed a preset. */
  forget(): void;
}

const SLUG = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
const SLUG_CHARS_MAX = 64;
const PRESETS_MAX = 1_000;
const VERSIONS_MAX = 1_000;
/** A change by another process takes effect after this. */
const FRESH_MS = 5_000;
const STALE_MS_MAX = 10 * 60_000;
const READ_MS_MAX = 1_000;
/** Presets in the cache, with their config, and slugs without a preset. */
const KNOWN_MAX = 1_000;

export function createPresets({ store, clock }: { readonly store: PresetStore; readonly clock: Clock }): Presets {
  const inUse = createReadThroughCache<PresetInUse | undefined>({
    async read(name) {
      const at = name.indexOf(' ');
      return usableOf(await store.find(name.slice(0, at), name.slice(at + 1)));
    },
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: READ_MS_MAX,
    entriesMax: KNOWN_MAX,
  });
  store.subscribe(
    () => inUse.invalidate(),
    () => inUse.markStale(),
  );
  const find = async ({ workspaceId }: Owner, slug: string): Promise<PresetWithVersion> => {
    const found = isSlug(slug) ? await store.find(workspaceId, slug) : undefined;
    if (found === undefined) throw unknownPreset(slug);
    return found;
  };
  const change: Presets['change'] = async (owner, slug, input) => {
    const { preset } = await find(owner, slug);
    const nowMs = clock.nowMs();
    const { designatedVersion: number, ...patch } = input;
    const version = number === undefined ? undefined : await store.findVersion(preset.id, number);
    if (number !== undefined && version === undefined)
      throw invalid('designated_version', 'is not a version of this preset');
    await store.update(preset.id, {
      ...patch,
      ...(patch.status !== undefined && patch.status !== preset.status && { statusUpdatedAtMs: nowMs }),
      ...(version !== undefined && { designatedVersionId: version.id }),
      updatedAtMs: nowMs,
    });
    return find(owner, slug);
  };
  return {
    use(workspaceId, slug) {
      if (!isSlug(slug)) throw unknownPreset(slug);
      const known = inUse.get(`${workspaceId} ${slug}`);
      if (known instanceof Promise) return known.then((found) => usable(found, slug), throwCannotRead);
      return usable(known, slug);
    },
    list: ({ workspaceId }, window) => store.list(workspaceId, window),
    get: find,
    async versions(owner, slug, window) {
      const { preset } = await find(owner, slug);
      return store.listVersions(preset.id, window);
    },
    async version(owner, slug, number) {
      const { preset } = await find(owner, slug);
      const version = await store.findVersion(preset.id, number);
      if (version === undefined) throw new GatewayError('not_found', 'There is no such version of the preset.');
      return version;
    },
    write: (owner, slug, content) => write({ store, clock }, owner, slug, content),
    change,
    async archive(owner, slug) {
      await change(owner, slug, { status: 'archived' });
    },
    forget: () => inUse.invalidate(),
  };
}

async function write(
  { store, clock }: { readonly store: PresetStore; readonly clock: Clock },
  owner: Owner,
  slug: string,
  content: Omit<PresetInUse, 'slug'>,
): Promise<PresetWithVersion> {
  if (!isSlug(slug))
    throw invalid(
      'path.slug',
      `must be lower-case letters and digits, joined by "-" or "_", at most ${SLUG_CHARS_MAX}`,
    );
  const { workspaceId, memberId, accountId } = owner;
  const before = await store.find(workspaceId, slug);
  if (before === undefined && (await store.count(workspaceId)) >= PRESETS_MAX)
    throw invalid('path.slug', `there are ${PRESETS_MAX} presets already, the most that a workspace may have`);
  // Counts all versions, since the one in use may be an old one.
  const versions = before && (await store.listVersions(before.preset.id, { offset: 0, limit: 1 })).totalCount;
  if (versions !== undefined && versions >= VERSIONS_MAX)
    throw invalid('path.slug', `has ${VERSIONS_MAX} versions already, the most that a preset may have`);
  const nowMs = clock.nowMs();
  const preset = presetResource.newRow({
    id: randomUUID(),
    workspaceId,
    slug,
    name: slug,
    creatorUserId: memberId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
  const { systemPrompt, config } = content;
  const version = { id: randomUUID(), creatorId: memberId ?? accountId, systemPrompt, config, createdAtMs: nowMs };
  const written = await store.write(preset, version);
  if (written === undefined)
    throw new GatewayError('invalid_request', 'Another request is writing this preset. Try again.', { status: 409 });
  return written;
}

function isSlug(text: string): boolean {
  return text.length <= SLUG_CHARS_MAX && SLUG.test(text);
}

function usableOf(found: PresetWithVersion | undefined): PresetInUse | undefined {
  const { preset, designated } = found ?? {};
  if (preset?.status !== 'active' || designated === undefined || designated === null) return undefined;
  return { slug: preset.slug, systemPrompt: designated.systemPrompt, config: designated.config };
}

function usable(found: PresetInUse | undefined, slug: string): PresetInUse {
  if (found === undefined) throw unknownPreset(slug, 'active ');
  return found;
}

/** Fails the request: without its preset it would be a different request. */
function throwCannotRead(cause: unknown): never {
  throw new GatewayError('provider_overloaded', 'Presets cannot be read at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}

const SLUG_SHOWN_CHARS = 80;

function unknownPreset(slug: string, kind = ''): GatewayError {
  const name = JSON.stringify(slug.slice(0, SLUG_SHOWN_CHARS));
  return new GatewayError('not_found', `There is no ${kind}preset ${name} in this workspace.`);
}
