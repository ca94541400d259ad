import type { ReactElement } from 'react';
import { Needs } from '../../parts/states.tsx';
import type { SettingsSearch } from './search.ts';

export function Configuration({
  search,
  onChange,
}: {
  readonly search: SettingsSearch;
  readonly onChange: (patch: Readonly<Record<string, string | undefined>>) => void;
}): ReactElement {
  void search;
  void onChange;
  return <Needs operation="GET /config">{undefined}</Needs>;
}
