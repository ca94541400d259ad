import type { ReactElement } from 'react';
import type { Schemas } from '../api/client.ts';
import { Badge } from './badge.tsx';

/** What the gateway dropped or changed of a request, each with its place. */
export function WarningList({ of }: { readonly of: Schemas['Generation']['warnings'] }): ReactElement {
  return (
    <ul className="flex flex-col gap-1">
      {of.map(({ code, path, message }) => (
        <li key={`${code} ${path}`} className="flex flex-wrap items-baseline gap-x-3">
          <Badge tone="warn">{code}</Badge>
          <span className="font-mono text-xs">{path}</span>
          <span>{message}</span>
        </li>
      ))}
    </ul>
  );
}
