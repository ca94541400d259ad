import { invalid } from '../../../canonical/gateway-error.ts';

/** Members of generations. Obeyed or ignored without a word, they would surprise. */
const REFUSED = ['models', 'fallbacks', 'preset', 'plugins', 'tools'] as const;

/** @param what the request makes. @throws GatewayError 400 for a member that applies to generations alone */
export function refuseMembers(body: Readonly<Record<string, unknown>>, what: string): void {
  for (const member of REFUSED)
    if (body[member] !== undefined && body[member] !== null) throw invalid(member, `does not apply to ${what}`);
}
