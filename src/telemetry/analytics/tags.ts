import { invalid } from '../../canonical/gateway-error.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import type { TagInput } from '../../store/usage/tag-columns.ts';

export type Scalar = string | number;

/** What of a query is about tags, with its shape checked. */
export interface TagQuery {
  readonly classifier_dimensions?:
    | {
        readonly classifier_id: string;
        readonly dimension_names?: readonly string[] | undefined;
        readonly include_nulls?: boolean | undefined;
      }
    | undefined;
  readonly classifier_filters?:
    | {
        readonly classifier_id: string;
        readonly filters: readonly {
          readonly field: string;
          readonly operator: 'eq' | 'neq' | 'in' | 'not_in';
          readonly value: Scalar | readonly Scalar[];
        }[];
      }
    | undefined;
}

/** @source `@openrouter/sdk` 1.3.19, `QueryAnalyticsRequestBody` */
const NAME_COLUMN = 'clf_dimension_name';
const VALUE_COLUMN = 'clf_dimension_value';

export interface ParsedTags {
  readonly input: TagInput;
  /** The columns of the rows, in the order of the groups. */
  readonly columns: readonly string[];
}

/** @throws GatewayError 400 with the path of what is wrong */
export function parseTags({
  classifier_dimensions: grouped,
  classifier_filters: filtered,
}: TagQuery): ParsedTags | undefined {
  const classifierId = grouped?.classifier_id ?? filtered?.classifier_id;
  if (classifierId === undefined) return undefined;
  if (filtered !== undefined && filtered.classifier_id !== classifierId)
    throw invalid('classifier_filters.classifier_id', 'must be that of classifier_dimensions');
  const names = grouped === undefined ? undefined : [...new Set(grouped.dimension_names)];
  const filters = (filtered?.filters ?? []).map(({ field, operator, value }, index) => {
    const isList = operator === 'in' || operator === 'not_in';
    if (Array.isArray(value) !== isList)
      throw invalid(
        `classifier_filters.filters[${index}].value`,
        isList ? `must be an array for "${operator}"` : `must be one value for "${operator}"`,
      );
    const isNot = operator === 'neq' || operator === 'not_in';
    return { dimension: field, values: [value].flat().map(String), isNot };
  });
  return {
    input: { classifierId, names, isUnsetKept: grouped?.include_nulls === true, filters },
    columns: names?.length === 0 ? [NAME_COLUMN, VALUE_COLUMN] : (names ?? []),
  };
}

/**
 * @param known the dimensions that the classifier has or had
 * @throws GatewayError 400 for another one, whose rows would look like none
 */
export function checkTags({ input }: ParsedTags, known: readonly string[] | undefined, isGrouped: boolean): void {
  if (known === undefined)
    throw invalid(`${isGrouped ? 'classifier_dimensions' : 'classifier_filters'}.classifier_id`, 'is no classifier');
  const check = (name: string, path: string): void => {
    if (known.includes(name)) return;
    const nearest = nearestName(name, known);
    throw invalid(path, nearest === undefined ? `must be one of ${known.join(', ')}` : `did you mean "${nearest}"?`);
  };
  for (const [index, name] of (input.names ?? []).entries())
    check(name, `classifier_dimensions.dimension_names[${index}]`);
  for (const [index, { dimension }] of input.filters.entries())
    check(dimension, `classifier_filters.filters[${index}].field`);
}
