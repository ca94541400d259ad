import type { Warning } from '../../canonical/extra.ts';

/** Enough to see what happens to a request; a long conversation would only repeat itself, and must not grow a log. */
const WARNINGS_MAX = 50;

/** Collects what an encoder drops or changes. */
export interface Warnings {
  readonly add: (code: Warning['code'], path: string, message: string) => void;
  readonly list: readonly Warning[];
}

export function createWarnings(): Warnings {
  const list: Warning[] = [];
  return {
    add: (code, path, message) => {
      if (list.length < WARNINGS_MAX) list.push({ code, path, message });
    },
    list,
  };
}
