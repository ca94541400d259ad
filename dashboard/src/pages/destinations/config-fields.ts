import { isRecord } from '../../api/errors.ts';

/** A field of the configuration of one kind of destination. */
export interface ConfigField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'secret' | 'lines' | 'choice' | 'switch';
  readonly isRequired: boolean;
  /** Where records go: another origin takes every secret again. */
  readonly isAddress: boolean;
  readonly hint: string | undefined;
  readonly placeholder: string | undefined;
  readonly choices: readonly string[];
}

/** What is typed, by the names of fields; an empty text is not sent. */
export type ConfigDraft = Readonly<Record<string, string>>;

type Config = Readonly<Record<string, unknown>>;

/** The form of a configuration, from its JSON Schema: required fields first. */
export function fieldsOf(schema: Config, secrets: readonly string[]): readonly ConfigField[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties)
    .map(([name, member]) => fieldOf(name, isRecord(member) ? member : {}, required.includes(name), secrets))
    .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

function fieldOf(name: string, member: Config, isRequired: boolean, secrets: readonly string[]): ConfigField {
  const { default: initial, description, enum: choices, type } = member;
  const kind =
    type === 'object'
      ? 'lines'
      : Array.isArray(choices)
        ? 'choice'
        : type === 'boolean'
          ? 'switch'
          : secrets.includes(name)
            ? 'secret'
            : 'text';
  return {
    name,
    label: labelOf(name),
    kind,
    isRequired,
    isAddress: /url|endpoint|host/i.test(name),
    hint: typeof description === 'string' ? description.replaceAll('`', '') : undefined,
    placeholder: typeof initial === 'string' ? initial : undefined,
    choices: Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [],
  };
}

const SHORT: ReadonlySet<string> = new Set(['api', 'url', 'dsn', 'otlp', 'ml']);

/** `otlpEndpoint` and `signing_secret`: "OTLP endpoint", "Signing secret". */
function labelOf(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .split(' ')
    .map((word) => (SHORT.has(word) ? word.toUpperCase() : word));
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The configuration that a draft stands for. */
export function toConfig(fields: readonly ConfigField[], draft: ConfigDraft): Config {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const text = (draft[name] ?? '').trim();
      if (text === '') return [];
      return [[name, kind === 'lines' ? pairsOf(text) : kind === 'switch' ? text === 'true' : text]];
    }),
  );
}

/** `Name: value`, one a line. */
function pairsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
  return Object.fromEntries(pairs);
}

/** What is stored, as a draft: secrets are masked there, and stay empty here. */
export function draftOf(fields: readonly ConfigField[], config: Config): ConfigDraft {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = config[name];
      if (kind === 'secret' || kind === 'lines') return [];
      return typeof value === 'string' || typeof value === 'boolean' ? [[name, String(value)]] : [];
    }),
  );
}

/** The stored mask of a secret, and the names of stored headers; `undefined`: none is stored. */
export function maskOf({ name, kind }: ConfigField, config: Config): string | undefined {
  const value = config[name];
  if (kind === 'secret' && typeof value === 'string' && value !== '') return value;
  if (kind === 'lines' && isRecord(value) && Object.keys(value).length > 0)
    return Object.entries(value)
      .map(([header, mask]) => `${header}: ${String(mask)}`)
      .join('\n');
  return undefined;
}

/** Whether the draft leads to another origin than what is stored. */
export function isOtherOrigin(fields: readonly ConfigField[], draft: ConfigDraft, config: Config): boolean {
  return fields.some(({ name, isAddress }) => {
    const [before, after] = [originOf(config[name]), originOf(draft[name] ?? '')];
    return isAddress && before !== after;
  });
}

function originOf(address: unknown): string {
  const text = typeof address === 'string' ? address.trim() : '';
  return URL.canParse(text) ? new URL(text).origin : text;
}

/** What a request shows in place of secrets. */
export function hideSecrets(fields: readonly ConfigField[], config: Config): Config {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const kind = fields.find((field) => field.name === name)?.kind;
      if (kind === 'secret') return [name, '…'];
      const hidden = isRecord(value) ? Object.fromEntries(Object.keys(value).map((header) => [header, '…'])) : value;
      return [name, hidden];
    }),
  );
}
