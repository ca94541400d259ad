import { isJsonObject, type Json } from '../../lib/json.ts';

const REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;
const VARIABLE = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A value in the words of our file: `os.environ/NAME` is `${NAME}`, and a literal `${` is written `$${`. */
export function translate(value: Json): Json {
  if (typeof value === 'string') {
    const [, name] = REFERENCE.exec(value) ?? [];
    return name === undefined ? value.replaceAll('${', () => '$${') : `\${${name}}`;
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => translate(one));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, translate(one ?? null)]));
}

export function translateText(value: string): string;
export function translateText(value: string | undefined): string | undefined;
export function translateText(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const translated = translate(value);
  return typeof translated === 'string' ? translated : value;
}

/** What may stand in a header or a variable: numbers and switches without quotes, too. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

/** Whether a text of our file says nothing but a variable. */
export function isReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}

/** The environment variables that a value of our file names. */
export function variablesOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(VARIABLE)].map(([, name = '']) => name);
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((one) => variablesOf(one));
  return isJsonObject(value) ? Object.values(value).flatMap((one) => variablesOf(one)) : [];
}
