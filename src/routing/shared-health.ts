import type { News } from '../store/shared/contract.ts';
import type { FailureFacts, Health } from './health.ts';
import { readObservations, type Observation } from './read-observations.ts';

export interface SharedHealthParts {
  readonly health: Health;
  readonly news: News;
  /** Default: a tenth of a second. */
  readonly tellEveryMs?: number;
}

const TOPIC = 'health';
const TELL_EVERY_MS = 100;
/** Observations in one message; what is more is not told, and everybody sees for himself. */
const OBSERVATIONS_MAX = 150;

/**
 * Health that hears what other processes see, and tells them what this one sees. Each decides for itself, over the
 * observations of all: an endpoint whose circuit one process opened is open to the others too, and so is its recovery.
 */
export function shareHealth({ health, news, tellEveryMs = TELL_EVERY_MS }: SharedHealthParts): Health {
  let observations: Observation[] = [];
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    timer = undefined;
    news.announce(TOPIC, JSON.stringify(observations));
    observations = [];
  }

  function observe(observation: Observation): void {
    if (observations.length >= OBSERVATIONS_MAX) return;
    observations.push(observation);
    timer ??= setTimeout(tell, tellEveryMs).unref();
  }

  /** In the order in which it was seen: a success between two failures means something. */
  function observeSuccess(endpoint: string): void {
    const last = observations.at(-1);
    if (last?.[0] === endpoint && last[1] === 'ok')
      observations[observations.length - 1] = [endpoint, 'ok', last[2] + 1];
    else observe([endpoint, 'ok', 1]);
  }

  news.subscribe(TOPIC, (message) => {
    for (const observation of readObservations(message)) learn(health, observation);
  });

  return {
    look: (endpoint) => health.look(endpoint),
    begin: (endpoint) => health.begin(endpoint),
    abandoned: (endpoint, leave) => health.abandoned(endpoint, leave),
    succeeded(endpoint, leave) {
      health.succeeded(endpoint, leave);
      if (leave === 'probe') observe([endpoint, 'recovered', 1]);
      else observeSuccess(endpoint);
    },
    failed(endpoint, failure, leave) {
      health.failed(endpoint, failure, leave);
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
    case 'failed':
      // A probe of another process is none of this one, which looks for itself.
      health.failed(endpoint, seen, 'free');
      return;
    case 'broke-off':
      health.brokeOff(endpoint, seen);
  }
}

function factsOf({ kind, clock, errorType, status, upstreamStatus, retryAfterMs }: FailureFacts): FailureFacts {
  return {
    kind,
    errorType,
    status,
    ...(clock !== undefined && { clock }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
