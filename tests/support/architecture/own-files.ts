import { globSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');

/**
 * The files below a folder of the project, by their path below the project, in order. Installed packages are not its own:
 * `tests/clients` has some.
 * @param ending of the names; absent: all
 */
export function listOwnFiles(folder: string, ending = ''): readonly string[] {
  return globSync(`${folder}/**/*${ending}`, { cwd: ROOT, withFileTypes: true, exclude: ['**/node_modules'] })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted();
}
