import { useEffect, useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Select } from '../../parts/field.tsx';
import { isFormValid } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { DAYS_AHEAD, parseNumber } from '../../parts/number-text.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { parseAuthorizeSearch, problemOfCallback, type AuthorizeSearch } from './search.ts';

/** A double click that was meant for another page allows nothing. */
const PAUSE_MS = 500;
const DAY_MS = 86_400_000;
const RESETS = [
  { value: 'daily', label: 'a day' },
  { value: 'weekly', label: 'a week' },
  { value: 'monthly', label: 'a month' },
] as const;

/** An application wants a key of its own. */
export function Page(): ReactElement {
  const [search] = useSearchState(parseAuthorizeSearch);
  const problem = problemOfCallback(search.callback);
  if (problem !== undefined || (search.callback === '' && search.challenge === ''))
    return (
      <Frame title="A key for an application">
        <Empty title="This request is refused">
          <p>
            {problem ?? 'It names neither an address to come back to nor a challenge. Start again in the application.'}
          </p>
        </Empty>
      </Frame>
    );
  return (
    <Frame title="A key for an application">
      <Consent search={search} />
    </Frame>
  );
}

function Consent({ search }: { readonly search: AuthorizeSearch }): ReactElement {
  const host = search.callback === '' ? 'A program' : new URL(search.callback).host;
  const [limit, setLimit] = useState('5');
  const [reset, setReset] = useState<(typeof RESETS)[number]['value']>('monthly');
  const [days, setDays] = useState('90');
  const [nowMs] = useState(() => Date.now());
  const [isReady, setIsReady] = useState(false);
  const [code, setCode] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setIsReady(true), PAUSE_MS);
    return () => clearTimeout(timer);
  }, []);
  const allow = useChange(
    (body: Schemas['CreateAuthCodeRequest']) => client.POST('/auth/keys/code', { body }),
    (response) => (response === undefined ? undefined : goBack(search.callback, response.data.id, setCode)),
  );
  const endsInDays = parseNumber(days, DAYS_AHEAD);
  const body: Schemas['CreateAuthCodeRequest'] = {
    ...(search.callback !== '' && { callback_url: search.callback }),
    ...(search.challenge !== '' && { code_challenge: search.challenge, code_challenge_method: search.method }),
    ...(search.label !== '' && { key_label: search.label }),
    limit: parseNumber(limit) ?? null,
    usage_limit_type: reset,
    ...(endsInDays !== undefined && { expires_at: new Date(nowMs + endsInDays * DAY_MS).toISOString() }),
  };
  if (code !== undefined)
    return (
      <Empty title="Allowed">
        <p>Carry this code to the application. It is good for ten minutes, once.</p>
        <CodeBlock label="The code" text={code} />
      </Empty>
    );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && isFormValid(event.currentTarget)) allow.mutate(body);
      }}
      className="mx-auto my-8 flex max-w-md flex-col gap-4 rounded-xl border border-line bg-surface p-6"
    >
      <p className="text-base">
        <strong className="font-semibold">
          <Name>{host}</Name>
        </strong>{' '}
        wants a key of its own{search.label === '' ? '' : `, called “${search.label}”`}.
      </p>
      <div className="grid grid-cols-3 gap-3">
        <NumberField label="Limit in USD" value={limit} onChange={setLimit} />
        <Select label="Each" options={RESETS} value={reset} onChange={setReset} />
        <NumberField label="Ends in days" {...DAYS_AHEAD} value={days} onChange={setDays} />
      </div>
      <p className="text-dim">
        It can call models as this workspace may, within the limit. It cannot see or change anything else.
      </p>
      {search.challenge !== '' && search.method === 'plain' && (
        <p className="text-warn">
          Its challenge is a plain text, which is weak: any program that reads this address can take the key.
        </p>
      )}
      {allow.isError && (
        <p role="alert" className="text-bad">
          {allow.error.message}
        </p>
      )}
      <div className="flex justify-between">
        <Button onClick={() => location.assign('/')}>Deny</Button>
        <Button type="submit" look="primary" disabled={!isReady || allow.isPending}>
          Allow
        </Button>
      </div>
    </form>
  );
}

function goBack(callback: string, code: string, show: (code: string) => void): void {
  if (callback === '') return show(code);
  const url = new URL(callback);
  url.searchParams.set('code', code);
  location.assign(url);
}
