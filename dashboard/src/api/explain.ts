import type { UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from './client.ts';
import { client } from './client.ts';
import type { ApiError } from './errors.ts';
import { useRead } from './read.ts';

export type Explanation = Schemas['RouteExplanation'];
export type Candidate = Explanation['candidates'][number];

/** How a request would be routed now. Nothing is sent to a provider. */
export function useExplanation(body: Readonly<Record<string, unknown>>): UseQueryResult<Explanation, ApiError> {
  return useRead(['explain', body], async (signal) => {
    // The body is what a person put together: the gateway says what is wrong with it.
    // eslint-disable-next-line typescript/no-unsafe-type-assertion
    const { data } = await client.POST('/route/explain', { signal, body: body as Schemas['ChatRequest'] });
    return { data };
  });
}
