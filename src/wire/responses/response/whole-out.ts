import type { GenerationEvent } from '../../../canonical/events.ts';
import type { GenerationResponse } from '../../../canonical/response.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { FinalUsage, ResponseIdentity } from '../../format.ts';
import { ResponsesStreamEncoder, type ResponseSettings } from './stream-out.ts';

/** A whole response as one object. It is the sum of what its stream would be. */
export function encodeWhole(
  response: GenerationResponse,
  identity: ResponseIdentity,
  finalUsage: FinalUsage,
  settings: ResponseSettings,
): JsonObject {
  const encoder = new ResponsesStreamEncoder(identity, settings, true);
  encoder.encode(eventsOf(response));
  if (response.failure !== undefined) encoder.breakOff(response.failure);
  return encoder.snapshot(finalUsage, undefined);
}

/** The events that add up to a response, with each block whole. */
function eventsOf({ format, blocks, citations, extras, end }: GenerationResponse): readonly GenerationEvent[] {
  const ofWhole = (after: number): readonly GenerationEvent[] =>
    citations
      .filter(({ afterBlocks }) => afterBlocks === after)
      .map(({ citation }) => ({ type: 'citation', index: -1, citation }));
  return [
    ...(format === undefined ? [] : [{ type: 'start', format } as const]),
    ...ofWhole(0),
    ...blocks.flatMap((block, index): readonly GenerationEvent[] => [
      { type: 'block-start', index, block },
      { type: 'block-end', index },
      ...ofWhole(index + 1),
    ]),
    ...extras.map((extra) => ({ type: 'extra', extra }) as const),
    ...(end === undefined ? [] : [end]),
  ];
}
