import type { ProviderAdapter } from '../../src/providers/contract.ts';
import { ADAPTER_IDS, ADAPTERS } from '../../src/providers/index.ts';
import { KNOWN_PROVIDERS, type KnownProvider } from '../../src/providers/known-providers.ts';

const HEAD = ['provider', 'name', 'on with', 'formats', 'base URL'] as const;
/** It runs inside the gateway: nothing of it is configured. */
const SANDBOX = ADAPTERS.sandbox.id;

/** The registry as a table of Markdown, as the formatter would lay it out. */
export function drawProvidersTable(): string {
  const rows = ADAPTER_IDS.filter((id) => id !== SANDBOX).map((id) => rowOf(ADAPTERS[id]));
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function rowOf(adapter: ProviderAdapter): readonly string[] {
  const formats = adapter.formats.map(({ format }) => format).join(', ');
  return [code(adapter.id), adapter.name, variablesOf(adapter), formats, addressOf(adapter)];
}

function variablesOf(adapter: ProviderAdapter): string {
  if (adapter.turnedOnBy !== undefined) return adapter.turnedOnBy.map(code).join(' and ');
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  const row = rows.find(({ id }) => id === adapter.id);
  const variables = row?.apiKeyVariables ?? (adapter.apiKeyVariable === undefined ? [] : [adapter.apiKeyVariable]);
  const all = [...variables, ...(row?.host === undefined ? [] : [row.host.variable])];
  return all.length === 0 ? 'an entry' : all.map(code).join(' or ');
}

function addressOf(adapter: ProviderAdapter): string {
  if (adapter.baseUrl !== undefined) return code(adapter.baseUrl);
  return adapter.connect === undefined ? 'yours' : 'from its options';
}

function code(text: string): string {
  return `\`${text}\``;
}
