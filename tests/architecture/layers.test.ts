import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findImportCycle } from '../support/architecture/import-cycle.ts';
import { findViolations, readImports } from '../support/architecture/layer-rules.ts';
import type { SourceFile } from '../support/architecture/layer-rules.ts';
import { listOwnFiles } from '../support/architecture/own-files.ts';
import { readTokens } from '../support/architecture/source-tokens.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function readSources(folder = 'src'): readonly SourceFile[] {
  return listOwnFiles(folder, '.ts').map((path) => ({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') }));
}

/** What `npm ci --omit=dev` installs. */
function readDependencies(): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { readonly dependencies: object };
  return new Set(Object.keys(manifest.dependencies));
}

test('follow the layers of the architecture', () => {
  const files = readSources();
  assert.ok(files.length > 20, 'there are sources to look at');
  assert.deepEqual(findViolations(files, readDependencies()), []);
});

suite('imports', () => {
  test('form no cycle, those of types included', () => {
    const files = ['src', 'tests', 'scripts', 'bench'].flatMap((folder) => readSources(folder));
    assert.ok(files.length > 1_000, 'there are sources to look at');
    assert.equal(findImportCycle(files)?.join(' -> '), undefined);
  });

  test('form a cycle where a type of the importer comes back over a third file', () => {
    const files = [
      { path: 'src/lib/a.ts', text: "import { b } from './b.ts';" },
      { path: 'src/lib/b.ts', text: "import type { C } from './more/c.ts';" },
      { path: 'src/lib/more/c.ts', text: "import type { B } from '../b.ts';\nimport { d } from './d.ts';" },
      { path: 'src/lib/more/d.ts', text: '' },
    ];
    assert.deepEqual(findImportCycle(files), ['src/lib/b.ts', 'src/lib/more/c.ts', 'src/lib/b.ts']);
    assert.equal(findImportCycle(files.slice(2)), undefined);
  });
});

/** A file, and what its rule says; `undefined`: nothing. */
const PLANTED: readonly (readonly [promise: string, path: string, text: string, violation: string | undefined])[] = [
  [
    'the pipeline may not import the store',
    'src/pipeline/generate.ts',
    "import { openDatabase } from '../store/database.ts';",
    'src/pipeline/generate.ts:1: may not import src/store/database.ts',
  ],
  [
    'a type import is an import',
    'src/canonical/usage.ts',
    "\nimport type { Config } from '../config/config.ts';",
    'src/canonical/usage.ts:2: may not import src/config/config.ts',
  ],
  [
    'a re-export is an import',
    'src/lib/json.ts',
    "export const a = 1;\nexport { b } from '../canonical/usage.ts';",
    'src/lib/json.ts:2: may not import src/canonical/usage.ts',
  ],
  [
    'a dynamic import is an import',
    'src/wire/chat/a.ts',
    "const load = () => import(\n  '../../http/server.ts'\n);",
    'src/wire/chat/a.ts:1: may not import src/http/server.ts',
  ],
  [
    'an import inside a template is an import',
    'src/wire/chat/a.ts',
    "const a = `${await import('../../http/server.ts')}`;",
    'src/wire/chat/a.ts:1: may not import src/http/server.ts',
  ],
  ['a computed import is refused', 'src/http/a.ts', 'await import(name);', 'src/http/a.ts:1: imports a computed name'],
  [
    'nothing imports what is above it',
    'src/http/server.ts',
    "import { createApp } from '../app.ts';",
    'src/http/server.ts:1: may not import src/app.ts',
  ],
  [
    'only main and commands import commands',
    'src/app.ts',
    "import { runCli } from './cli/main.ts';",
    'src/app.ts:1: may not import src/cli/main.ts',
  ],
  [
    'the pipeline sees the contract of a registry',
    'src/pipeline/generate.ts',
    "import type { Provider } from '../providers/contract.ts';",
    undefined,
  ],
  [
    'the pipeline sees no member',
    'src/pipeline/generate.ts',
    "import { adapter } from '../providers/alpha/adapter.ts';",
    'src/pipeline/generate.ts:1: may not import src/providers/alpha/adapter.ts',
  ],
  [
    'the pipeline sees no registry',
    'src/pipeline/generate.ts',
    "import { ADAPTERS } from '../providers/index.ts';",
    'src/pipeline/generate.ts:1: may not import src/providers/index.ts',
  ],
  [
    'accounts see the contract of the shared state',
    'src/accounts/a.ts',
    "import type { Reservations } from '../state/contract.ts';",
    undefined,
  ],
  [
    'and nothing else of it',
    'src/accounts/a.ts',
    "import { createMemoryState } from '../state/memory/state.ts';",
    'src/accounts/a.ts:1: may not import src/state/memory/state.ts',
  ],
  [
    'http sees no contract',
    'src/http/a.ts',
    "import type { Provider } from '../providers/contract.ts';",
    'src/http/a.ts:1: may not import src/providers/contract.ts',
  ],
  [
    'a member sees its folder, its contract and the wire',
    'src/providers/beta/adapter.ts',
    "import { a } from './quirks.ts';\nimport { b } from '../contract.ts';\nimport { c } from '../../wire/format.ts';",
    undefined,
  ],
  [
    'a member sees no other member',
    'src/providers/beta/adapter.ts',
    "import { alpha } from '../alpha/adapter.ts';",
    'src/providers/beta/adapter.ts:1: may not import src/providers/alpha/adapter.ts',
  ],
  [
    'a member sees nothing else of its registry',
    'src/plugins/one/plugin.ts',
    "import { two } from '../index.ts';",
    'src/plugins/one/plugin.ts:1: may not import src/plugins/index.ts',
  ],
  [
    'a plugin sees no wire format',
    'src/plugins/one/plugin.ts',
    "import { a } from '../../wire/format.ts';",
    'src/plugins/one/plugin.ts:1: may not import src/wire/format.ts',
  ],
  [
    'the sandbox does not share the code of a format, which it tests',
    'src/sandbox/chat/encode-chat.ts',
    "import { a } from '../../wire/chat/format.ts';",
    'src/sandbox/chat/encode-chat.ts:1: may not import src/wire/chat/format.ts',
  ],
  [
    'an adapter does not start the sandbox',
    'src/providers/alpha/adapter.ts',
    "import { startSandbox } from '../../sandbox/server.ts';",
    'src/providers/alpha/adapter.ts:1: may not import src/sandbox/server.ts',
  ],
  [
    'a format sees what all formats share',
    'src/wire/chat/a.ts',
    "import { a } from '../extra.ts';\nimport { b } from '../gateway/cost.ts';\nimport { c } from './b.ts';",
    undefined,
  ],
  [
    'a format sees no other format',
    'src/wire/chat/a.ts',
    "import { a } from '../messages/b.ts';",
    'src/wire/chat/a.ts:1: may not import src/wire/messages/b.ts',
  ],
  [
    'a format that carries another inside sees that one',
    'src/wire/converse/a.ts',
    "import { a } from '../messages/b.ts';\nimport { b } from '../chat/b.ts';",
    'src/wire/converse/a.ts:2: may not import src/wire/chat/b.ts',
  ],
  [
    'what all formats share sees no format',
    'src/wire/gateway/a.ts',
    "import { a } from '../chat/b.ts';",
    'src/wire/gateway/a.ts:1: may not import src/wire/chat/b.ts',
  ],
  [
    'also beside their folders',
    'src/wire/a.ts',
    "import { a } from './chat/b.ts';",
    'src/wire/a.ts:1: may not import src/wire/chat/b.ts',
  ],
  [
    'the contract of all formats knows none of them',
    'src/wire/format.ts',
    "import type { A } from './chat/dialect.ts';",
    'src/wire/format.ts:1: may not import src/wire/chat/dialect.ts',
  ],
  [
    'a contract sees no member',
    'src/providers/contract.ts',
    "import { alpha } from './alpha/adapter.ts';",
    'src/providers/contract.ts:1: may not import src/providers/alpha/adapter.ts',
  ],
  [
    'only the store knows Kysely',
    'src/accounts/a.ts',
    "import { sql } from 'kysely';",
    'src/accounts/a.ts:1: may not know kysely',
  ],
  [
    'only the store knows the embedded engine',
    'src/app.ts',
    "import { DatabaseSync } from 'node:sqlite';",
    'src/app.ts:1: may not know node:sqlite',
  ],
  [
    'nothing below http knows the framework',
    'src/pipeline/a.ts',
    "import type { FastifyReply } from 'fastify/types/reply.js';",
    'src/pipeline/a.ts:1: may not know fastify',
  ],
  [
    'sources do not import what only development installs',
    'src/wire/chat/a.ts',
    "import type OpenAI from 'openai/index.js';",
    'src/wire/chat/a.ts:1: imports openai, which is no dependency',
  ],
  [
    'a scoped development package is one too',
    'src/lib/a.ts',
    "import { Anthropic } from '@anthropic-ai/sdk/client';",
    'src/lib/a.ts:1: imports @anthropic-ai/sdk, which is no dependency',
  ],
  ['tests may import what only development installs', 'src/lib/a.test.ts', "import fc from 'fast-check';", undefined],
  ['a dependency is free where its folder is', 'src/lib/a.ts', "import { Pool } from 'undici';", undefined],
  [
    'a provider is named where providers live only',
    'src/routing/plan.ts',
    "if (slug === 'alpha') return;",
    "src/routing/plan.ts:1: names the provider 'alpha'",
  ],
  ['a format may be called like its vendor', 'src/wire/gamma/format.ts', "export const id = 'gamma';", undefined],
  [
    'such a name is no free word elsewhere',
    'src/routing/plan.ts',
    "if (slug === 'gamma') return;",
    "src/routing/plan.ts:1: names the provider 'gamma'",
  ],
  [
    'a vendor that no format is called like is not named in a format',
    'src/wire/gamma/format.ts',
    "export const id = 'alpha';",
    "src/wire/gamma/format.ts:1: names the provider 'alpha'",
  ],
  ['catalog data may name providers', 'src/catalog/data/models.ts', "export const slug = 'alpha';", undefined],
  ['tests may name providers', 'src/routing/plan.test.ts', "use('alpha');", undefined],
  ['a comment may name providers', 'src/routing/plan.ts', "// 'alpha' is special\n/* 'alpha' */", undefined],
  [
    'folders go three levels down',
    'src/http/management/keys/create/route.ts',
    '',
    'src/http/management/keys/create/route.ts:1: is deeper than 3 folders below src',
  ],
  ['no folder is called utils', 'src/http/utils/a.ts', '', 'src/http/utils/a.ts:1: a folder named utils says nothing'],
  ['file names are kebab-case', 'src/lib/sseParser.ts', '', 'src/lib/sseParser.ts:1: file names are kebab-case'],
  [
    'only registries have an index',
    'src/wire/index.ts',
    'export const a = 1;',
    'src/wire/index.ts:1: only the registries have an index',
  ],
  [
    'a file that only passes on is a barrel',
    'src/lib/all.ts',
    "export { a } from './json.ts';\nexport type { B } from './ids.ts';",
    'src/lib/all.ts:1: only passes on what other files export',
  ],
  [
    'a star export is a barrel',
    'src/lib/all.ts',
    "export const a = 1;\nexport * from './json.ts';",
    'src/lib/all.ts:2: export * hides what a file offers',
  ],
  ['a generator is no star', 'src/lib/all.ts', 'export function* count() {}', undefined],
  [
    'a star export of types is a barrel',
    'src/lib/all.ts',
    "export type * from './json.ts';",
    'src/lib/all.ts:1: export * hides what a file offers',
  ],
  [
    'sources do not import tests',
    'src/lib/a.ts',
    "import { b } from './b.test.ts';",
    'src/lib/a.ts:1: imports the test src/lib/b.test.ts',
  ],
  [
    'what tests share is no source',
    'src/lib/test-b.ts',
    '',
    'src/lib/test-b.ts:1: what tests share is in tests/support',
  ],
  [
    'sources do not import what lies beside them',
    'src/lib/a.ts',
    "import { b } from '../../tests/support/b.ts';",
    'src/lib/a.ts:1: imports tests/support/b.ts, which is not below src',
  ],
];

suite('a planted file', () => {
  const members = [
    { path: 'src/providers/alpha/adapter.ts', text: '' },
    { path: 'src/providers/beta/quirks.ts', text: '' },
    { path: 'src/providers/gamma/adapter.ts', text: '' },
    { path: 'src/wire/gamma/format.ts', text: '' },
  ];
  for (const [promise, path, text, violation] of PLANTED) {
    test(promise, () => {
      const files = [...members.filter((member) => member.path !== path), { path, text }];
      const found = findViolations(files, readDependencies());
      assert.deepEqual(found, violation === undefined ? [] : [violation]);
    });
  }
});

test('finds an import among comments, strings, templates and regular expressions', () => {
  const source = `
    // import { a } from './comment.ts';
    const text = "import './string.ts'"; const url = 'http://x'; // from './after.ts'
    const template = \`from './template.ts' \${nested(\`\${'}'} \${{ a: { b: 1 } }}\`)} from './tail.ts'\`;
    const ratio = total / count; const regex = /['"\`/[/]] from '/g; const half = (a) / 2;
    import {
      one, // from './one-comment.ts'
      type Two,
    } from './real.ts';
    import './side-effect.ts';
    export type { Three } from "./three.ts";
    type Four = import('./four.ts').Four;
    const meta = import.meta.url;
  `;
  assert.deepEqual(
    readImports(readTokens(source)).map((found) => found.source),
    ['./real.ts', './side-effect.ts', './three.ts', './four.ts'],
  );
});
