import type { MountRoutes } from '../../http/server.ts';
import { createScimAdmission } from '../../scim/admit.ts';
import { createScimMappings } from '../../scim/mappings.ts';
import { createScim } from '../../scim/scim.ts';
import { createScimTokens } from '../../scim/tokens.ts';
import type { ScimServices } from '../../http/management/scim/services.ts';
import type { ScimHttpDeps } from '../../http/scim/mount-scim.ts';
import { createScimStore } from '../../store/scim/scim.ts';
import { createScimTokenStore } from '../../store/scim/tokens.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';

interface ScimArea {
  readonly services: ScimServices;
  readonly http: ScimHttpDeps;
}

/** What an identity provider pushes. @returns `undefined` where it is off */
export function createScimArea(
  { shared, storage, accounts }: Foundation,
  { administration }: Parts,
): ScimArea | undefined {
  const { config, clock, state, log } = shared;
  if (!config.scim.enabled || administration.peopleArea === undefined) return undefined;
  const store = createScimStore(storage);
  const tokens = createScimTokens({ store: createScimTokenStore(storage), clock });
  const { publicUrl } = config.server;
  const {
    baseUrl = publicUrl && `${publicUrl}/scim/v2`,
    groupPatchBody,
    defaultRole,
    adminGroup,
    emailDomains,
  } = config.scim;
  const scim = createScim({
    store,
    rules: { defaultRole, adminGroup, emailDomains, usersMax: config.organization.usersMax },
    onKeys: (hashes) => accounts.keyStore.announce(hashes),
    onEvent: (event) => administration.audit.record({ actor: { address: 'scim' }, ...event }),
    clock,
  });
  return {
    services: { tokens, mappings: createScimMappings({ store, workspaces: administration.workspaces, clock }) },
    http: {
      scim,
      admit: createScimAdmission({ tokens, rateLimitState: state.rateLimitState, clock }),
      baseUrl,
      groupPatchBody,
      isForwarded: config.server.workers > 1,
      onBug: (error) => log.general.error({ err: error }, 'a request of an identity provider failed'),
    },
  };
}

export async function mountScimOf(area: ScimArea | undefined, fastify: Parameters<MountRoutes>[0]): Promise<void> {
  const { mountScim, refuseScim } = await import('../../http/scim/mount-scim.ts');
  if (area === undefined) refuseScim(fastify);
  else mountScim(fastify, area.http);
}
