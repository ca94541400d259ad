import type { Explanation } from '../../api/explain.ts';

type Reason = Explanation['excluded'][number]['reason'];

/** Why an endpoint is left out: every reason that the gateway has. */
const WORDS: Readonly<Record<Reason, string>> = {
  allowed_providers: 'is not among the providers that the request allows',
  allow_fallbacks: 'would be a fallback, and the request allows none',
  credentials: 'has no credential for this request',
  'data_policy:training': 'trains on what it gets, or keeps it, which was denied',
  'data_policy:zdr': 'keeps what it gets for a while, which was denied',
  enforce_distillable_text: 'does not allow its text to train other models',
  quantization: 'has another quantization than the request wants',
  max_price: 'costs more than the request allows',
  require_parameters: 'does not know a parameter that is required',
  parameter_value: 'does not take a value of the request',
  preferred_parameters: 'lacks a parameter that other endpoints have',
  service_tier: 'does not have the service tier',
  input_modalities: 'does not read a medium of the request',
  output_modalities: 'does not make the medium that is wanted',
  context_length: 'has too little context for this request',
  max_tokens: 'writes fewer tokens than the request wants',
  vendor_tools: 'does not run the tools of this vendor',
  defer_loading: 'does not load tools later',
  price_unknown: 'has no known price, which spending limits need',
  'guardrail:providers': 'is not among the providers that a guardrail allows',
  'guardrail:models': 'serves a model that a guardrail does not allow',
  'guardrail:zdr': 'keeps what it gets, which a guardrail denies',
  'guardrail:training': 'trains on what it gets, which a guardrail denies',
};

/** @param reason of this gateway, or of an earlier version, whose code stands as it is */
export function reasonOf(reason: string, lacks?: string): string {
  const words = isKnown(reason) ? WORDS[reason] : reason.replaceAll('_', ' ').replace(':', ': ');
  return lacks === undefined ? words : `${words} (lacks ${lacks})`;
}

function isKnown(reason: string): reason is Reason {
  return Object.hasOwn(WORDS, reason);
}
