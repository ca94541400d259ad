import { z } from 'zod';
import type { Guardrail } from '../../../accounts/policy/guardrails.ts';
import { mapGroups, type GuardrailRules, type ZeroRetention } from '../../../canonical/guardrail-rules.ts';
import { serializeBuiltinFilters, serializeContentFilters } from '../../../resources/content-filters.ts';
import { guardrailResource } from '../../../resources/guardrails.ts';

export const { schema: guardrailSchema } = guardrailResource;

/** The path of one guardrail. An invalid id is an unknown one: 404. */
export const guardrailPathSchema = z.strictObject({ id: z.string().describe('The id of a guardrail.') });

export function serializeGuardrail(guardrail: Guardrail): z.output<typeof guardrailSchema> {
  const { rules } = guardrail;
  return guardrailResource.serialize(guardrail, {
    ...serializeLists(rules),
    ...serializeZeroRetention(rules.zeroRetention),
    enable_paid_model_training: rules.paidTraining,
    enable_free_model_training: rules.freeTraining,
    enable_free_model_publication: rules.freePublication,
    content_filters: serializeContentFilters(rules.contentFilters),
    content_filter_builtins: serializeBuiltinFilters(rules.builtinFilters),
  });
}

function serializeLists({ allowedProviders, ignoredProviders, allowedModels, ignoredModels }: GuardrailRules) {
  return {
    allowed_providers: allowedProviders && [...allowedProviders],
    ignored_providers: ignoredProviders && [...ignoredProviders],
    allowed_models: allowedModels && [...allowedModels],
    ignored_models: ignoredModels && [...ignoredModels],
  };
}

function serializeZeroRetention(groups: ZeroRetention<boolean | null>) {
  const values: (boolean | null)[] = [];
  mapGroups(groups, (value) => values.push(value));
  return {
    enforce_zdr_anthropic: groups.anthropic,
    enforce_zdr_openai: groups.openai,
    enforce_zdr_google: groups.google,
    enforce_zdr_xai: groups.xai,
    enforce_zdr_other: groups.other,
    enforce_zdr: values.every((value) => value === null) ? null : values.every((value) => value === true),
  };
}
