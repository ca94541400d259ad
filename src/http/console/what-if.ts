import { z } from 'zod';
import type { AdmitKey, Authenticate } from '../../accounts/keys/authenticate.ts';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { isJsonObject } from '../../lib/json.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import type { PrepareExplain } from '../generation/explain.ts';
import { principalOfKey } from '../management/principal-of-key.ts';
import type { ConsoleCallers } from './callers.ts';

const NAMES_MAX = 100;
const NAME_CHARS_MAX = 512;

const names = z.array(z.string().min(1).max(NAME_CHARS_MAX)).max(NAMES_MAX).optional();
/** What a request to explain may hold below `/ui/api` alone. @spec console-16 */
const whatIfSchema = z.object({
  as_key: z.string().min(1).max(NAME_CHARS_MAX).optional(),
  pretend: z.strictObject({ down: names, resting: names }).optional(),
});

export interface WhatIf {
  /** For the route that explains. */
  readonly authenticate: Authenticate;
  readonly prepare: PrepareExplain;
}

/** Explains requests as those of another key, or with another health of endpoints: for operators. */
export function createWhatIf(callers: ConsoleCallers, admitKey: AdmitKey): WhatIf {
  /** Each is one request's own object. */
  const operators = new WeakSet<Principal>();
  return {
    async authenticate(headers, options) {
      const principal = { ...(await callers.generating(headers, options)) };
      if (callers.find(headers)?.session.role === 'operator') operators.add(principal);
      return principal;
    },
    async prepare(admitted) {
      const { body } = admitted;
      if (!isJsonObject(body) || (body['as_key'] === undefined && body['pretend'] === undefined)) return { admitted };
      const { as_key: asKey, pretend } = checkShape(whatIfSchema, body);
      if (!operators.has(admitted.principal))
        throw new GatewayError('permission_denied', 'as_key and pretend are for sessions of operators.');
      const { as_key: _key, pretend: _pretend, ...rest } = body;
      const principal = asKey === undefined ? admitted.principal : await principalOfKey(admitKey, asKey, 'as_key');
      return {
        admitted: { ...admitted, principal, body: rest, text: JSON.stringify(rest) },
        ...(pretend !== undefined && { pretend: { down: pretend.down ?? [], resting: pretend.resting ?? [] } }),
      };
    },
  };
}
