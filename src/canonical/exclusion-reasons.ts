/** Why an endpoint is not tried. The first part is the word of `availability.excluded_by`. @spec error-24 */
export const EXCLUSION_REASONS = [
  'allowed_providers',
  'allow_fallbacks',
  'credentials',
  'data_policy:training',
  'data_policy:zdr',
  'enforce_distillable_text',
  'quantization',
  'max_price',
  'require_parameters',
  'parameter_value',
  'preferred_parameters',
  'service_tier',
  'input_modalities',
  'output_modalities',
  'context_length',
  'max_tokens',
  'vendor_tools',
  'defer_loading',
  'price_unknown',
  'guardrail:providers',
  'guardrail:models',
  'guardrail:zdr',
  'guardrail:training',
] as const;

export type ExclusionReason = (typeof EXCLUSION_REASONS)[number];
