import type { InvalidationBus } from '../state/contract.ts';
import type { FailureFacts, Health } from './health.ts';
import { readObservations, type Observation } from './read-observations.ts';

export interface SharedHealthDeps {
  readonly health: Health;
  readonly invalidations: InvalidationBus;
  /** Default: a tenth of a second. */
  readonly reportEveryMs?: number;
}

const TOPIC = 'health';
const REPORT_EVERY_MS = 100;
/** Observations in one message; the rest is dropped, since each process also observes on its own. */
const OBSERVATIONS_MAX = 150;

/**
 * Health that receives observations of other processes, and publishes its own. Each process decides on its own, with
 * the observations of all: an endpoint whose circuit one process opened is open for the others, too, and so is its
 * recovery.
 */
export function shareHealth({ health, invalidations, reportEveryMs = REPORT_EVERY_MS }: SharedHealthDeps): Health {
  let observations: Observation[] = [];
  let timer: NodeJS.Timeout | undefined;

  function notify(): void {
    timer = undefined;
    invalidations.announce(TOPIC, JSON.stringify(observations));
    observations = [];
  }

  function observe(observation: Observation): void {
    if (observations.length >= OBSERVATIONS_MAX) return;
    observations.push(observation);
    timer ??= setTimeout(notify, reportEveryMs).unref();
  }

  /** In the order in which it was seen: a success between two failures means something. */
  function observeSuccess(endpoint: string): void {
    const last = observations.at(-1);
    if (last?.[0] === endpoint && last[1] === 'ok')
      observations[observations.length - 1] = [endpoint, 'ok', last[2] + 1];
    else observe([endpoint, 'ok', 1]);
  }

  invalidations.subscribe(TOPIC, (message) => {
    for (const observation of readObservations(message)) learn(health, observation);
  });

  return {
    openCircuits: () => health.openCircuits(),
    list: () => health.list(),
    reset(endpoint) {
      // Others may know of it, even where nothing came here.
      observe([endpoint, 'reset', 1]);
      return health.reset(endpoint);
    },
    look: (endpoint) => health.look(endpoint),
    begin: (endpoint) => health.begin(endpoint),
    abandoned: (endpoint, release) => health.abandoned(endpoint, release),
    succeeded(endpoint, release) {
      health.succeeded(endpoint, release);
      if (release === 'probe') observe([endpoint, 'recovered', 1]);
      else observeSuccess(endpoint);
    },
    failed(endpoint, failure, release) {
      health.failed(endpoint, failure, release);
      observe([endpoint, 'failed', factsOf(failure)]);
    },
    brokeOff(endpoint, failure) {
      health.brokeOff(endpoint, failure);
      observe([endpoint, 'broke-off', factsOf(failure)]);
    },
  };
}

function learn(health: Health, [endpoint, what, seen]: Observation): void {
  switch (what) {
    case 'ok':
    case 'recovered':
      for (let count = 0; count < seen; count++) health.succeeded(endpoint, what === 'ok' ? 'free' : 'probe');
      return;
    case 'reset':
      health.reset(endpoint);
      return;
    case 'failed':
      // A probe of another process is none of this one, which looks for itself.
      health.failed(endpoint, seen, 'free');
      return;
    case 'broke-off':
      health.brokeOff(endpoint, seen);
  }
}

function factsOf(failure: FailureFacts): FailureFacts {
  const { kind, clock, cutAfterMs, errorType, status, upstreamStatus, retryAfterMs, lastedMs } = failure;
  return {
    kind,
    errorType,
    status,
    ...(clock !== undefined && { clock }),
    ...(cutAfterMs !== undefined && { cutAfterMs }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(lastedMs !== undefined && { lastedMs }),
  };
}
