import { classifyStatus, timeoutFailure } from '../../src/canonical/failure/classify-failure.ts';
import { DEFAULT_PREFERENCES } from '../../src/canonical/directives.ts';
import type { UpstreamFailure } from '../../src/canonical/failure/failure.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { AttemptDeadline } from '../../src/pipeline/attempt/attempt-deadline.ts';
import { createDeadlines, requestClassOf, type Deadlines } from '../../src/routing/deadlines.ts';
import { endpointName } from '../../src/routing/endpoint-name.ts';
import { createHealth } from '../../src/routing/health.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import type { Candidate } from '../../src/routing/route-plan.ts';
import { createCandidateIterator, type CandidateIterator } from '../../src/routing/candidate-iterator.ts';
import { createRandom, seedOf, type Random } from '../support/random.ts';
import { createEventQueue } from './event-queue.ts';
import { plainDirectives } from '../support/plain-directives.ts';

export interface SlowModelOptions {
  readonly seed: number;
  readonly requests: number;
  /** What stands in for the histories: to see that the checks bite. `undefined`: limits are as configured. */
  readonly replaceDeadlines?: (own: Deadlines) => Deadlines | undefined;
}

export interface SlowModelFindings {
  readonly served: number;
  readonly lost: number;
  /** Attempts whose endpoint would have answered, later than 10 s and within the configured limit. */
  readonly slowHonest: number;
  /** Attempts that were cut although their endpoint would have answered. */
  readonly cutHonest: number;
  /** Attempts at an endpoint that accepts and sends nothing, whose history was quick, while another was left. */
  readonly silentAttempts: number;
  /** The longest of them, ms. */
  readonly silentWaitMaxMs: number;
}

const REQUESTS_PER_S = 50;
const STREAM_LIMIT_MS = 120_000;
const WHOLE_LIMIT_MS = 300_000;
const SLOW_MS = 10_000;
/** Three times this is the shortest limit. */
const QUICK_P99_MS = 10_000 / 3;
const FAILING_SHARE = 0.001;
const OUTAGES_EVERY_MS = 600_000;
const FORMATS = { chat: { parameters: new Set<string>() } };
const CHARS = [2_000, 40_000, 400_000] as const;
const TEXTS = CHARS.map((chars) => 'x'.repeat(chars));

/** What a request is, and how long an endpoint of usual pace takes over it: log-normal, as latencies are. */
interface Kind {
  readonly model: 'acme/quick' | 'acme/thinker';
  readonly settings: GenerationRequest['settings'];
  readonly delivery: 'stream' | 'whole';
  readonly medianMs: number;
  readonly sigma: number;
  readonly share: number;
}

const KINDS: readonly Kind[] = [
  { model: 'acme/quick', settings: {}, delivery: 'stream', medianMs: 400, sigma: 0.4, share: 45 },
  { model: 'acme/quick', settings: { maxTokens: 500 }, delivery: 'whole', medianMs: 1_000, sigma: 0.3, share: 15 },
  { model: 'acme/quick', settings: {}, delivery: 'whole', medianMs: 9_000, sigma: 0.8, share: 10 },
  kindOf('low', 'stream', 4_000, 10),
  kindOf('medium', 'stream', 15_000, 8),
  kindOf('high', 'stream', 35_000, 6),
  kindOf('low', 'whole', 8_000, 2),
  kindOf('high', 'whole', 70_000, 4),
];

function kindOf(effort: 'low' | 'medium' | 'high', delivery: Kind['delivery'], medianMs: number, share: number): Kind {
  return { model: 'acme/thinker', settings: { reasoning: { effort } }, delivery, medianMs, sigma: 0.6, share };
}

interface Host {
  readonly endpoint: Endpoint;
  readonly pace: number;
  readonly silent: { readonly fromMs: number; readonly untilMs: number }[];
}

const MODELS = ['acme/quick', 'acme/thinker'] as const;

/** Drives planner, health, walk and deadlines with slow models, and with endpoints that accept and send nothing for a while. */
export function simulateSlowModels({
  seed,
  requests,
  replaceDeadlines = (own) => own,
}: SlowModelOptions): SlowModelFindings {
  let nowMs = 0;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const random = createRandom(seedOf(seed, 3));
  const hosts = createHosts(createRandom(seedOf(seed, 4)), (requests / REQUESTS_PER_S) * 1_000);
  const byName = new Map(hosts.map((host) => [host.endpoint.provider, host]));
  const models = new Map(MODELS.map((slug) => [slug, modelOf(slug, hosts)]));
  const health = createHealth({ clock });
  const own = createDeadlines({ clock });
  const deadlines = replaceDeadlines(own);
  const queue = createEventQueue((ms) => (nowMs = ms));
  const found = { served: 0, lost: 0, slowHonest: 0, cutHonest: 0, silentAttempts: 0, silentWaitMaxMs: 0 };
  let made = 0;

  function arrive(): void {
    if (made++ >= requests) return;
    // Gaps of a Poisson process.
    queue.at(nowMs + (-Math.log(1 - random.next()) * 1_000) / REQUESTS_PER_S, arrive);
    const kind = pickKind(random);
    const size = random.chance(0.7) ? 0 : random.chance(0.8) ? 1 : 2;
    const request = requestOf(kind, size);
    const model = models.get(kind.model);
    if (model === undefined) throw new Error(`no model ${kind.model}`);
    const plan = planCandidates({
      request,
      models: [model],
      preferences: DEFAULT_PREFERENCES,
      formats: FORMATS,
      health: (endpoint) => health.look(endpointName(endpoint)),
      random: random.next(),
    });
    const candidates = createCandidateIterator({ health, monotonicMs: () => nowMs, random: () => random.next() }, plan);
    proceed(candidates, { request, kind, size });
  }

  function proceed(candidates: CandidateIterator, incoming: Requested): void {
    const step = candidates.next();
    if (step.type === 'wait') queue.at(nowMs + step.ms, () => proceed(candidates, incoming));
    else if (step.type === 'stop') found.lost++;
    else {
      const { candidate, release } = step;
      const name = endpointName(candidate.endpoint);
      attempt(candidates, candidate, incoming, (failure) => {
        if (failure === undefined) {
          found.served++;
          health.succeeded(name, release);
          return;
        }
        health.failed(name, failure, release);
        candidates.failed(failure);
        proceed(candidates, incoming);
      });
    }
  }

  function attempt(
    candidates: CandidateIterator,
    candidate: Candidate,
    { request, kind, size }: Requested,
    over: (failure: UpstreamFailure | undefined) => void,
  ): void {
    const host = byName.get(candidate.endpoint.provider);
    if (host === undefined) throw new Error(`no host ${candidate.endpoint.provider}`);
    if (random.chance(FAILING_SHARE)) {
      queue.at(nowMs + 50, () => over(classifyStatus(500, {})));
      return;
    }
    const clockName = kind.delivery === 'stream' ? 'first-token' : 'whole';
    const limitMs = kind.delivery === 'stream' ? STREAM_LIMIT_MS : WHOLE_LIMIT_MS;
    const isSilent = host.silent.some(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs);
    // No configured limit is in the way of an honest answer.
    const takesMs = isSilent ? Infinity : Math.min(0.95 * limitMs, durationOf(kind, size, host, random));
    if (takesMs > SLOW_MS && takesMs < limitMs) found.slowHonest++;
    const history = own.find(endpointName(candidate.endpoint), requestClassOf(request, candidate.endpoint));
    const isQuick = history.basis === 'history' && (history.p99Ms ?? 0) <= QUICK_P99_MS;
    const deadline = new AttemptDeadline(
      { deadlines, monotonicMs: () => nowMs },
      candidate,
      (at) => requestClassOf(request, at),
      {
        areLeft: () => candidates.hasAlternative(),
        couldServe: () => candidates.hasAlternative(),
      },
    );
    const hadAlternative = candidates.hasAlternative();
    const startedMs = nowMs;
    deadline.start();
    const cut = deadline.cut();
    const fail = (failure: UpstreamFailure): void => {
      if (isSilent && isQuick && hadAlternative && candidates.hasAlternative()) {
        found.silentAttempts++;
        found.silentWaitMaxMs = Math.max(found.silentWaitMaxMs, nowMs - startedMs);
      }
      deadline.failed(failure.cutAfterMs);
      over(failure);
    };
    const finish = (): void => {
      queue.at(startedMs + Math.min(takesMs, limitMs), () => {
        if (takesMs >= limitMs) return fail(timeoutFailure(clockName));
        deadline.answered();
        over(undefined);
      });
    };
    if (cut === undefined || cut.afterMs >= Math.min(takesMs, limitMs)) return finish();
    queue.at(startedMs + cut.afterMs, () => {
      // As the watch of a call has it: nothing is cut for an alternative that is gone.
      if (!cut.hasAlternative()) return finish();
      if (takesMs < limitMs) found.cutHonest++;
      fail(timeoutFailure(clockName, cut.limitMs));
    });
  }

  queue.at(0, arrive);
  while (queue.next() !== undefined);
  return found;
}

interface Requested {
  readonly request: GenerationRequest;
  readonly kind: Kind;
  readonly size: number;
}

function pickKind(random: Random): Kind {
  let left = random.next() * KINDS.reduce((sum, { share }) => sum + share, 0);
  const found = KINDS.find(({ share }) => (left -= share) < 0);
  return found ?? random.pick(KINDS);
}

function durationOf({ medianMs, sigma }: Kind, size: number, { pace }: Host, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return medianMs * pace * (1 + 0.4 * size) * Math.exp(sigma * normal);
}

/** Three hosts a model; now and then one or two of them fall silent, never all. */
function createHosts(random: Random, durationMs: number): readonly Host[] {
  return MODELS.flatMap((model) => {
    const hosts = [0.8, 1, 1.3].map((pace, at): Host => ({ endpoint: endpointOf(model, at), pace, silent: [] }));
    for (let startMs = OUTAGES_EVERY_MS / 2; startMs < durationMs; startMs += OUTAGES_EVERY_MS)
      for (const { silent } of hosts.toSorted(() => random.next() - 0.5).slice(0, random.int(1, 2))) {
        const fromMs = startMs + random.next() * 20_000;
        silent.push({ fromMs, untilMs: fromMs + 20_000 + random.next() * 70_000 });
      }
    return hosts;
  });
}

function modelOf(slug: string, hosts: readonly Host[]): Model {
  const endpoints = hosts.map(({ endpoint }) => endpoint).filter(({ model }) => model === slug);
  return { slug, name: slug, endpoints };
}

function endpointOf(model: string, at: number): Endpoint {
  return {
    model,
    provider: `${model.slice('acme/'.length)}-${at}`,
    providerName: `Host ${at}`,
    upstreamModel: 'one',
    price: { prompt: 400_000 * (1 + at / 10), completion: 600_000 },
    dataPolicy: {},
    formats: ['chat'],
    cancellable: true,
  };
}

function requestOf({ model, settings, delivery }: Kind, size: number): GenerationRequest {
  return {
    format: 'chat',
    delivery,
    turns: [{ role: 'user', blocks: [{ type: 'text', text: TEXTS[size] ?? '' }] }],
    tools: [],
    settings,
    directives: plainDirectives(model),
    warnings: [],
  };
}
