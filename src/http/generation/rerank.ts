import type { RerankOperation } from '../../canonical/rerank.ts';
import type { RunOperation } from '../../pipeline/operation/operation-request.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import { decodeRerank } from '../../wire/rerank/request-in.ts';
import { withCacheHeaders, withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface RerankRouteDeps extends BodyRouteDeps {
  readonly run: RunOperation<RerankOperation>;
  /** Of requests that name none. */
  readonly defaultModel: string | undefined;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
}

const CALLER = { id: 'rerank', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;

/** `POST /rerank`. */
export function createRerankRoute(deps: RerankRouteDeps): RawHandler {
  return createBodyRoute(CALLER, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, turns, headers } = admitted;
    const decoded = withFullNames(decodeRerank(body, text, headers, deps.defaultModel), deps.rename);
    const request = withCacheHeaders(decoded, headers, text);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER, deps.unread));
  });
}
