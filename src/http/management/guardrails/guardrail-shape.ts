import { z } from 'zod';
import type { Guardrail } from '../../../accounts/policy/guardrails.ts';
import { serializeRules } from '../../../resources/guardrail-rules.ts';
import { guardrailResource } from '../../../resources/guardrails.ts';

export const { schema: guardrailSchema } = guardrailResource;

/** The path of one guardrail. An invalid id is an unknown one: 404. */
export const guardrailPathSchema = z.strictObject({ id: z.string().describe('The id of a guardrail.') });

export function serializeGuardrail(guardrail: Guardrail): z.output<typeof guardrailSchema> {
  return guardrailResource.serialize(guardrail, serializeRules(guardrail.rules));
}
