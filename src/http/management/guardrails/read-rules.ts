import { z } from 'zod';
import type { GuardrailChanges } from '../../../accounts/guardrails.ts';
import { readUsd } from '../keys/key-shape.ts';
import { readBuiltinFilters, readContentFilters } from './filters.ts';
import { rulesShape } from './guardrail-shape.ts';

const rulesSchema = z.strictObject(rulesShape);
type Sent = z.output<typeof rulesSchema>;

/** What of it was sent, as it is kept. @throws GatewayError 400 for a pattern */
export async function readRules(sent: Sent): Promise<GuardrailChanges> {
  const { description, limit_usd, reset_interval, include_byok_in_budgets } = sent;
  return {
    ...(description !== undefined && { description }),
    ...(limit_usd !== undefined && { limitNanoUsd: readUsd(limit_usd) }),
    ...(reset_interval !== undefined && { resetInterval: reset_interval }),
    ...(include_byok_in_budgets !== undefined && { includeByokInBudgets: include_byok_in_budgets }),
    rules: {
      ...readLists(sent),
      ...readPrivacy(sent),
      ...(sent.content_filters !== undefined && { contentFilters: await readContentFilters(sent.content_filters) }),
      ...(sent.content_filter_builtins !== undefined && {
        builtinFilters: readBuiltinFilters(sent.content_filter_builtins),
      }),
    },
  };
}

type Rules = NonNullable<GuardrailChanges['rules']>;

function readLists(sent: Sent): Rules {
  const { allowed_providers, ignored_providers, allowed_models, ignored_models } = sent;
  return {
    ...(allowed_providers !== undefined && { allowedProviders: allowed_providers }),
    ...(ignored_providers !== undefined && { ignoredProviders: ignored_providers }),
    ...(allowed_models !== undefined && { allowedModels: allowed_models }),
    ...(ignored_models !== undefined && { ignoredModels: ignored_models }),
  };
}

function readPrivacy(sent: Sent): Rules {
  const { enable_paid_model_training, enable_free_model_training, enable_free_model_publication } = sent;
  return {
    zeroRetention: readZeroRetention(sent),
    ...(enable_paid_model_training !== undefined && { paidTraining: enable_paid_model_training }),
    ...(enable_free_model_training !== undefined && { freeTraining: enable_free_model_training }),
    ...(enable_free_model_publication !== undefined && { freePublication: enable_free_model_publication }),
  };
}

/** The deprecated member speaks for all groups that are not named. @source areas.md 6 "enforce_zdr" */
function readZeroRetention(sent: Sent): NonNullable<Rules['zeroRetention']> {
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
