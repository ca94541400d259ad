/** Files and folders in one folder: as many as a reader takes in at a glance. */
export const ENTRIES_MAX = 40;

/** Folders of data: they grow with what the project has seen, not with its design. */
const DATA: ReadonlySet<string> = new Set(['golden', 'migrations']);

/**
 * Folders with too many entries.
 * @param paths files, from the project's root
 */
export function findLargeFolders(paths: readonly string[]): readonly string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    const steps = path.split('/');
    steps.slice(1).forEach((entry, at) => {
      const folders = steps.slice(0, at + 1);
      if (folders.some((folder) => DATA.has(folder))) return;
      const folder = folders.join('/');
      entries.set(folder, (entries.get(folder) ?? new Set()).add(entry));
    });
  }
  return [...entries]
    .filter(([, { size }]) => size > ENTRIES_MAX)
    .map(([folder, { size }]) => `${folder}: ${size} entries, at most ${ENTRIES_MAX}: group them by what they are for`);
}
