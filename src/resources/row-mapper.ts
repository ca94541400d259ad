import { assert } from '../lib/assert.ts';
import { same, type Codec } from './columns.ts';

/** Columns of a table by their names in SQL. */
export type Columns = Readonly<Record<string, Codec>>;

/** `created_at_ms` is `createdAtMs` in rows. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type Stored<C> = C extends Codec<infer Type, infer _Value> ? Type : never;
export type ValueOf<C> = C extends Codec<infer _Stored, infer Value> ? Value : never;

/** The table as Kysely and the databases see it. */
export type TableOf<C extends Columns> = { readonly [Name in keyof C]: Stored<C[Name]> };
/** A row as all other code sees it. */
export type RowOf<C extends Columns> = { readonly [Name in keyof C & string as Camel<Name>]: ValueOf<C[Name]> };

export interface RowMapper<C extends Columns> {
  /** Of all columns, in the order of the declaration. */
  readonly names: readonly string[];
  /** The values of the columns, in that order. */
  readonly toValues: (row: RowOf<C>) => readonly unknown[];
  readonly toColumns: (row: RowOf<C>) => TableOf<C>;
  readonly toRow: (columns: TableOf<C>) => RowOf<C>;
  /** Of the members that are there. */
  readonly toChanges: (changes: Partial<RowOf<C>>) => Partial<TableOf<C>>;
}

export function camelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Maps rows to the columns of a table and back, by the names of the columns alone. */
export function createRowMapper<const C extends Columns>(columns: C): RowMapper<C> {
  const byMember = new Map(Object.entries(columns).map(([name, column]) => [camelCase(name), { name, column }]));
  const changesOf = (changes: object): Entries =>
    Object.entries(changes).flatMap(([member, value]) => {
      const known = byMember.get(member);
      return known === undefined || value === undefined ? [] : [[known.name, known.column.encode(value)]];
    });
  return {
    names: Object.keys(columns),
    ...compile(columns),
    toChanges: (changes) => Object.fromEntries(changesOf(changes)),
  };
}

/** Entries of an object that only the declared types describe: `Object.fromEntries` makes `any` of them. */
export type Entries = readonly (readonly unknown[])[];

/**
 * Writes the mapping as source, as validators and serializers do: a literal of 65 members takes 0.1 microseconds, and the
 * same object built in a loop 3. One such mapping stands in the path of every generation.
 */
function compile<C extends Columns>(columns: C): Pick<RowMapper<C>, 'toColumns' | 'toValues' | 'toRow'> {
  const names = Object.keys(columns);
  for (const name of names) assert(/^[a-z][a-z0-9_]*$/.test(name), 'a column is named in snake case');
  const toValues = names.map((name) => converted(columns, name, 'encode', camelCase(name)));
  const toColumns = names.map((name, place) => `${name}: ${toValues[place]}`);
  const toRow = names.map((name) => `${camelCase(name)}: ${converted(columns, name, 'decode', name)}`);
  const literals = [
    `toColumns: (from) => ({ ${toColumns.join(', ')} })`,
    `toValues: (from) => [${toValues.join(', ')}]`,
    `toRow: (from) => ({ ${toRow.join(', ')} })`,
  ].join(', ');
  // oxlint-disable-next-line typescript/no-implied-eval -- its only variable parts are the names that were checked above
  return new Function('columns', `return { ${literals} };`)(columns);
}

function converted(columns: Columns, name: string, direction: 'encode' | 'decode', member: string): string {
  return columns[name]?.[direction] === same ? `from.${member}` : `columns.${name}.${direction}(from.${member})`;
}
