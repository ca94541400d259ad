import type { NewEvent } from '../../notifications/raise.ts';
import type { EndpointReport, Health } from '../../routing/health.ts';

/** An outage that is shorter needs no person. */
const DOWN_MS = 300_000;
/** A failure that is older was seen before. */
const RECENT_MS = 120_000;
const DAY_MS = 86_400_000;
const REJECTIONS: ReadonlySet<number> = new Set([401, 403]);
/** Between the name of an endpoint and the credential that it is called with: `candidateName`. */
const CREDENTIAL = ' #';

export interface WatchDeps {
  readonly raise: (event: NewEvent) => Promise<void>;
  /** What these marks stand for is over: it is reported anew. @returns how many of them were there */
  readonly clear: (marks: readonly string[]) => Promise<number>;
}

/** Reports endpoints that have been down for long, those that are back, and credentials that providers refuse. */
export function createHealthWatch(
  health: Pick<Health, 'list'>,
  { raise, clear }: WatchDeps,
  nowMs: () => number,
): () => Promise<void> {
  /** Since when circuits are open, as far as this process saw it. */
  const openSince = new Map<string, { readonly sinceMs: number; isReported: boolean }>();
  /** Those that this process has found in order: what an earlier one reported of them is over. */
  const inOrder = new Set<string>();
  return async () => {
    const atMs = nowMs();
    const reports = health.list();
    for (const report of reports) {
      const { endpoint, open } = report;
      if (isRejected(report)) await raise(rejected(endpoint, atMs));
      if (!open && report.streak === 0 && !openSince.has(endpoint) && !inOrder.has(endpoint)) {
        inOrder.add(endpoint);
        if ((await clear([markOf(endpoint)])) > 0) await raise(recovered(endpoint));
      }
      if (!open) continue;
      const known = openSince.get(endpoint) ?? { sinceMs: atMs, isReported: false };
      openSince.set(endpoint, known);
      if (known.isReported || atMs - known.sinceMs < DOWN_MS) continue;
      known.isReported = true;
      await raise(down(report, atMs - known.sinceMs));
    }
    const open = new Set(reports.filter((report) => report.open).map(({ endpoint }) => endpoint));
    for (const [endpoint, { isReported, sinceMs }] of openSince) {
      if (open.has(endpoint)) continue;
      openSince.delete(endpoint);
      // It may have been reported by a process that has ended since.
      if (!isReported && inOrder.has(endpoint)) continue;
      inOrder.add(endpoint);
      // Every process sees that it is back: the one that clears the mark reports it.
      if ((await clear([markOf(endpoint)])) > 0)
        await raise(recovered(endpoint, isReported ? atMs - sinceMs : undefined));
    }
    const listed = new Set(reports.map(({ endpoint }) => endpoint));
    for (const endpoint of inOrder) if (!listed.has(endpoint)) inOrder.delete(endpoint);
  };
}

function isRejected({ lastFailure }: EndpointReport): boolean {
  return (
    lastFailure?.upstreamStatus !== undefined &&
    REJECTIONS.has(lastFailure.upstreamStatus) &&
    lastFailure.agoMs < RECENT_MS
  );
}

const markOf = (endpoint: string): string => `provider.down ${endpoint}`;

function partsOf(endpoint: string) {
  const [name = '', credentialId = null] = endpoint.split(CREDENTIAL);
  const [provider = '', ...model] = name.split(' ');
  return { provider, model: model.join(' '), credentialId };
}

function factsOf(endpoint: string) {
  const { provider, model, credentialId } = partsOf(endpoint);
  return { provider, upstream_model: model, ...(credentialId !== null && { credential_id: credentialId }) };
}

function down({ endpoint, lastFailure }: EndpointReport, forMs: number): NewEvent {
  const { provider, model } = partsOf(endpoint);
  const status = lastFailure?.upstreamStatus;
  const why = status === undefined ? '' : ` Its last answer had the status ${status}.`;
  return {
    type: 'provider.down',
    severity: 'critical',
    subject: `endpoint:${endpoint}`,
    title: `${provider} has not served ${model} for ${minutes(forMs)}`,
    text: `Requests go to other endpoints as far as there are any.${why}`,
    facts: { ...factsOf(endpoint), down_for_seconds: Math.round(forMs / 1_000), status: status ?? null },
    link: '/ui/routing',
    mark: markOf(endpoint),
  };
}

/** @param forMs absent: this process has not seen since when it was down */
function recovered(endpoint: string, forMs?: number): NewEvent {
  const { provider, model } = partsOf(endpoint);
  return {
    type: 'provider.recovered',
    severity: 'info',
    subject: `endpoint:${endpoint}`,
    title: `${provider} serves ${model} again`,
    text: forMs === undefined ? 'The gateway was started anew meanwhile.' : `It was down for ${minutes(forMs)}.`,
    facts: { ...factsOf(endpoint), down_for_seconds: forMs === undefined ? null : Math.round(forMs / 1_000) },
    link: '/ui/routing',
  };
}

function rejected(endpoint: string, nowMs: number): NewEvent {
  const { provider, credentialId } = partsOf(endpoint);
  return {
    type: 'credential.rejected',
    severity: 'critical',
    subject: `provider:${provider}`,
    title: `${provider} refuses ${credentialId === null ? 'the credential of the gateway' : 'a stored credential'}`,
    text: 'It answered with 401 or 403. Replace the credential, or look at what the account there may use.',
    facts: factsOf(endpoint),
    link: '/ui/providers',
    mark: `credential.rejected ${provider} ${credentialId ?? ''}`,
    markUntilMs: nowMs + DAY_MS,
  };
}

function minutes(ms: number): string {
  const count = Math.round(ms / 60_000);
  return count === 1 ? '1 minute' : `${count} minutes`;
}
