import type { Warning } from '../../canonical/extra.ts';

/** Enough to see what happens to a request; a long conversation would only repeat itself, and must not grow a log. */
const WARNINGS_MAX = 50;

/** Collects what an encoder drops or changes. A member of a node that was dropped as a whole is not reported again. */
export interface Warnings {
  readonly add: (code: Warning['code'], path: string, message: string) => void;
  readonly list: readonly Warning[];
}

export function createWarnings(): Warnings {
  const list: Warning[] = [];
  let dropped: Set<string> | undefined;
  return {
    add: (code, path, message) => {
      if (list.length >= WARNINGS_MAX) return;
      const isNested = code === 'field-dropped' && dropped?.has(path.slice(0, Math.max(0, path.lastIndexOf('.'))));
      if (isNested === true) return;
      if (code === 'content-dropped') dropped = (dropped ?? new Set()).add(path);
      list.push({ code, path, message });
    },
    list,
  };
}
