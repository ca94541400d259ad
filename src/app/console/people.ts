import { createOidc, type Oidc, type OidcDeps } from '../../accounts/people/oidc.ts';
import { userOfIdentity } from '../../accounts/people/oidc-users.ts';
import { createPasswords } from '../../accounts/people/passwords.ts';
import { createPeople, type People, type PeopleDeps } from '../../accounts/people/people.ts';
import type { SessionUsers } from '../../accounts/console/sessions.ts';
import type { Workspaces } from '../../accounts/workspaces/workspaces.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { SignInWays } from '../../http/console/console-route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import type { Database } from '../../store/engine/database.ts';
import { createInvitationStore } from '../../store/people/invitations.ts';
import { createScimStore } from '../../store/scim/scim.ts';
import { createPeopleStore } from '../../store/people/people.ts';

/** The users of the organization, and what a sign-in needs of them. */
export interface PeopleArea {
  readonly people: People;
  readonly deps: PeopleDeps;
}

/** @returns `undefined` where the configuration has no organization */
export function createPeopleArea(
  config: OrganizationConfig | undefined,
  parts: {
    readonly database: Database;
    readonly keyStore: Pick<KeyStore, 'announce'>;
    readonly workspaces: Pick<Workspaces, 'idOf'>;
    readonly clock: Clock;
  },
): PeopleArea | undefined {
  if (config?.enabled !== true) return undefined;
  const { database, keyStore, workspaces, clock } = parts;
  const deps: PeopleDeps = {
    store: createPeopleStore({ database }),
    invitations: createInvitationStore({ database }),
    passwords: createPasswords(),
    usersMax: config.usersMax,
    hasWorkspace: (id) =>
      workspaces.idOf(id).then(
        () => true,
        () => false,
      ),
    isProvisioned: (id) => createScimStore({ database }).holds(id),
    onKeys: (hashes) => keyStore.announce(hashes),
    clock,
  };
  return { people: createPeople(deps), deps };
}

/** How users sign in to the dashboard. */
export function createUserSignIn(
  config: OrganizationConfig,
  { people, deps }: PeopleArea,
  box: () => Promise<SecretBox>,
  { onFailed, fetch }: Pick<OidcDeps, 'onFailed' | 'fetch'>,
): { readonly users: SessionUsers; readonly ways: SignInWays } {
  const { name = null, password } = config;
  const oidc = createConfiguredOidc(config, { box, clock: deps.clock, onFailed, fetch }, deps);
  return {
    users: { people, password, ...(oidc !== undefined && { proveByOidc: oidc.prove }) },
    ways: { name, password, ...(oidc !== undefined && { oidc: { name: oidc.name, start: oidc.start } }) },
  };
}

function createConfiguredOidc(
  { oidc: rules }: OrganizationConfig,
  oidcDeps: Omit<OidcDeps, 'client'>,
  deps: PeopleDeps,
): (Pick<Oidc, 'start'> & { readonly name: string; readonly prove: SessionUsers['proveByOidc'] & object }) | undefined {
  if (rules === undefined) return undefined;
  const oidc = createOidc({ client: rules, ...oidcDeps });
  return {
    name: rules.name,
    start: (origin) => oidc.start(origin),
    prove: async (proof) => userOfIdentity(deps, rules, await oidc.finish(proof)),
  };
}
