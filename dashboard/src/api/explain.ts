import type { UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from './client.ts';
import { client } from './client.ts';
import { ApiError } from './errors.ts';
import { useRead } from './read.ts';

export type Explanation = Schemas['RouteExplanation'];
export type Candidate = Explanation['candidates'][number];

/** How a request would be routed now. Nothing is sent to a provider. */
export function useExplanation(body: Readonly<Record<string, unknown>>): UseQueryResult<Explanation, ApiError> {
  return useRead(['explain', body], async (signal) => ({ data: await explain(body, signal) }));
}

/** How each of a few requests would be routed now; undefined: the gateway refuses to say. */
export function useExplanations(
  bodies: readonly Readonly<Record<string, unknown>>[],
): UseQueryResult<readonly (Explanation | undefined)[], ApiError> {
  return useRead(
    ['explanations', bodies],
    async (signal) => ({ data: await Promise.all(bodies.map((body) => explainOrRefuse(body, signal))) }),
    { enabled: bodies.length > 0 },
  );
}

async function explainOrRefuse(
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  try {
    return await explain(body, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}

async function explain(body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Explanation | undefined> {
  // The body is what a person put together: the gateway says what is wrong with it.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  const { data } = await client.POST('/route/explain', { signal, body: body as Schemas['ChatRequest'] });
  return data;
}
