import type { Endpoint } from '../catalog/model.ts';
import type { EndpointHealth } from './health.ts';
import type { Entry, CredentialsOf, CallerCredential } from './route-plan.ts';

type HealthOf = (endpoint: Endpoint, credential?: CallerCredential) => EndpointHealth;

/**
 * Makes a copy of each endpoint for each credential, and puts all copies of preferred credentials before the gateway's
 * own, and fallback ones last. Inside, endpoints are ordered by `order`, and the copies of one stand together: those that
 * fail behind the others, else in the credentials' own order. @spec byok-7, byok-8
 */
export function orderByTier(
  entries: readonly Entry[],
  credentialsOf: CredentialsOf,
  healthOf: HealthOf,
  order: (entries: readonly Entry[]) => readonly Entry[],
): readonly Entry[] {
  const own: Copies[] = [];
  const shared: Entry[] = [];
  const fallback: Copies[] = [];
  for (const entry of entries) {
    const { endpoint } = entry.candidate;
    const credentials = credentialsOf(endpoint);
    if (credentials.length === 0) {
      shared.push(entry);
      continue;
    }
    const copies = credentials.map((credential) => copyFor(entry, credential, healthOf));
    const preferred = byHealth(copies.filter((_, at) => credentials[at]?.isFallback === false));
    const last = byHealth(copies.filter((_, at) => credentials[at]?.isFallback === true));
    if (preferred[0] !== undefined) own.push({ first: preferred[0], all: preferred });
    if (last[0] !== undefined) fallback.push({ first: last[0], all: last });
    if (endpoint.lacksCredentials !== true && !credentials.some(({ alwaysUse }) => alwaysUse)) shared.push(entry);
  }
  if (own.length === 0 && fallback.length === 0) return order(shared);
  return [...orderCopies(own, order), ...order(shared), ...orderCopies(fallback, order)];
}

/** Whether the gateway's own credential would be used. */
export function isShared({ candidate }: Entry): boolean {
  return candidate.credential === undefined;
}

/** The copies of one endpoint; the first one stands for all where endpoints are compared. */
interface Copies {
  readonly first: Entry;
  readonly all: readonly Entry[];
}

function copyFor({ candidate }: Entry, { id, label, ...rest }: CallerCredential, healthOf: HealthOf): Entry {
  const credential = { id, label };
  return { candidate: { ...candidate, credential }, health: healthOf(candidate.endpoint, { id, label, ...rest }) };
}

function byHealth(copies: readonly Entry[]): readonly Entry[] {
  const isFailing = ({ health }: Entry): boolean => health.rank === 2 && !health.probeDue;
  return [...copies.filter((copy) => !isFailing(copy)), ...copies.filter(isFailing)];
}

function orderCopies(
  groups: readonly Copies[],
  order: (entries: readonly Entry[]) => readonly Entry[],
): readonly Entry[] {
  const copiesOf = new Map(groups.map(({ first, all }) => [first.candidate.endpoint, all]));
  return order(groups.map(({ first }) => first)).flatMap((entry) => {
    const { endpoint, credential } = entry.candidate;
    const others = copiesOf.get(endpoint)?.filter(({ candidate }) => candidate.credential?.id !== credential?.id);
    return [entry, ...(others ?? [])];
  });
}
