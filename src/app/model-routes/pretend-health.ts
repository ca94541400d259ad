import type { EndpointHealth, Health } from '../../routing/health.ts';

export interface PretendDeps {
  readonly health: Health;
  readonly monotonicMs: () => number;
}

/** Longer than a plan is made. */
const REST_FOR = 60_000;

/** Health for a plan that nothing is called by: what is `down` has an open circuit and rests, what is `resting` rests alone. */
export function pretendHealth(
  { health, monotonicMs }: PretendDeps,
  { down, resting }: { readonly down: readonly string[]; readonly resting: readonly string[] },
): Health {
  const isNamed = (names: readonly string[], endpoint: string): boolean =>
    names.some((name) => name === endpoint || name === endpoint.slice(0, endpoint.indexOf(' ')));
  const look = (endpoint: string): EndpointHealth => {
    const real = health.look(endpoint);
    const isDown = isNamed(down, endpoint);
    if (!isDown && !isNamed(resting, endpoint)) return real;
    const cooldown = { untilMs: monotonicMs() + REST_FOR, named: true };
    return isDown ? { rank: 2, open: true, probeDue: false, cooldown } : { ...real, probeDue: false, cooldown };
  };
  return {
    look,
    begin: (endpoint) => health.begin(endpoint),
    succeeded: (endpoint, release) => health.succeeded(endpoint, release),
    failed: (endpoint, failure, release) => health.failed(endpoint, failure, release),
    abandoned: (endpoint, release) => health.abandoned(endpoint, release),
    brokeOff: (endpoint, failure) => health.brokeOff(endpoint, failure),
    openCircuits: () => health.openCircuits(),
    list: () => health.list(),
    reset: (endpoint) => health.reset(endpoint),
  };
}
