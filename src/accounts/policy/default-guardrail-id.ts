import { uuidOf } from '../../lib/ids.ts';

/** A constant: another one would give every workspace another guardrail. */
const NAMESPACE = '6f1c2c1e-6f0a-4a53-9a5e-0d9f3f0d3b11';

/**
 * Computes the id of the guardrail for all traffic of a workspace, whether the guardrail exists yet or not. @spec
 * guardrail-8
 */
export function defaultGuardrailId(workspaceId: string): string {
  return uuidOf(NAMESPACE, workspaceId);
}
