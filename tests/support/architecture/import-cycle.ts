import { posix } from 'node:path';
import { readImports, type SourceFile } from './layer-rules.ts';
import { readTokens } from './source-tokens.ts';

/**
 * One cycle of imports, as the files that it leads through, the first one again at the end; `undefined`: there is none.
 * Type imports count: types that refer to each other across files have no home below both.
 */
export function findImportCycle(files: readonly SourceFile[]): readonly string[] | undefined {
  const paths = new Set(files.map(({ path }) => path));
  const open = new Map(files.map((file) => [file.path, importsOf(file, paths)]));
  // A file that imports no other open file is on no cycle. What is left in the end leads into one.
  for (let count = Infinity; open.size < count;) {
    count = open.size;
    for (const [path, imports] of open) if (!imports.some((target) => open.has(target))) open.delete(path);
  }
  const seen: string[] = [];
  for (let path = open.keys().next().value; path !== undefined;) {
    const at = seen.indexOf(path);
    if (at >= 0) return [...seen.slice(at), path];
    seen.push(path);
    path = open.get(path)?.find((target) => open.has(target));
  }
  return undefined;
}

function importsOf({ path, text }: SourceFile, paths: ReadonlySet<string>): readonly string[] {
  return readImports(readTokens(text)).flatMap(({ source }) => {
    const target = source?.startsWith('.') === true ? posix.join(posix.dirname(path), source) : undefined;
    return target !== undefined && paths.has(target) ? [target] : [];
  });
}
