import { createScimAdmission } from '../../scim/admit.ts';
import { createScimMappings } from '../../scim/mappings.ts';
import { createScimRequestLog } from '../../scim/request-log.ts';
import { createScim } from '../../scim/scim.ts';
import { createScimTokens } from '../../scim/tokens.ts';
import type { ScimServices } from '../../http/management/scim/services.ts';
import type { ScimHttpDeps } from '../../http/scim/mount-scim.ts';
import type { MountRoutes } from '../../http/server.ts';
import { createHousekeeping } from '../../lib/async/housekeeping.ts';
import { eraseDeleted, readScimOverview } from '../../store/scim/overview.ts';
import { listPushedUsers } from '../../store/scim/pushed-users.ts';
import { createScimRequestStore } from '../../store/scim/requests.ts';
import { createScimStore } from '../../store/scim/scim.ts';
import { createScimTokenStore } from '../../store/scim/tokens.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';
import { silentTokens } from './scim-notices.ts';

export interface ScimArea {
  readonly services: ScimServices;
  readonly http: ScimHttpDeps;
  start(): void;
  close(): Promise<void>;
}

const FLUSH_EVERY_MS = 1_000;
const CLEAR_EVERY_MS = 3_600_000;
const PAUSE_MS = 100;
/** A deleted user can come back under its id for as long. */
const ERASE_AFTER_MS = 2_592_000_000;
const ERASED_AT_ONCE_MAX = 100;

/** What an identity provider pushes. @returns `undefined` where it is off */
export function createScimArea(
  { shared, storage, accounts }: Foundation,
  { administration, notifications }: Pick<Parts, 'administration' | 'notifications'>,
): ScimArea | undefined {
  const { config, clock, state, log } = shared;
  if (!config.scim.enabled || administration.peopleArea === undefined) return undefined;
  const { publicUrl } = config.server;
  const { baseUrl = publicUrl && `${publicUrl}/scim/v2`, ...rules } = config.scim;
  const store = createScimStore(storage);
  const tokens = createScimTokens({ store: createScimTokenStore(storage), clock });
  const requests = createScimRequestLog(createScimRequestStore(storage));
  const onFailed = (error: unknown) => log.general.error({ err: error }, 'housekeeping of SCIM failed');
  const keep = (work: () => Promise<boolean>, everyMs: number) =>
    createHousekeeping({ work, everyMs, pauseMs: PAUSE_MS, onFailed });
  const rounds = [
    keep(async () => requests.flush().then(() => false), FLUSH_EVERY_MS),
    keep(async () => {
      const nowMs = clock.nowMs();
      await requests.clearAway(nowMs);
      for (const notice of silentTokens(await tokens.list(), nowMs)) await notifications.raise(notice);
      if (rules.onDelete !== 'erase') return false;
      const erased = await eraseDeleted(storage.database, nowMs - ERASE_AFTER_MS, nowMs, ERASED_AT_ONCE_MAX);
      return erased === ERASED_AT_ONCE_MAX;
    }, CLEAR_EVERY_MS),
  ];
  return {
    services: {
      tokens,
      mappings: createScimMappings({ store, workspaces: administration.workspaces, clock }),
      requests: (window) => requests.list(window),
      baseUrl,
      users: {
        list: (window) => listPushedUsers(storage.database, window),
        forgottenAfterMs: rules.onDelete === 'erase' ? ERASE_AFTER_MS : undefined,
      },
      async overview() {
        await requests.flush();
        return readScimOverview(storage.database);
      },
    },
    http: {
      openScim: (onRequestEvent) =>
        createScim({
          store,
          rules: { ...rules, adminGroup: rules.adminGroup, usersMax: config.organization.usersMax },
          onKeys: (hashes) => accounts.keyStore.announce(hashes),
          async onEvent(event) {
            onRequestEvent(event);
            await administration.audit.record({ actor: { address: 'scim' }, ...event });
          },
          clock,
        }),
      log: requests,
      clock,
      admit: createScimAdmission({ tokens, rateLimitState: state.rateLimitState, clock }),
      baseUrl,
      groupPatchBody: rules.groupPatchBody,
      isForwarded: config.server.workers > 1,
      onBug: (error) => log.general.error({ err: error }, 'a request of an identity provider failed'),
    },
    start() {
      for (const round of rounds) round.start();
    },
    async close() {
      await Promise.all(rounds.map((round) => round.stop()));
      await requests.flush().catch(onFailed);
    },
  };
}

export async function mountScimOf(area: ScimArea | undefined, fastify: Parameters<MountRoutes>[0]): Promise<void> {
  const { mountScim, refuseScim } = await import('../../http/scim/mount-scim.ts');
  if (area === undefined) refuseScim(fastify);
  else mountScim(fastify, area.http);
}
