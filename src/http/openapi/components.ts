import { z } from 'zod';
import { assert } from '../../lib/assert.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

/** A zod schema, or JSON Schema (2020-12) with its definitions in `$defs`. */
export type AnySchema = z.ZodType | JsonObject;

/** Gathers schemas as components of one OpenAPI document. */
export interface SchemaComponents {
  /** Puts a schema among the components and gives the reference to it. */
  add(name: string, schema: AnySchema, direction: Direction): JsonObject;
  /** The schema itself; only what it defines for reuse goes among the components. */
  inline(name: string, schema: AnySchema, direction: Direction): JsonObject;
  all(): JsonObject;
}

/** `input`: what may be sent. `output`: what comes back, defaults filled in. */
export type Direction = 'input' | 'output';

const REF_PREFIX = '#/components/schemas/';
const DEFS_PREFIX = '#/$defs/';
/** How zod names what it must repeat but has no `id`. */
const NAMELESS = /^__schema\d+$/;

export function createSchemaComponents(): SchemaComponents {
  const components = new Map<string, JsonObject>();

  /**
   * Identical definitions share a component; one that differs under the same name gets a longer name, and with it
   * whatever refers to it.
   */
  function claimNames(owner: string, definitions: readonly [string, JsonObject][]): ReadonlyMap<string, string> {
    const names = new Map<string, string>([['#', REF_PREFIX + owner]]);
    for (const [definition] of definitions)
      names.set(DEFS_PREFIX + definition, REF_PREFIX + wantedName(owner, definition));
    const differs = ([definition, content]: [string, JsonObject]): boolean => {
      const known = components.get(wantedName(owner, definition));
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(renameRefs(content, names));
    };
    let open = definitions;
    for (;;) {
      const different = open.filter(differs);
      if (different.length === 0) return names;
      for (const [definition] of different)
        names.set(DEFS_PREFIX + definition, `${REF_PREFIX}${owner}.${wantedName(owner, definition)}`);
      open = open.filter((definition) => !different.includes(definition));
    }
  }

  function inline(name: string, schema: AnySchema, direction: Direction): JsonObject {
    const { $defs, $schema: _dialect, ...root } = toJsonSchema(schema, direction);
    const definitions = isJsonObject($defs) ? Object.entries($defs).filter(isDefinition) : [];
    const names = claimNames(name, definitions);
    for (const [definition, content] of definitions) {
      const target = names.get(DEFS_PREFIX + definition) ?? '';
      components.set(target.slice(REF_PREFIX.length), renameRefs(content, names));
    }
    return renameRefs(root, names);
  }

  return {
    inline,
    add(name, schema, direction) {
      const root = inline(name, schema, direction);
      if (typeof root['$ref'] === 'string' && Object.keys(root).length === 1) return root;
      components.set(name, root);
      return { $ref: REF_PREFIX + name };
    },
    all: () => Object.fromEntries([...components].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

function wantedName(owner: string, definition: string): string {
  return NAMELESS.test(definition) ? `${owner}.${definition.replace('__schema', 'part')}` : definition;
}

function isDefinition(entry: [string, Json | undefined]): entry is [string, JsonObject] {
  return isJsonObject(entry[1]);
}

function toJsonSchema(schema: AnySchema, direction: Direction): JsonObject {
  if (!(schema instanceof z.ZodType)) return schema;
  const json = z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Zod adds the regular expression behind a format: hundreds of characters that say the same.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  // Through text: zod's result carries members with functions and `undefined`, which are not JSON.
  const plain = parseJsonObject(JSON.stringify(json));
  assert(plain !== undefined, 'a JSON Schema is an object');
  return plain;
}

function renameRefs(schema: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([member, value]) => [
      member,
      member === '$ref' && typeof value === 'string' ? (names.get(value) ?? value) : renameIn(value, names),
    ]),
  );
}

function renameIn(value: Json | undefined, names: ReadonlyMap<string, string>): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => renameIn(item, names) ?? null);
  return isJsonObject(value) ? renameRefs(value, names) : value;
}
