import { z } from 'zod';
import type { Column, ParseContext } from './columns.ts';
import { camelCase, createRowMapper, type Camel, type Entries, type RowMapper, type ValueOf } from './row-mapper.ts';

interface Settings<Value> {
  /** Its name in the API. Default: the column's, without `_ms`. */
  readonly as?: string;
  /** What a new row has where nothing is given. Without it, a new row needs the member. */
  readonly initial?: Value;
  /** As responses show it. Default: as `set`. Without both it is internal. */
  readonly shown?: z.ZodType;
  /** What both creation and change may send. It may always be left out. */
  readonly set?: z.ZodType;
  /** What creation sends, where that differs: required, unless the schema is optional. */
  readonly create?: z.ZodType;
  /** What a change may send, where that differs. */
  readonly update?: z.ZodType;
}

/** A column and its place in the API. */
export type Member = Column & Settings<unknown>;
/** Members of a resource in the order of responses. A bare schema is computed: it has no column. */
export type Members = Readonly<Record<string, Member | z.ZodType>>;

export function member<C extends Column, const S extends Settings<ValueOf<C>>>(column: C, settings: S): C & S {
  return { ...column, ...settings };
}

type Text<Name> = Name & string;
type NamesOf<M extends Members, Kind> = { [N in keyof M]: M[N] extends Kind ? N : never }[keyof M];
type ColumnNames<M extends Members> = Exclude<keyof M, NamesOf<M, z.ZodType>>;
type WireName<Name, M> = M extends { readonly as: infer Given extends string }
  ? Given
  : Name extends `${infer Base}_ms`
    ? Base
    : Text<Name>;

type Optional<S extends z.ZodType> = S extends z.ZodOptional ? S : z.ZodOptional<S>;
type SetSchema<M, Purpose extends 'create' | 'update'> = M extends {
  readonly [P in Purpose]: infer S extends z.ZodType;
}
  ? Purpose extends 'update'
    ? Optional<S>
    : S
  : M extends { readonly set: infer S extends z.ZodType }
    ? Optional<S>
    : never;
type ShownSchema<M> = M extends z.ZodType
  ? M
  : M extends { readonly shown: infer S extends z.ZodType }
    ? S
    : M extends { readonly set: infer S extends z.ZodType }
      ? S
      : never;

type SentShape<M extends Members, Purpose extends 'create' | 'update'> = {
  [N in ColumnNames<M> as [SetSchema<M[N], Purpose>] extends [never] ? never : WireName<N, M[N]>]: SetSchema<
    M[N],
    Purpose
  >;
};
type ShownShape<M extends Members> = {
  [N in keyof M as [ShownSchema<M[N]>] extends [never] ? never : WireName<N, M[N]>]: ShownSchema<M[N]>;
};
type SentBody<M extends Members, Purpose extends 'create' | 'update'> = z.output<z.ZodObject<SentShape<M, Purpose>>>;

export type ColumnsOf<M extends Members> = {
  readonly [N in ColumnNames<M>]: M[N] extends Column<infer Stored, infer Value, infer Wire>
    ? Column<Stored, Value, Wire>
    : never;
};
type Values<M extends Members, Names extends keyof M> = { readonly [N in Names as Camel<Text<N>>]: ValueOf<M[N]> };
type ShownNames<M extends Members> = {
  [N in ColumnNames<M>]: [ShownSchema<M[N]>] extends [never] ? never : N;
}[ColumnNames<M>];
type DefaultedNames<M extends Members> = NamesOf<M, { readonly initial: unknown }>;
type SentNames<M extends Members, Purpose extends 'create' | 'update'> = {
  [N in ColumnNames<M>]: [SetSchema<M[N], Purpose>] extends [never] ? never : N;
}[ColumnNames<M>];
type RequiredNames<M extends Members> = {
  [N in SentNames<M, 'create'>]: undefined extends z.output<SetSchema<M[N], 'create'>> ? never : N;
}[SentNames<M, 'create'>];

export type ResourceRow<M extends Members> = Values<M, ColumnNames<M>>;
/** What a new row is made of: members that begin in one way may be left out. */
export type NewRow<M extends Members> = Values<M, Exclude<ColumnNames<M>, DefaultedNames<M>>> & {
  readonly [N in DefaultedNames<M> as Camel<Text<N>>]?: ValueOf<M[N]> | undefined;
};
/** What the API may set at creation. */
export type NewValues<M extends Members> = Values<M, RequiredNames<M>> &
  Partial<Values<M, Exclude<SentNames<M, 'create'>, RequiredNames<M>>>>;
/** What the API may change. */
export type Patch<M extends Members> = Partial<Values<M, SentNames<M, 'update'>>>;

/** Everything that follows from one declaration. */
export interface Resource<M extends Members> {
  readonly rows: RowMapper<ColumnsOf<M>>;
  readonly columns: ColumnsOf<M>;
  /** Of responses. */
  readonly schema: ReturnType<typeof z.strictObject<ShownShape<M>>>;
  readonly createShape: SentShape<M, 'create'>;
  readonly updateShape: SentShape<M, 'update'>;
  readonly newRow: (values: NewRow<M>) => ResourceRow<M>;
  readonly serialize: (
    row: Values<M, ShownNames<M>>,
    computed: z.output<z.ZodObject<ComputedShape<M>>>,
  ) => z.output<z.ZodObject<ShownShape<M>>>;
  /** Values of what was sent. @throws GatewayError 400 */
  readonly parseNew: (sent: SentBody<M, 'create'>, context: ParseContext) => NewValues<M>;
  readonly parsePatch: (sent: SentBody<M, 'update'>, context: ParseContext) => Patch<M>;
}
type ComputedShape<M extends Members> = {
  readonly [N in Exclude<keyof M, ColumnNames<M>>]: M[N] extends infer S extends z.ZodType ? S : never;
};

/** A row of a resource that is declared. */
export type RowOf<R extends { newRow: (values: never) => unknown }> = ReturnType<R['newRow']>;
/** What a new row of it is made of. */
export type DraftOf<R extends { newRow: (values: never) => unknown }> = Parameters<R['newRow']>[0];
/** What the API may set of a new one. */
export type NewOf<R extends { parseNew: (...sent: never[]) => unknown }> = ReturnType<R['parseNew']>;
/** What the API may change of it. */
export type PatchOf<R extends { parsePatch: (...sent: never[]) => unknown }> = ReturnType<R['parsePatch']>;

/** @param id the name of its schema in the description of the API */
export function defineResource<const M extends Members>(id: string, members: M): Resource<M> {
  const fields = Object.entries(members).map(([column, each]) => ({
    column,
    row: camelCase(column),
    wire: (isComputed(each) ? undefined : each.as) ?? column.replace(/_ms$/, ''),
    each,
  }));
  const stored = fields.flatMap(({ each, ...names }) => (isComputed(each) ? [] : [{ ...names, each }]));
  const columns: ColumnsOf<M> = Object.fromEntries(stored.map(({ column, each }): Entry => [column, each]));
  const shapeOf = (purpose: 'create' | 'update'): Entries =>
    stored.flatMap(({ wire, each: { set, [purpose]: own } }) => {
      if (own !== undefined) return [[wire, purpose === 'update' ? optional(own) : own]];
      return set === undefined ? [] : [[wire, optional(set)]];
    });
  const parse = (sent: object, context: ParseContext): Entries => {
    const values = new Map<string, unknown>(Object.entries(sent));
    return stored.flatMap(({ row, wire, each }) => {
      const value = values.get(wire);
      return value === undefined ? [] : [[row, each.parse(value, wire, context)]];
    });
  };
  const shown = fields.flatMap(({ each, ...names }) => {
    const schema = isComputed(each) ? each : (each.shown ?? each.set);
    return schema === undefined ? [] : [{ ...names, each, schema }];
  });
  const shape: ShownShape<M> = Object.fromEntries(shown.map(({ wire, schema }): Entry => [wire, schema]));
  return {
    columns,
    rows: createRowMapper(columns),
    schema: z.strictObject(shape).meta({ id }),
    createShape: Object.fromEntries(shapeOf('create')),
    updateShape: Object.fromEntries(shapeOf('update')),
    newRow(values) {
      const given = new Map<string, unknown>(Object.entries(values));
      return Object.fromEntries(
        stored.map(({ row, each }): Entry => {
          const value = given.get(row);
          return [row, value === undefined ? each.initial : value];
        }),
      );
    },
    serialize(row, computed) {
      const values = new Map<string, unknown>([...Object.entries(row), ...Object.entries(computed)]);
      return Object.fromEntries(
        shown.map(({ row: name, wire, each }): Entry =>
          isComputed(each) ? [wire, values.get(wire)] : [wire, each.serialize(values.get(name))],
        ),
      );
    },
    parseNew: (sent, context) => Object.fromEntries(parse(sent, context)),
    parsePatch: (sent, context) => Object.fromEntries(parse(sent, context)),
  };
}

type Entry = Entries[number];

function optional(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? schema : schema.optional();
}

function isComputed(each: Member | z.ZodType): each is z.ZodType {
  return each instanceof z.ZodType;
}
