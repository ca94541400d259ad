import type { Schemas } from '../../api/client.ts';
import { labelOfProvider } from '../../parts/provider-label.ts';

/** What the provider that served it is called; `undefined`: none did. */
export function servedBy({
  provider_name: name,
  provider_responses: attempts,
}: Pick<Schemas['Generation'], 'provider_name' | 'provider_responses'>): string | undefined {
  const last = attempts.findLast((attempt) => attempt.provider_name === name);
  return name === null ? undefined : labelOfProvider(last?.tag ?? null, name);
}
