import type { FinalUsage, ErrorContext } from '../format.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { encodeCost } from '../gateway/cost.ts';
import { errorServiceMetadata, publicError } from '../gateway/error-body.ts';
import type { Vector } from './vectors.ts';

/** What stands beside the vectors of an answer. */
export interface AnswerIdentity {
  readonly id: string;
  /** The model's slug. */
  readonly model: string;
  /** Display name. */
  readonly provider: string;
}

/** The body of an answer, in pieces that are never joined: vectors stay the bytes that their upstream wrote. */
export function encodeAnswer(
  vectors: readonly Vector[],
  { id, model, provider }: AnswerIdentity,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let before = '{"object":"list","data":[';
  vectors.forEach(({ bytes }, index) => {
    pieces.push(Buffer.from(`${before}{"object":"embedding","index":${index},"embedding":`), bytes);
    before = '},';
  });
  const { usage, serviceMetadata } = finalUsage;
  const tail: JsonObject = {
    model,
    id,
    provider,
    usage: {
      prompt_tokens: usage.promptTokens,
      total_tokens: usage.promptTokens,
      ...encodeCost(finalUsage),
    },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
  pieces.push(Buffer.from(`}],${JSON.stringify(tail).slice(1)}`));
  return pieces;
}

/** The error body of calls that are no generation: clients of the vendor's form read `type` and `param`, too. */
export function encodeOperationError(error: GatewayError, context: ErrorContext): JsonObject {
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    error: { ...publicError(error, context.baseUrl), type: error.type, param: error.issues?.[0]?.path ?? null },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}
