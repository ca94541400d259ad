import { DEFAULT_PREFERENCES } from '../../src/canonical/directives.ts';
import type { UpstreamFailure } from '../../src/canonical/failure/failure.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { endpointName } from '../../src/routing/endpoint-name.ts';
import { createHealth, type Health, type Release } from '../../src/routing/health.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import type { Candidate, RoutePlan } from '../../src/routing/route-plan.ts';
import { createStickySessions } from '../../src/routing/sticky.ts';
import { createCandidateIterator, type CandidateIterator } from '../../src/routing/candidate-iterator.ts';
import { createRandom, seedOf } from '../support/random.ts';
import { createEventQueue } from './event-queue.ts';
import { createObserver, type Findings } from './observe.ts';
import { createWorld } from './world.ts';
import { plainDirectives } from '../support/plain-directives.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly requests: number;
  /** What stands in for the health code: to see that the checks bite. */
  readonly replaceHealth?: (health: Health) => Health;
}

const REQUESTS_PER_S = 50;
const SESSIONS = 200;
const SHARE_WITH_SESSION = 0.1;
const FORMATS = { chat: { parameters: new Set<string>() } };

/** Drives the planner, the health code and the walk through a time that only exists here. */
export function simulate({ seed, requests, replaceHealth = (own) => own }: SimulationOptions): Findings {
  let nowMs = 0;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const random = createRandom(seedOf(seed, 1));
  const world = createWorld(seedOf(seed, 2), (requests / REQUESTS_PER_S) * 1_000);
  const health = replaceHealth(createHealth({ clock }));
  const sticky = createStickySessions({ clock });
  const observer = createObserver(world);
  const queue = createEventQueue((ms) => (nowMs = ms));
  let made = 0;

  function arrive(): void {
    if (made++ >= requests) return;
    // Gaps of a Poisson process.
    queue.at(nowMs + (-Math.log(1 - random.next()) * 1_000) / REQUESTS_PER_S, arrive);
    const sessionId = random.chance(SHARE_WITH_SESSION) ? `session-${random.int(1, SESSIONS)}` : undefined;
    const request = requestOf(sessionId);
    const session = sessionId === undefined ? undefined : sticky.sessionOf(request, 'account');
    const model = world.modelAt(nowMs);
    const plan = planCandidates({
      request,
      models: [model],
      preferences: DEFAULT_PREFERENCES,
      ...(session !== undefined && { sticky: () => sticky.find(session, model) }),
      formats: FORMATS,
      health: (endpoint) => health.look(endpointName(endpoint)),
      random: random.next(),
    });
    const reported = observer.arrived(plan, model, nowMs, sessionId);
    const candidates = createCandidateIterator({ health, monotonicMs: () => nowMs, random: () => random.next() }, plan);
    go(candidates, plan, {
      tried: (candidate, release) => reported.tried(candidate, release, nowMs),
      failed(candidate) {
        if (session !== undefined) sticky.failed(session, candidate.endpoint);
      },
      served(candidate) {
        reported.served(candidate, nowMs);
        if (session !== undefined) sticky.succeeded(session, candidate.endpoint, undefined);
      },
      lost: () => reported.lost(nowMs),
    });
  }

  function go(candidates: CandidateIterator, plan: RoutePlan, reported: Reported): void {
    const step = candidates.next();
    if (step.type === 'wait') queue.at(nowMs + step.ms, () => go(candidates, plan, reported));
    else if (step.type === 'stop') reported.lost();
    else {
      const { candidate, release } = step;
      const name = endpointName(candidate.endpoint);
      const over = reported.tried(candidate, release);
      const { afterMs, failure } = world.answer(candidate.endpoint.provider, nowMs);
      queue.at(nowMs + afterMs, () => {
        over(failure);
        if (failure === undefined) {
          health.succeeded(name, release);
          reported.served(candidate);
          return;
        }
        health.failed(name, failure, release);
        reported.failed(candidate);
        candidates.failed(failure);
        go(candidates, plan, reported);
      });
    }
  }

  queue.at(0, arrive);
  while (queue.next() !== undefined);
  return observer.findings(requests, nowMs);
}

interface Reported {
  tried(candidate: Candidate, release: Release): (failure: UpstreamFailure | undefined) => void;
  failed(candidate: Candidate): void;
  served(candidate: Candidate): void;
  lost(): void;
}

function requestOf(sessionId: string | undefined): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings: {},
    directives: { ...plainDirectives('acme/one'), ...(sessionId !== undefined && { sessionId }) },
    warnings: [],
  };
}
