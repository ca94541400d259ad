import { readFileSync } from 'node:fs';
import type { Addition } from './addition.ts';

const PAGE = new URL('../../docs/add-a-wire-format.md', import.meta.url);
/** "..., in `src/wire/plain/format.ts`. ...:" and the block below it. */
const FILE = /\bin `(src\/wire\/plain\/[^`]+\.ts)`\.[^`]*?(?:`[^`]*`[^`]*?)*?:\n\n```ts\n([^]*?)^```$/gm;

/** The format that the page "Add a wire format" builds: its files, and its line in the registry. */
export function formatOfPage(): Addition {
  const page = readFileSync(PAGE, 'utf8');
  const creates = Object.fromEntries([...page.matchAll(FILE)].map(([, path = '', text = '']) => [path, text]));
  const [, line = ''] = /in `src\/app\/upstream-formats\.ts`:\n\n```ts\n([^]*?)^```$/m.exec(page) ?? [];
  const path = 'src/app/upstream-formats.ts';
  return {
    row: 'a wire format',
    creates,
    inserts: [
      { path, before: '', text: "import { plainUpstreamFormat } from '../wire/plain/format.ts';\n" },
      { path, before: '  chat: chatUpstreamFormat,', text: line },
    ],
  };
}
