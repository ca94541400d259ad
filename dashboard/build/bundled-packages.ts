import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'vite';

/** The build writes there which packages it put in: `npm run package` adds their licenses. */
const FILE = 'packages.json';
/** A package that a style sheet imports: its rules are part of the output, and no module is. */
const SHEET_IMPORT = /@import\s+["']((?:@[^/"']+\/)?[^./"'][^/"']*)/g;

/**
 * Lists the folders of the packages that went into scripts and style sheets.
 * @param project the folder that holds the workspace, to which the folders are relative
 */
export function listBundledPackages(project: string): Plugin {
  const require = createRequire(import.meta.url);
  const folders = new Set<string>();
  const add = (file: string): void => {
    const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll('\\', '/')) ?? [];
    if (folder !== undefined) folders.add(path.relative(project, folder).replaceAll('\\', '/'));
  };
  return {
    name: 'list-bundled-packages',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('.css')) return;
      add(id);
      for (const [, name = ''] of code.matchAll(SHEET_IMPORT)) add(require.resolve(`${name}/package.json`));
    },
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) if (file.type === 'chunk') file.moduleIds.forEach(add);
      this.emitFile({ type: 'asset', fileName: FILE, source: `${JSON.stringify([...folders].toSorted())}\n` });
    },
  };
}
