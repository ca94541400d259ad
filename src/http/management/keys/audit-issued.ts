import type { Audit } from '../../../accounts/audit.ts';
import type { Principal } from '../../../accounts/principal.ts';
import { assert } from '../../../lib/assert.ts';

/** Records an event for each key that a cascade changed; the route records the named key. */
export async function auditIssued(
  audit: Audit,
  actor: Principal | undefined,
  action: 'deleteKey' | 'updateKey',
  issuerHash: string,
  issued: readonly string[],
): Promise<void> {
  assert(actor !== undefined, 'the route is not public');
  for (const hash of issued)
    await audit.record({
      actor,
      action,
      subject: `/keys/${hash}`,
      changes: { cascade_from: issuerHash, ...(action === 'updateKey' && { disabled: true }) },
    });
}
