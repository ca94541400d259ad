import { sql, type RawBuilder } from 'kysely';

/** Tags of one classifier, which only records have. Of several versions the last one that read a generation counts. */
export interface TagInput {
  readonly classifierId: string;
  /** Grouped by the values of these dimensions; by all dimensions and their values where it is empty. Absent: not grouped. */
  readonly names?: readonly string[] | undefined;
  /** Whether generations without a tag are kept where they are grouped. */
  readonly isUnsetKept: boolean;
  readonly filters: readonly {
    readonly dimension: string;
    readonly values: readonly string[];
    readonly isNot: boolean;
  }[];
}

export interface TagColumns {
  /** Behind the table of records. */
  readonly join: RawBuilder<unknown>;
  /** What is grouped by, in this order. */
  readonly groups: readonly RawBuilder<unknown>[];
  /** Each begins with `and`. */
  readonly conditions: readonly RawBuilder<unknown>[];
}

export const NO_TAGS: TagColumns = { join: sql``, groups: [], conditions: [] };

export function tagColumns(
  { classifierId, names, isUnsetKept, filters }: TagInput,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): TagColumns {
  const valueOf = (dimension: string): RawBuilder<unknown> =>
    sql`coalesce((select value from generation_tags where classifier_id = ${classifierId}
      and generation_id = generations.id and dimension = ${dimension} order by version desc limit 1), '')`;
  const conditions = filters.map(({ dimension, values, isNot }) => {
    const list = sql.join(values);
    return isNot ? sql`and ${valueOf(dimension)} not in (${list})` : sql`and ${valueOf(dimension)} in (${list})`;
  });
  if (names === undefined) return { ...NO_TAGS, conditions };
  if (names.length > 0) {
    const set = isUnsetKept ? [] : names.map((name) => sql`and ${valueOf(name)} <> ''`);
    return { ...NO_TAGS, groups: names.map(valueOf), conditions: [...conditions, ...set] };
  }
  return {
    join: sql`${isUnsetKept ? sql`left join` : sql`join`} (
      select generation_id as tag_generation, dimension as tag_dimension, value as tag_value from generation_tags as tags
      where classifier_id = ${classifierId} and created_at_ms >= ${fromMs} and created_at_ms < ${toMs}
        and version = (select max(version) from generation_tags as later where later.classifier_id = tags.classifier_id
          and later.generation_id = tags.generation_id and later.dimension = tags.dimension)
    ) as each_tag on tag_generation = id`,
    groups: [sql`coalesce(tag_dimension, '')`, sql`coalesce(tag_value, '')`],
    conditions,
  };
}
