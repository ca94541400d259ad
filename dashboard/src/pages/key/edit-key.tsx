import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import type { ApiKey } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

const RESETS = [
  { value: 'daily', label: 'every day' },
  { value: 'weekly', label: 'every week' },
  { value: 'monthly', label: 'every month' },
  { value: 'never', label: 'never' },
] as const;
type Reset = (typeof RESETS)[number]['value'];

/** Changes what of a key may change. Only what differs is sent, and shown before. */
export function EditKey({
  apiKey,
  isOpen,
  onClose,
}: {
  readonly apiKey: ApiKey;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState(apiKey.name);
  const [limit, setLimit] = useState(apiKey.limit === null ? '' : String(apiKey.limit));
  const [reset, setReset] = useState<Reset>(apiKey.limit_reset ?? 'never');
  const [isByokCounted, setIsByokCounted] = useState(apiKey.include_byok_in_limit);
  const change = useChange(
    (body: Schemas['UpdateKeyRequest']) =>
      client.PATCH('/keys/{hash}', { params: { path: { hash: apiKey.hash } }, body }),
    onClose,
  );
  const body = differenceOf(apiKey, {
    name,
    limit: parseNumber(limit) ?? null,
    limit_reset: reset === 'never' ? null : reset,
    include_byok_in_limit: isByokCounted,
  });
  const count = Object.keys(body).length;
  return (
    <FormDialog
      title={`Change “${apiKey.name}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={change}
      input={body}
      submit={`Change ${count === 1 ? '1 field' : `${count} fields`}`}
      isReady={count > 0}
      request={{ method: 'PATCH', path: `/keys/${apiKey.hash}`, body }}
    >
      <TextField
        label="Name"
        value={name}
        error={issueFor(change.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Limit in USD"
          placeholder="no limit"
          value={limit}
          error={issueFor(change.error, 'limit')}
          onChange={setLimit}
        />
        <Select label="Spend counts anew" value={reset} options={RESETS} onChange={setReset} />
      </div>
      <Checkbox
        label="Spend at own credentials counts against the limit"
        checked={isByokCounted}
        onChange={(event) => setIsByokCounted(event.target.checked)}
      />
    </FormDialog>
  );
}

/** What the form changes, and nothing else. */
function differenceOf(
  apiKey: ApiKey,
  wanted: Required<Pick<Schemas['UpdateKeyRequest'], 'name' | 'limit' | 'limit_reset' | 'include_byok_in_limit'>>,
): Schemas['UpdateKeyRequest'] {
  return {
    ...(wanted.name !== apiKey.name && { name: wanted.name }),
    ...(wanted.limit !== apiKey.limit && { limit: wanted.limit }),
    ...(wanted.limit_reset !== apiKey.limit_reset && { limit_reset: wanted.limit_reset }),
    ...(wanted.include_byok_in_limit !== apiKey.include_byok_in_limit && {
      include_byok_in_limit: wanted.include_byok_in_limit,
    }),
  };
}
