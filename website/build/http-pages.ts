import { readFileSync } from 'node:fs';

/* The reference of the HTTP API: a page for each tag of docs/openapi.json. */

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Content {
  readonly schema?: Schema;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, Content>> };
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);
/** Deeper members stand in the document itself. */
const DEPTH_MAX = 2;
/** Rows of one table; a request for a generation has hundreds of members. */
const ROWS_MAX = 80;

/** Names of files below `http/`, with their text. */
export function formatHttpPages(file: string): readonly (readonly [name: string, text: string])[] {
  const document: Document = JSON.parse(readFileSync(file, 'utf8'));
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      METHODS.has(method) ? [{ method: method.toUpperCase(), path: `/v1${path}`, operation }] : [],
    ),
  );
  const tags = Map.groupBy(routes, ({ operation }) => operation.tags?.[0] ?? 'Other');
  const pages = [...tags].map(([tag, some]) => [`${slugOf(tag)}.md`, formatTag(tag, some, document)] as const);
  return [['index.md', formatIndex(tags)], ...pages];
}

function formatIndex(tags: ReadonlyMap<string, readonly Route[]>): string {
  const sections = [...tags].map(([tag, routes]) => {
    const rows = routes.map(
      ({ method, path, operation }) =>
        `| [\`${method} ${path}\`](/http/${slugOf(tag)}.md#${anchorOf(method, path)}) | ${cell(operation.summary)} |`,
    );
    return `## ${tag}\n\n| route | what it does |\n| --- | --- |\n${rows.join('\n')}`;
  });
  return `# HTTP\n\nEvery route, from the description that the gateway serves at \`GET /openapi.json\`. Keys stand in \`Authorization: Bearer KEY\`.\n\n${sections.join('\n\n')}\n`;
}

function formatTag(tag: string, routes: readonly Route[], document: Document): string {
  return `# ${tag}\n\n${routes.map((route) => formatRoute(route, document)).join('\n\n')}\n`;
}

function formatRoute({ method, path, operation }: Route, document: Document): string {
  const { summary, description, parameters = [], requestBody, responses = {} } = operation;
  const body = schemaOf(requestBody?.content);
  const parts = [
    `## ${method} ${path} {#${anchorOf(method, path)}}`,
    sentence(summary),
    sentence(description),
    `Key: ${keyOf(operation)}.`,
    parameters.length === 0
      ? ''
      : table(
          ['parameter', 'in', 'type', 'meaning'],
          parameters.map((one) => [`\`${one.name}\``, one.in, typeOf(one.schema, document), cell(one.description)]),
        ),
    body === undefined ? '' : `**Body**\n\n${formatMembers(body, document)}`,
    `**Responses**\n\n${Object.entries(responses)
      .map(([status, response]) => `- \`${status}\`: ${escapeText(response.description ?? '')}`)
      .join('\n')}`,
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => {
        const members = formatMembers(schemaOf(response.content), document);
        return members === '' ? '' : `**Members of ${status}**\n\n${members}`;
      }),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function schemaOf(content: Readonly<Record<string, Content>> | undefined): Schema | undefined {
  return content?.['application/json']?.schema ?? Object.values(content ?? {})[0]?.schema;
}

function keyOf({ security = [] }: Operation): string {
  const kinds = security
    .flatMap((one) => Object.keys(one))
    .map((name) => (name === 'managementKey' ? 'management key' : 'API key'));
  return kinds.length === 0 ? 'none' : [...new Set(kinds)].join(' or ');
}

function formatMembers(schema: Schema | undefined, document: Document): string {
  const rows = membersOf(schema, document, '', 0);
  if (rows.length === 0) return '';
  const shown = table(['member', 'type', 'meaning'], rows.slice(0, ROWS_MAX));
  return rows.length > ROWS_MAX
    ? `${shown}\n\nand ${rows.length - ROWS_MAX} more, in [openapi.json](/openapi.json).`
    : shown;
}

function membersOf(schema: Schema | undefined, document: Document, prefix: string, depth: number): string[][] {
  const { properties = {}, required = [] } = resolve(schema, document);
  return Object.entries(properties).flatMap(([name, member]) => {
    const resolved = resolve(member, document);
    const row = [
      `\`${prefix}${name}\`${required.includes(name) && depth === 0 ? ' (required)' : ''}`,
      typeOf(member, document),
      cell(resolved.description ?? member.description),
    ];
    if (depth + 1 >= DEPTH_MAX) return [row];
    const inner = resolved.items === undefined ? resolved : resolve(resolved.items, document);
    const below = resolved.items === undefined ? '.' : '[].';
    return [row, ...membersOf(inner, document, `${prefix}${name}${below}`, depth + 1)];
  });
}

function resolve(schema: Schema | undefined, document: Document): Schema {
  const name = schema?.$ref?.split('/').at(-1);
  if (name !== undefined) return resolve(document.components.schemas[name], document);
  const parts = schema?.allOf ?? [];
  if (parts.length === 0) return schema ?? {};
  const all = parts.map((part) => resolve(part, document));
  return { ...schema, properties: Object.assign({}, ...all.map(({ properties }) => properties)) };
}

/** Types of JSON contain themselves. */
const TYPE_DEPTH_MAX = 3;

function typeOf(schema: Schema | undefined, document: Document, depth = 0): string {
  if (depth > TYPE_DEPTH_MAX) return 'any';
  const one = resolve(schema, document);
  if (one.enum !== undefined) return one.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (one.const !== undefined) return `\`${JSON.stringify(one.const)}\``;
  const choices = one.anyOf ?? one.oneOf;
  if (choices !== undefined)
    return [...new Set(choices.map((choice) => typeOf(choice, document, depth + 1)))].join(' or ');
  const type = Array.isArray(one.type) ? one.type.join(' or ') : String(one.type ?? 'any');
  if (type === 'array') return `list of ${typeOf(one.items, document, depth + 1)}`;
  return one.format === undefined ? type : `${type} (${one.format})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(text: string | undefined): string {
  return escapeText((text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' '));
}

function sentence(text: string | undefined): string {
  const trimmed = escapeText(text ?? '').trim();
  return trimmed === '' || /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function escapeText(text: string): string {
  return text.replaceAll('<', '\\<');
}

function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function anchorOf(method: string, path: string): string {
  return `${method}-${path}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
