import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Entry {
  readonly text: string;
  readonly link: string;
}

interface Group {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly Entry[];
}

function group(text: string, items: Readonly<Record<string, string>>, collapsed = false) {
  return { text, collapsed, items: Object.entries(items).map(([link, name]) => ({ text: name, link })) };
}

/** The order in which a reader finds pages. */
const GROUPS: readonly Group[] = [
  group('Start', {
    '/quick-start': 'Quick start',
    '/clients': 'Clients',
    '/migrate': 'Migrate',
    '/comparison': 'Comparison',
    '/project/examples/README': 'Examples',
  }),
  group('Concepts', {
    '/concepts/request': 'How a request is served',
    '/concepts/money': 'How money is counted',
    '/concepts/failover': 'When a provider fails',
    '/concepts/scale-out': 'Several gateways as one',
  }),
  group('Models', {
    '/providers': 'Providers',
    '/fallback': 'Fallback, retries, deadlines',
    '/mid-stream-failover': 'Mid-stream failover',
    '/routers': 'Routers',
    '/fusion': 'Fusion',
    '/presets': 'Presets',
    '/plugins': 'Plugins',
    '/server-tools': 'Server tools',
    '/web': 'Web search',
    '/mcp': 'MCP servers',
    '/responses': 'Kept responses',
    '/response-cache': 'Response cache',
    '/files': 'Files',
  }),
  group('Media and vectors', {
    '/embeddings': 'Embeddings',
    '/rerank': 'Rerank',
    '/alpha-decisions': 'Decisions',
    '/classifiers': 'Classifiers',
    '/images': 'Images',
    '/videos': 'Clips',
    '/speech-to-text': 'Speech-to-text',
    '/text-to-speech': 'Text-to-speech',
  }),
  group('Govern', {
    '/administration': 'Workspaces, keys, budgets',
    '/guardrails': 'Content filters',
    '/byok': 'Bring your own key',
    '/dashboard': 'Dashboard',
  }),
  group('Operate', {
    '/deploy': 'Deployment',
    '/operations': 'Upgrades, backups, secrets',
    '/observability': 'Observability',
    '/destinations': 'Destinations',
    '/incidents': 'Incidents',
    '/project/SECURITY': 'Security',
  }),
  group('Reference', {
    '/configuration': 'Configuration',
    '/http/': 'HTTP',
    '/cli': 'Command line',
    '/errors': 'Errors',
    '/limits': 'Limits and defaults',
    '/spec/README': 'Specification',
    '/project/CHANGELOG': 'Changelog',
  }),
  group(
    'Contribute',
    {
      '/project/CONTRIBUTING': 'Contributing',
      '/releases': 'Releases',
      '/tour': 'A tour of the code',
      '/add-a-provider': 'Add a provider',
      '/add-a-model': 'Add a model',
      '/add-a-setting': 'Add a setting',
      '/add-a-wire-format': 'Add a wire format',
    },
    true,
  ),
];

const DOCS = path.join(import.meta.dirname, '../../docs');
/** They are found from others: reasons and statements are no pages to read from the first to the last. */
const UNLISTED = /^(?:decisions|spec)\//;

/** Pages that no group names yet, so that a new page is never lost. */
function otherPages(): Readonly<Record<string, string>> {
  const listed = new Set(GROUPS.flatMap(({ items }) => items.map(({ link }) => link)));
  const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !UNLISTED.test(name))
    .map((name) => name.replace(/\.md$/, ''))
    .filter((name) => !listed.has(`/${name}`));
  return Object.fromEntries(names.map((name) => [`/${name}`, titleOf(`${name}.md`)]));
}

function titleOf(name: string): string {
  return /^# (.+)$/m.exec(readFileSync(path.join(DOCS, name), 'utf8'))?.[1] ?? name;
}

const others = otherPages();
const groups = Object.keys(others).length === 0 ? GROUPS : [...GROUPS, group('More', others)];

export const SIDEBAR = groups.map(({ items, ...rest }) => ({ ...rest, items: [...items] }));
