import { z } from 'zod';
import { GatewayError } from '../canonical/gateway-error.ts';
import {
  BUILTIN_FILTER_SLUGS,
  LABEL_OF_BUILTIN,
  type BuiltinFilter,
  type BuiltinFilterSlug,
  type ContentFilter,
} from '../canonical/guardrail-rules.ts';

const LABEL_CHARS_MAX = 100;
const FILTERS_MAX = 100;

const action = z
  .enum(['redact', 'block', 'flag'])
  .describe('`flag` notes a match, `redact` replaces it, `block` refuses the request.');
const scanOutput = z.boolean().describe('Whether responses are searched as well as requests.');
const slug = z.enum(BUILTIN_FILTER_SLUGS);
const scanScope = z.enum(['user_only', 'all_messages']);

/** @spec filter-1, filter-11 */
export const contentFiltersSchema = z
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
export const builtinFiltersSchema = z
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

export const serializedContentFiltersSchema = z
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

export const serializedBuiltinFiltersSchema = z
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

/** @throws GatewayError 400 `invalid_regex_pattern` */
export async function parseContentFilters(
  sent: z.output<typeof contentFiltersSchema>,
): Promise<readonly ContentFilter[] | null> {
  if (sent === null) return null;
  // The parser is large, and most gateways never store a pattern.
  const { faultOfPattern } = await import('../lib/text/plain-pattern.ts');
  return sent.map(({ pattern, action: does, label = null, scan_output = false }, index): ContentFilter => {
    const fault = faultOfPattern(pattern);
    if (fault !== undefined) throw badPattern(`content_filters[${index}].pattern`, fault);
    return { pattern, action: does, label, scanOutput: scan_output };
  });
}

function badPattern(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message} (invalid_regex_pattern)`, {
    issues: [{ path, message }],
    metadata: { code: 'invalid_regex_pattern' },
  });
}

export function parseBuiltinFilters(sent: z.output<typeof builtinFiltersSchema>): readonly BuiltinFilter[] | null {
  return (
    sent?.map(
      ({ slug: name, action: does, scan_scope: scope = 'all_messages', scan_output = false }): BuiltinFilter => ({
        slug: name,
        action: does,
        scanScope: scope,
        scanOutput: scan_output,
      }),
    ) ?? null
  );
}

export function serializeContentFilters(
  filters: readonly ContentFilter[] | null,
): z.output<typeof serializedContentFiltersSchema> {
  return (
    filters?.map(({ pattern, action: does, label, scanOutput: scans }) => ({
      pattern,
      action: does,
      label,
      ...(scans && { scan_output: true }),
    })) ?? null
  );
}

export function serializeBuiltinFilters(
  filters: readonly BuiltinFilter[] | null,
): z.output<typeof serializedBuiltinFiltersSchema> {
  return (
    filters?.map((filter) => ({
      slug: filter.slug,
      action: filter.action,
      label: LABEL_OF_BUILTIN[filter.slug],
      ...(filter.slug === INJECTION && { scan_scope: filter.scanScope }),
      ...(filter.scanOutput && { scan_output: true }),
    })) ?? null
  );
}
