import type { z } from 'zod';
import type { RuleChanges } from '../../../accounts/policy/guardrails.ts';
import { parseBuiltinFilters, parseContentFilters } from '../../../resources/content-filters.ts';
import type { rulesShape } from '../../../resources/guardrails.ts';

type RulesBody = z.output<z.ZodObject<typeof rulesShape>>;

/** Parses the rules that were sent into their stored form. @throws GatewayError 400 for a pattern */
export async function parseRules(sent: RulesBody): Promise<RuleChanges> {
  return {
    ...parseLists(sent),
    ...parsePrivacy(sent),
    ...(sent.content_filters !== undefined && { contentFilters: await parseContentFilters(sent.content_filters) }),
    ...(sent.content_filter_builtins !== undefined && {
      builtinFilters: parseBuiltinFilters(sent.content_filter_builtins),
    }),
  };
}

function parseLists(sent: RulesBody): RuleChanges {
  const { allowed_providers, ignored_providers, allowed_models, ignored_models } = sent;
  return {
    ...(allowed_providers !== undefined && { allowedProviders: allowed_providers }),
    ...(ignored_providers !== undefined && { ignoredProviders: ignored_providers }),
    ...(allowed_models !== undefined && { allowedModels: allowed_models }),
    ...(ignored_models !== undefined && { ignoredModels: ignored_models }),
  };
}

function parsePrivacy(sent: RulesBody): RuleChanges {
  const { enable_paid_model_training, enable_free_model_training, enable_free_model_publication } = sent;
  return {
    zeroRetention: parseZeroRetention(sent),
    ...(enable_paid_model_training !== undefined && { paidTraining: enable_paid_model_training }),
    ...(enable_free_model_training !== undefined && { freeTraining: enable_free_model_training }),
    ...(enable_free_model_publication !== undefined && { freePublication: enable_free_model_publication }),
  };
}

/** The deprecated member applies to all groups that are not named. @spec guardrail-5 */
function parseZeroRetention(sent: RulesBody): NonNullable<RuleChanges['zeroRetention']> {
  const { enforce_zdr: all } = sent;
  const {
    enforce_zdr_anthropic: anthropic = all,
    enforce_zdr_openai: openai = all,
    enforce_zdr_google: google = all,
  } = sent;
  const { enforce_zdr_xai: xai = all, enforce_zdr_other: other = all } = sent;
  return {
    ...(anthropic !== undefined && { anthropic }),
    ...(openai !== undefined && { openai }),
    ...(google !== undefined && { google }),
    ...(xai !== undefined && { xai }),
    ...(other !== undefined && { other }),
  };
}
