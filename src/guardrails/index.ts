import { contentFilter } from './content-filter/guardrail.ts';
import type { Guardrail } from './contract.ts';
import { entities } from './entities/guardrail.ts';
import { promptInjection } from './prompt-injection/guardrail.ts';
import { sensitiveData } from './sensitive-data/guardrail.ts';

/** Every kind of rule, under the name of its folder. */
export const GUARDRAILS = {
  'content-filter': contentFilter,
  'sensitive-data': sensitiveData,
  entities,
  'prompt-injection': promptInjection,
} satisfies Readonly<Record<string, Guardrail>>;
