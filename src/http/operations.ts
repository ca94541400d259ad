import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DrawError } from './client-error.ts';
import { CORS_HEADERS } from './cors.ts';
import { problemBody, type ProblemLog } from './problem.ts';
import { unbuiltAreaOf } from './unbuilt-areas.ts';

export interface OperationsParts {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** Settles when everything that a request needs answers. @throws Error when something does not */
  readonly ready: () => Promise<unknown>;
  readonly draining: () => boolean;
  readonly log: ProblemLog;
  /** In whose shape a caller learns that a path leads nowhere. */
  readonly drawError: DrawError;
  /** The OpenAPI document; asked for once. */
  readonly openApi: () => Promise<object>;
}

const READY_WAIT_MS = 2_000;

const PATH_CHARS_MAX = 200;

/** What an orchestrator and a monitoring system ask, without a key. */
export function mountOperations(fastify: FastifyInstance, parts: OperationsParts): void {
  const refuse = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { error, status, headers } = problemBody(thrown, parts.log);
    return reply
      .code(status)
      .headers({ ...CORS_HEADERS, ...headers })
      .send(parts.drawError(error, request.url));
  };
  fastify.setErrorHandler(refuse);
  // Not 405 where only the method is wrong: seed 7 knows no such status.
  fastify.setNotFoundHandler((request, reply) => {
    const path = (request.url.split('?')[0] ?? '').slice(0, PATH_CHARS_MAX);
    const area = unbuiltAreaOf(path);
    const why = area === undefined ? '' : `: "${area}" is not built yet`;
    return refuse(new GatewayError('not_found', `There is no ${request.method} ${path}${why}.`), request, reply);
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

async function findProblem(ready: () => Promise<unknown>): Promise<string | undefined> {
  const tooSlow = Promise.withResolvers<string>();
  const timer = setTimeout(() => tooSlow.resolve('the store does not answer'), READY_WAIT_MS);
  const answered = ready().then(
    () => undefined,
    () => 'the store failed',
  );
  return Promise.race([answered, tooSlow.promise]).finally(() => clearTimeout(timer));
}
