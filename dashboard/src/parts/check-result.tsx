import type { ReactElement } from 'react';
import type { ApiError } from '../api/errors.ts';
import type { Schemas } from '../api/client.ts';
import { Icon } from './icon.tsx';

const TONES = { ok: 'text-good', warning: 'text-warn', failed: 'text-bad' } as const;

/** The gateway's own sentence on a credential. */
export function CheckResult({
  of: { data, error },
}: {
  readonly of: {
    readonly data: { readonly data: Schemas['ProviderCheck'] } | undefined;
    readonly error: ApiError | null;
  };
}): ReactElement {
  return (
    <div aria-live="polite">
      {error !== null && <p className="mt-2 text-bad">{error.message}</p>}
      {error === null && data !== undefined && (
        <p className={`mt-2 flex items-start gap-1.5 ${TONES[data.data.verdict]}`}>
          <Icon name={data.data.verdict === 'ok' ? 'check' : 'warning'} />
          <span className="min-w-0 break-words">{data.data.message}</span>
        </p>
      )}
    </div>
  );
}
