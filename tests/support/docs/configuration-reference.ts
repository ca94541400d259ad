import { z } from 'zod';
import type { KeyFacts } from '../../../src/config/schema/key.ts';
import { modelEntry, passThroughEntry } from '../../../src/config/schema/models.ts';
import { configFile } from '../../../src/config/schema.ts';
import { markdownTable } from './generated-page.ts';

/** A key of the configuration, as its schema has it. */
export interface ConfigurationKey extends KeyFacts {
  /** `providers.<slug>.base_url`; `[]` is any entry of a list. */
  readonly path: readonly string[];
  /** Absent: the schema does not say. */
  readonly what: string | undefined;
  /** A section has keys of its own. */
  readonly isSection: boolean;
  readonly isRequired: boolean;
  readonly type: string;
}

type Schema = z.core.$ZodType;

/** What stands for a key that the operator chooses, by the section that holds it. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  providers: ['<slug>'],
  beta_flags: ['<provider>'],
  mcp_servers: ['<name>'],
};

/** Every key there is, in the order of the schema. */
export function readConfigurationKeys(): readonly ConfigurationKey[] {
  const keys = keysOf(configFile, []);
  // Two kinds of entries, which the schema of the file leaves to `read-file.ts`.
  return [
    ...keys,
    ...keysOf(modelEntry, ['models', '<author/slug>']),
    ...keysOf(passThroughEntry, ['models', '<prefix>/*']),
  ];
}

function keysOf(schema: Schema, path: readonly string[]): readonly ConfigurationKey[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(([name, member]) => describe(member as Schema, [...path, name]));
  if (inner instanceof z.ZodRecord) {
    const [name] = NAMES[path.at(-1) ?? ''] ?? [];
    return name === undefined ? [] : keysOf(inner.valueType, [...path, name]);
  }
  return inner instanceof z.ZodArray ? keysOf(inner.element, [...path, '[]']) : [];
}

function describe(schema: Schema, path: readonly string[]): readonly ConfigurationKey[] {
  const { description: what, ...facts } = metaOf(schema);
  const inside = keysOf(schema, path);
  const isSection = inside.length > 0 || (path.length === 1 && path[0] === 'models');
  const isRequired = !z.safeParse(schema as z.ZodType, undefined).success;
  return [{ ...facts, path, what, isSection, isRequired, type: typeOf(schema) }, ...inside];
}

type Meta = KeyFacts & { readonly description?: string };

/** The outermost facts: those of the key rather than of what it holds. */
function metaOf(schema: Schema): Meta {
  const own = z.globalRegistry.get(schema) as Meta | undefined;
  if (own?.description !== undefined) return own;
  const inner = stripOne(schema);
  return inner === undefined ? {} : metaOf(inner);
}

function stripOne(schema: Schema): Schema | undefined {
  if (schema instanceof z.ZodOptional) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.out : undefined;
}

function unwrap(schema: Schema): Schema {
  const inner = stripOne(schema);
  return inner === undefined ? schema : unwrap(inner);
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

function typeOf(schema: Schema): string {
  return typeText(z.toJSONSchema(schema as z.ZodType, { io: 'output', unrepresentable: 'any' }) as JsonSchema);
}

function typeText(json: JsonSchema): string {
  if (json.enum !== undefined) return json.enum.map((value) => `\`${value}\``).join(', ');
  switch (json.type) {
    case 'integer':
      return `whole number${rangeText(json)}`;
    case 'number':
      return `number${rangeText(json)}`;
    case 'boolean':
      return '`true` or `false`';
    case 'array':
      return json.items?.type === 'object' ? 'list of mappings' : `list of ${typeText(json.items ?? {})}`;
    case 'object':
      return 'mapping';
    case 'string':
      return 'text';
    case undefined:
    default:
      return json.anyOf?.map(typeText).join(' or ') ?? 'anything';
  }
}

function rangeText({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : numberText(maximum);
  if (exclusiveMinimum !== undefined)
    return most === undefined
      ? ` above ${numberText(exclusiveMinimum)}`
      : ` above ${exclusiveMinimum}, at most ${most}`;
  if (minimum === undefined) return most === undefined ? '' : ` of at most ${most}`;
  return most === undefined ? ` from ${numberText(minimum)}` : ` from ${numberText(minimum)} to ${most}`;
}

function numberText(value: number): string {
  return value.toLocaleString('en-US');
}

/** The page: a table for each section at the top, and for those that are alone there, one together. */
export function formatConfigurationReference(): string {
  const keys = readConfigurationKeys();
  const tops = keys.filter(({ path }) => path.length === 1);
  const alone = tops.filter(({ isSection }) => !isSection);
  const sections = tops.filter(({ isSection }) => isSection);
  return [
    `## The top\n\n${tableOf(alone)}`,
    ...sections.map((section) => {
      const [name = ''] = section.path;
      const inside = keys.filter(({ path }) => path[0] === name && path.length > 1);
      return `## \`${name}\`\n\n${linked(section.what ?? '')}\n\n${tableOf(inside)}`;
    }),
  ].join('\n\n');
}

const HEAD = ['key', 'type', 'default', 'example', 'meaning'] as const;

function tableOf(keys: readonly ConfigurationKey[]): string {
  return markdownTable(
    HEAD,
    keys.map((key) => [
      `\`${pathText(key.path)}\``,
      key.isSection ? key.type.replace('mapping', 'section') : key.type,
      key.isSection ? '' : defaultText(key),
      key.isSection ? '' : codeOf(exampleOf(key)),
      linked(key.what ?? ''),
    ]),
  );
}

/** `docs/deploy.md` as a link from a page beside it. */
function linked(text: string): string {
  return text.replaceAll(/\bdocs\/([\w-]+\.md)/g, '[$1]($1)');
}

function pathText(path: readonly string[]): string {
  return path.join('.').replaceAll('.[]', '[]');
}

function defaultText(key: ConfigurationKey): string {
  if (key.isRequired) return '(required)';
  return key.default === undefined ? linked(key.usual ?? '') : codeOf(key.default);
}

export function exampleOf(key: ConfigurationKey): unknown {
  return key.example ?? key.default;
}

function codeOf(value: unknown): string {
  if (value === undefined) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
