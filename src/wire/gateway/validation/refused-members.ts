import { invalid } from '../../../canonical/gateway-error.ts';

/** Another model would make something else without a word. */
const OF_FALLBACK = ['models', 'fallbacks'] as const;
/** Members of generations. Obeyed or ignored without a word, they would surprise. */
const OF_GENERATIONS = ['preset', 'plugins', 'tools'] as const;

interface RefusedMembers {
  /** Why another model is none for the request. */
  readonly why?: string;
  /** The request is never streamed. */
  readonly isWhole?: boolean;
}

/** @param what the request makes. @throws GatewayError 400 for a member that applies to generations alone */
export function refuseMembers(
  body: Readonly<Record<string, unknown>>,
  what: string,
  { why, isWhole = false }: RefusedMembers = {},
): void {
  const inapplicable = `does not apply to ${what}`;
  for (const member of OF_FALLBACK)
    if (isSet(body[member])) throw invalid(member, why === undefined ? inapplicable : `is refused here: ${why}`);
  const others = isWhole ? [...OF_GENERATIONS, 'stream'] : OF_GENERATIONS;
  for (const member of others) if (isSet(body[member])) throw invalid(member, inapplicable);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
