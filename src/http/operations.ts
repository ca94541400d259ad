import type { FastifyInstance } from 'fastify';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { CORS_HEADERS } from './cors.ts';
import { problemBody, type ProblemLog } from './problem.ts';

export interface OperationsParts {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** Settles when everything that a request needs answers. @throws Error when something does not */
  readonly ready: () => Promise<void>;
  readonly draining: () => boolean;
  readonly log: ProblemLog;
  /** The OpenAPI document; asked for once. */
  readonly openApi: () => Promise<object>;
}

const READY_WAIT_MS = 2_000;

const PATH_CHARS_MAX = 200;

/** What an orchestrator and a monitoring system ask, without a key. */
export function mountOperations(fastify: FastifyInstance, parts: OperationsParts): void {
  fastify.setNotFoundHandler((request, reply) => {
    const path = (request.url.split('?')[0] ?? '').slice(0, PATH_CHARS_MAX);
    const error = new GatewayError('not_found', `There is no ${request.method} ${path}.`);
    const { status, headers, body } = problemBody(error, parts.log);
    return reply
      .code(status)
      .headers({ ...CORS_HEADERS, ...headers })
      .send(body);
  });
  fastify.setErrorHandler((error, _request, reply) => {
    const { status, headers, body } = problemBody(error, parts.log);
    return reply
      .code(status)
      .headers({ ...CORS_HEADERS, ...headers })
      .send(body);
  });
  fastify.get('/health/live', () => ({ status: 'ok' }));
  fastify.get('/health/ready', async (_request, reply) => {
    const problem = parts.draining() ? 'shutting down' : await findProblem(parts.ready);
    if (problem === undefined) return { status: 'ok' };
    return reply.code(503).send({ status: 'unavailable', reason: problem });
  });
  let document: string | undefined;
  fastify.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(await parts.openApi());
    return reply.type('application/json; charset=utf-8').headers(CORS_HEADERS).send(document);
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
