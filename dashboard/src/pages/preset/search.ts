import type { Search } from '../../parts/search.ts';

export interface PresetSearch {
  /** Compared with the version in use. */
  readonly version: number | undefined;
}

export function parsePresetSearch(search: Search): PresetSearch {
  const version = Number(search['version']);
  return { version: Number.isInteger(version) && version > 0 ? version : undefined };
}
