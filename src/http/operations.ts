import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../telemetry/metrics.ts';

export interface OperationsParts {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** Settles when everything that a request needs answers. @throws Error when something does not */
  readonly ready: () => Promise<void>;
  readonly draining: () => boolean;
}

const READY_WAIT_MS = 2_000;

/** What an orchestrator and a monitoring system ask, without a key. */
export function mountOperations(fastify: FastifyInstance, parts: OperationsParts): void {
  fastify.get('/health/live', () => ({ status: 'ok' }));
  fastify.get('/health/ready', async (_request, reply) => {
    const problem = parts.draining() ? 'shutting down' : await findProblem(parts.ready);
    if (problem === undefined) return { status: 'ok' };
    return reply.code(503).send({ status: 'unavailable', reason: problem });
  });
  fastify.get('/metrics', async (_request, reply) => {
    return reply.type(parts.metrics.contentType).send(await parts.metrics.text());
  });
}

async function findProblem(ready: () => Promise<void>): Promise<string | undefined> {
  const tooSlow = Promise.withResolvers<string>();
  const timer = setTimeout(() => tooSlow.resolve('the store does not answer'), READY_WAIT_MS);
  const answered = ready().then(
    () => undefined,
    () => 'the store failed',
  );
  return Promise.race([answered, tooSlow.promise]).finally(() => clearTimeout(timer));
}
