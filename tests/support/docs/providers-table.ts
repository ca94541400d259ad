import type { ProviderAdapter } from '../../../src/providers/contract.ts';
import { ADAPTER_IDS, ADAPTERS } from '../../../src/providers/index.ts';
import type { KnownProvider } from '../../../src/providers/known-provider.ts';
import { KNOWN_PROVIDERS } from '../../../src/providers/known-providers.ts';
import { markdownTable } from './generated-page.ts';

const HEAD = ['provider', 'name', 'on with', 'formats', 'base URL'] as const;
/** It runs inside the gateway: nothing of it is configured. */
const SANDBOX = ADAPTERS.sandbox.id;

/** The registry as a table of Markdown. Without padding: a new provider is one line more, and changes no other. */
export function formatProvidersTable(): string {
  const rows = ADAPTER_IDS.filter((id) => id !== SANDBOX).map((id) => rowOf(ADAPTERS[id]));
  return markdownTable(HEAD, rows);
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
