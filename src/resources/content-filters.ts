import { z } from 'zod';
import { GatewayError } from '../canonical/gateway-error.ts';
import {
  BUILTIN_FILTER_SLUGS,
  LABEL_OF_BUILTIN,
  type BuiltinFilter,
  type BuiltinFilterSlug,
  type ContentFilter,
} from '../canonical/guardrail-rules.ts';
import { jsonValue } from './columns.ts';

const LABEL_CHARS_MAX = 100;
const FILTERS_MAX = 100;

const filterAction = z.enum(['redact', 'block', 'flag']);
const action = filterAction.describe('`flag` notes a match, `redact` replaces it, `block` refuses the request.');
const scanOutput = z.boolean().describe('Whether responses are searched as well as requests.');
const slug = z.enum(BUILTIN_FILTER_SLUGS);
const scanScope = z.enum(['user_only', 'all_messages']);

/** @spec filter-1, filter-11 */
const contentFiltersSchema = z
  .array(
    z
      .strictObject({
        pattern: z
          .string()
          .describe(
            'A JavaScript regular expression without look-arounds, back-references and nested quantifiers, at most 100,000 characters.',
          ),
        action,
        label: z.string().min(1).max(LABEL_CHARS_MAX).nullable().optional(),
        scan_output: scanOutput.optional(),
      })
      .meta({ id: 'ContentFilter' }),
  )
  .max(FILTERS_MAX)
  .nullable();

/** @spec filter-5 */
const builtinFiltersSchema = z
  .array(
    z
      .strictObject({
        slug,
        action,
        label: z.string().max(LABEL_CHARS_MAX).optional().meta({ deprecated: true, description: 'Not heeded.' }),
        scan_scope: scanScope.optional().describe('For `regex-prompt-injection` alone.'),
        scan_output: scanOutput.optional(),
      })
      .refine((filter) => filter.slug === INJECTION || filter.scan_scope === undefined, {
        path: ['scan_scope'],
        error: 'is for "regex-prompt-injection" alone',
      })
      .meta({ id: 'ContentFilterBuiltin' }),
  )
  .max(FILTERS_MAX)
  .nullable();

const INJECTION: BuiltinFilterSlug = 'regex-prompt-injection';

const serializedContentFiltersSchema = z
  .array(
    z
      .strictObject({
        pattern: z.string(),
        action,
        label: z.string().nullable(),
        scan_output: scanOutput.optional(),
      })
      .meta({ id: 'StoredContentFilter' }),
  )
  .nullable();

const serializedBuiltinFiltersSchema = z
  .array(
    z
      .strictObject({
        slug,
        action,
        label: z.string(),
        scan_scope: scanScope.optional(),
        scan_output: scanOutput.optional(),
      })
      .meta({ id: 'StoredContentFilterBuiltin' }),
  )
  .nullable();

/** Patterns of the operator's own. They are checked before they are parsed: see `checkPatterns`. */
export const contentFilters = {
  ...jsonValue(
    z
      .array(
        z.strictObject({
          pattern: z.string(),
          action: filterAction,
          label: z.string().nullable(),
          scanOutput: z.boolean(),
        }),
      )
      .readonly()
      .nullable(),
  ),
  set: contentFiltersSchema,
  shown: serializedContentFiltersSchema,
  parse: (sent: z.output<typeof contentFiltersSchema>): readonly ContentFilter[] | null =>
    sent &&
    sent.map((filter) => ({
      pattern: filter.pattern,
      action: filter.action,
      label: filter.label ?? null,
      scanOutput: filter.scan_output ?? false,
    })),
  serialize: (filters: readonly ContentFilter[] | null): z.output<typeof serializedContentFiltersSchema> =>
    filters && filters.map(({ scanOutput: scans, ...filter }) => ({ ...filter, ...(scans && { scan_output: true }) })),
};

/** @throws GatewayError 400 `invalid_regex_pattern` */
export async function checkPatterns(sent: z.output<typeof contentFiltersSchema> | undefined): Promise<void> {
  if (sent === null || sent === undefined) return;
  // The parser is large, and most gateways never store a pattern.
  const { faultOfPattern } = await import('../lib/text/plain-pattern.ts');
  for (const [index, { pattern }] of sent.entries()) {
    const fault = faultOfPattern(pattern);
    if (fault !== undefined) throw badPattern(`content_filters[${index}].pattern`, fault);
  }
}

function badPattern(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message} (invalid_regex_pattern)`, {
    issues: [{ path, message }],
    metadata: { code: 'invalid_regex_pattern' },
  });
}

/** Built-in filters that are switched on. */
export const builtinFilters = {
  ...jsonValue(
    z
      .array(z.strictObject({ slug, action: filterAction, scanScope, scanOutput: z.boolean() }))
      .readonly()
      .nullable(),
  ),
  set: builtinFiltersSchema,
  shown: serializedBuiltinFiltersSchema,
  parse: (sent: z.output<typeof builtinFiltersSchema>): readonly BuiltinFilter[] | null =>
    sent &&
    sent.map((filter) => ({
      slug: filter.slug,
      action: filter.action,
      scanScope: filter.scan_scope ?? 'all_messages',
      scanOutput: filter.scan_output ?? false,
    })),
  serialize: (filters: readonly BuiltinFilter[] | null): z.output<typeof serializedBuiltinFiltersSchema> =>
    filters &&
    filters.map((filter) => ({
      slug: filter.slug,
      action: filter.action,
      label: LABEL_OF_BUILTIN[filter.slug],
      ...(filter.slug === INJECTION && { scan_scope: filter.scanScope }),
      ...(filter.scanOutput && { scan_output: true }),
    })),
};
